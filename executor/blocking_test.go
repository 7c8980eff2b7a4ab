package executor_test

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor"
)

// holder is a layer that holds an item back until it is told to flush.
type holder struct {
	*layer
	held *executor.Item
}

func (h *holder) Flush(w *executor.Worker) {
	if it := h.held; it != nil {
		h.held = nil
		w.Push(it)
	}
}

// What the layer above holds back others can run while its worker blocks.
func TestBlockingFlushes(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		gate := make(chan struct{})
		h := &holder{layer: newLayer("holder", nil)}
		h.Body = executor.NewBody(h)
		h.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
			h.held = h.item(func(*executor.Worker, *executor.Item) *executor.Item {
				close(gate)
				return nil
			})
			executor.Blocking(func() {
				if h.held != nil {
					t.Error("an item is held back")
				} else {
					<-gate
				}
			})
			h.Flush(w)
			return nil
		}
		if err := ex.Run(context.Background(), h); err != nil {
			t.Error(err)
		}
	})
}
