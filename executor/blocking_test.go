package executor_test

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor"
)

// A task waits for another of its run.
func TestBlockingLetsOthersRun(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		for range 20 {
			l := newLayer("waits", nil)
			gate := make(chan struct{})
			l.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
				l.push(w, func(*executor.Worker, *executor.Item) *executor.Item { close(gate); return nil })
				executor.Blocking(func() { <-gate })
				return nil
			}
			if err := ex.Run(context.Background(), l); err != nil {
				t.Fatal(err)
			}
		}
	})
}
