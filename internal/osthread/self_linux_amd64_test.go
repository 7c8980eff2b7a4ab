//go:build !modelcheck

package osthread

import "testing"

// pretendNoFS makes Self take the path of older systems.
func pretendNoFS(t *testing.T) {
	was := readsFS
	readsFS = false
	t.Cleanup(func() { readsFS = was })
}
