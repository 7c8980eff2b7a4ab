//go:build modelcheck

package spares

import "time"

// after does nothing: the model has no time. Model programs call f, Look, themselves.
func after(time.Duration, func()) (stop func()) { return func() {} }
