//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A rollCall counts the calls of a broadcast by worker.
type rollCall struct {
	ex *Executor
	n  []tally
}

func newRollCall(ex *Executor) *rollCall { return &rollCall{ex, make([]tally, ex.cfg.Workers)} }

func (c *rollCall) fn(_ context.Context, worker int) error {
	model.Assert(c.ex.WorkerIndex() == worker, "the call of worker %d is on %d", worker, c.ex.WorkerIndex())
	c.n[worker].add()
	return nil
}

func (c *rollCall) check(err error) {
	model.Assert(err == nil, "Broadcast: %v", err)
	for i := range c.n {
		model.Assert(c.n[i].get() == 1, "worker %d has called %d times", i, c.n[i].get())
	}
}

// TestModelBroadcast: all workers sleep, or are about to, when the letters come (D5(wake), D5(prepare)).
func TestModelBroadcast(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p Policy) {
		ex := start(n, p)
		c := newRollCall(ex)
		c.check(Broadcast(context.Background(), ex, c.fn))
		stop(ex)
	})
}

// TestModelBroadcastTwo: two broadcasts from outside at once.
func TestModelBroadcastTwo(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p Policy) {
		ex := start(n, p)
		a, b := newRollCall(ex), newRollCall(ex)
		join := model.Go(func() { a.check(Broadcast(context.Background(), ex, a.fn)) })
		b.check(Broadcast(context.Background(), ex, b.fn))
		join()
		stop(ex)
	})
}

// TestModelBroadcastInside: two tasks, on a worker each, broadcast at once. Each waits for the other, and calls the
// function of the other's broadcast meanwhile (D5(post), D5(look)).
func TestModelBroadcastInside(t *testing.T) {
	onDefault(t, []int{2}, func(n int, p Policy) {
		ex := start(n, p)
		var both xatomic.Bool
		var begun [2]xatomic.Bool
		var jobs [2]*job
		var runs [2]*Run
		model.Calm(func() {
			for i := range jobs {
				jobs[i] = newJob(func(*Worker) {
					begun[i].Store(true)
					both.Await()
					c := newRollCall(ex)
					c.check(Broadcast(context.Background(), ex, c.fn))
				})
				runs[i] = ex.Start(context.Background(), jobs[i])
				begun[i].Await()
			}
		})
		both.Store(true)
		for i, r := range runs {
			jobs[i].ended(r.Wait())
		}
		stop(ex)
	})
}

// TestModelBroadcastToHelper: a worker waits for a run whose task waits, outside the executor, for the broadcast to
// come to the first.
func TestModelBroadcastToHelper(t *testing.T) {
	onDefault(t, []int{2}, func(n int, p Policy) {
		ex := start(n, p)
		var begun, called xatomic.Bool
		inner := newJob(func(*Worker) {
			begun.Store(true)
			called.Await()
		})
		outer := newJob(func(*Worker) {
			r := ex.Start(context.Background(), inner)
			begun.Await()
			inner.ended(r.Wait())
		})
		var r *Run
		model.Calm(func() {
			r = ex.Start(context.Background(), outer)
			begun.Await()
		})
		c := newRollCall(ex)
		c.check(Broadcast(context.Background(), ex, func(ctx context.Context, worker int) error {
			called.Store(true)
			return c.fn(ctx, worker)
		}))
		outer.ended(r.Wait())
		stop(ex)
	})
}

// TestModelBroadcastStopped: a call fails, and a cancellation comes, while the other worker's letter is on its way.
// Each letter is run or withdrawn, once, and the run ends once.
func TestModelBroadcastStopped(t *testing.T) {
	onDefault(t, []int{2}, func(n int, p Policy) {
		ex := start(n, p)
		c := newRollCall(ex)
		failure := errors.New("failure")
		err := Broadcast(context.Background(), ex, func(ctx context.Context, worker int) error {
			if err := c.fn(ctx, worker); worker == 1 {
				return err
			}
			return failure
		})
		model.Assert(errors.Is(err, failure) && c.n[0].get() == 1 && c.n[1].get() <= 1, "%v called, %v", c.n, err)
		stop(ex)
	})
}

// TestModelBroadcastWithdrawn: a worker is in a task that does not end before the broadcast has. The broadcast is
// cancelled from a call on the other worker, and does not wait.
func TestModelBroadcastWithdrawn(t *testing.T) {
	onDefault(t, []int{2}, func(n int, p Policy) {
		ex := start(n, p)
		var begun, over xatomic.Bool
		long := newJob(func(*Worker) {
			begun.Store(true)
			over.Await()
		})
		var r *Run
		model.Calm(func() {
			r = ex.Start(context.Background(), long)
			begun.Await()
		})
		called := 0
		failure := errors.New("failure")
		err := Broadcast(context.Background(), ex, func(context.Context, int) error {
			called++
			return failure
		})
		model.Assert(errors.Is(err, failure) && called == 1, "%d called, %v", called, err)
		over.Store(true)
		long.ended(r.Wait())
		stop(ex)
	})
}

// TestModelBroadcastRefused: Close comes while a broadcast begins. It is refused, or comes to every worker.
func TestModelBroadcastRefused(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p Policy) {
		ex := start(n, p)
		join := model.Go(func() { death(ex) })
		c := newRollCall(ex)
		if err := Broadcast(context.Background(), ex, c.fn); err != ErrClosed {
			c.check(err)
		}
		join()
	})
}
