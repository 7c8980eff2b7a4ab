//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelFirst: once one function has returned a result, none begins, also while the worker with the result has not
// cancelled the others yet. So each worker calls one function at most.
func TestModelFirst(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		var calls xatomic.Int32
		fn := func(context.Context) (int, error) { calls.Add(1); return 7, nil }
		got, err := First(context.Background(), ex, fn, fn, fn)
		model.Assert(got == 7 && err == nil, "got %d, %v", got, err)
		model.Assert(int(calls.Load()) <= n, "%d calls by %d workers", calls.Load(), n)
		stop(ex)
	})
}
