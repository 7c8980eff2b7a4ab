//go:build !modelcheck

package spares

import "time"

// after calls f after time d, unless stop is called before.
func after(d time.Duration, f func()) (stop func()) {
	t := time.AfterFunc(d, f)
	return func() { t.Stop() }
}
