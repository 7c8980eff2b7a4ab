//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// A latch is a kind of wait of its own, in this file alone: a task waits until another opens the latch. Meanwhile the
// worker runs nothing, as for a future that another worker has begun.
type latch struct {
	open   xatomic.Bool
	waiter xatomic.Pointer[Worker]
}

// release opens the latch.
func (l *latch) release() {
	// D1(await): open, then look for the waiter.
	l.open.Store(true)
	if w := l.waiter.Load(); w != nil {
		w.sleeper.wake(w)
	}
}

func (l *latch) isOver() bool               { return l.open.Load() }
func (l *latch) find(*Worker) found         { return found{} }
func (l *latch) run(*Worker, found, waiter) {}
func (l *latch) announce(w *Worker)         { l.waiter.Store(w) }
func (l *latch) findLast(w *Worker) found   { return found{} }
func (l *latch) withdraw(*Worker)           { l.waiter.Store(nil) }

// TestModelLatch: a new kind of wait needs its own methods only. A worker waits for what a task does that it has
// pushed, and that it must not run itself: a thief does.
func TestModelLatch(t *testing.T) {
	on(t, []string{"adaptive", "adaptive-published", "abp"}, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var l latch
		opens := newJob(func(*Worker) { l.release() })
		waits := newJob(func(w *Worker) {
			r := ex.Start(context.Background(), opens)
			w.wait(&l, waiter{})
			opens.ended(r.Wait())
		})
		waits.ended(ex.Run(context.Background(), waits))
		stop(ex)
	})
}
