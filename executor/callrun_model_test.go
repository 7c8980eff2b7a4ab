//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// successor makes the i-th of several calls, which one keptRun may serve.
func successor(ex *Executor, i int) error {
	got, err := Call(context.Background(), ex, func(_ *Scope, x int) int { return x + 1 }, i)
	model.Assert(err != nil || got == i+1, "call %d has returned %d", i, got)
	return err
}

// TestModelCalls: a caller makes calls in turn while another does. One of them may find the keptRun taken.
func TestModelCalls(t *testing.T) {
	onEachReceiving(t, []int{1, 2}, func(ex *Executor) {
		join := model.Go(func() { model.Assert(successor(ex, 1) == nil, "a call has failed") })
		for i := range 2 {
			model.Assert(successor(ex, i) == nil, "a call has failed")
		}
		join()
		stop(ex)
	})
}

// TestModelCallsCancelled: a thread lists the runs in progress, and cancels them when they may have ended. The runs
// that begin after the list are not in it.
func TestModelCallsCancelled(t *testing.T) {
	onEachReceiving(t, []int{1}, func(ex *Executor) {
		var listed xatomic.Bool
		cause := errors.New("cause")
		join := model.Go(func() {
			runs := ex.runsInProgress()
			listed.Store(true)
			for _, r := range runs {
				r.Cancel(cause)
			}
		})
		for i := range 2 {
			isLater := listed.Load()
			err := successor(ex, i)
			model.Assert(err == nil || !isLater && errors.Is(err, cause), "call %d has failed: %v", i, err)
		}
		join()
		stop(ex)
	})
}
