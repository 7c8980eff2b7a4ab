//go:build !modelcheck

package osthread

import "testing"

// pretendNoFS has Self do what it does on older systems.
func pretendNoFS(t *testing.T) {
	was := readsFS
	readsFS = false
	t.Cleanup(func() { readsFS = was })
}
