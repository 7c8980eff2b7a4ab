//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A term is a context that the program ends. Nothing follows it: package context would start a goroutine.
type term struct {
	context.Context
	over  chan struct{}
	ended xatomic.Bool
}

func newTerm() *term { return &term{Context: context.Background(), over: make(chan struct{})} }

func (c *term) Done() <-chan struct{} { return c.over }

func (c *term) Err() error {
	if c.ended.Load() {
		return context.DeadlineExceeded
	}
	return nil
}

func (c *term) end() {
	c.ended.Store(true)
	xsync.Close(c.over)
}

// queuers are threads that wait for the room of an intake of one, and the program's first thread, which has it.
type queuers struct {
	in     *intake
	inside xatomic.Int32
	errs   []error // each waiter's own
	order  []int   // in which they have got room; guarded by the room
	joins  []func()
}

// queue fills an intake, and has a thread for each context wait in its queue.
func queue(ctxs ...context.Context) *queuers {
	q := &queuers{in: newIntake(1), errs: make([]error, len(ctxs))}
	model.Calm(func() {
		_, err := q.in.enter(context.Background(), "first", false)
		model.Assert(err == nil, "the first: %v", err)
		q.inside.Store(1)
		for i, ctx := range ctxs {
			q.joins = append(q.joins, model.Go(func() { q.visit(i, ctx) }))
			for q.stats().Gauges.Entering <= i {
				model.Spin()
			}
		}
	})
	return q
}

func (q *queuers) visit(i int, ctx context.Context) {
	if _, q.errs[i] = q.in.enter(ctx, "next", false); q.errs[i] != nil {
		return
	}
	model.Assert(q.inside.Add(1) == 1, "two are inside")
	q.order = append(q.order, i)
	q.leave()
}

func (q *queuers) stats() (s Stats) {
	q.in.stats(&s)
	return s
}

func (q *queuers) leave() {
	q.inside.Add(-1)
	q.in.leave()
}

// end waits for the waiters and checks that the intake is empty.
func (q *queuers) end() {
	for _, join := range q.joins {
		join()
	}
	s := q.stats().Gauges
	model.Assert(s.Inside == 0 && s.Entering == 0 && q.in.seats.Len() == 0, "%d are left inside, and %d wait", s.Inside,
		s.Entering)
}

// TestModelIntakeOrder: those that wait for room get it one at a time, in the order in which they have come. One that
// comes when there is room again does not overtake them.
func TestModelIntakeOrder(t *testing.T) {
	model.Check(t, func() {
		q := queue(context.Background(), context.Background())
		refused := false
		join := model.Go(func() {
			if _, err := q.in.enter(context.Background(), "tries", true); err != nil {
				model.Assert(errors.Is(err, ErrBusy), "TryStart: %v", err)
				refused = true
				return
			}
			model.Assert(len(q.order) == 2, "overtaken")
			q.in.leave()
		})
		q.leave()
		join()
		q.end()
		model.Assert(len(q.order) == 2 && q.order[0] == 0 && q.order[1] == 1, "the order is %v", q.order)
		model.Assert(q.stats().RunsRefused == 0 == !refused, "refusals are miscounted")
	})
}

// TestModelIntakeGone: room is free while the context of the first in the queue ends. The first gets the room or the
// error, and the room then goes to the next.
func TestModelIntakeGone(t *testing.T) {
	got, gone := 0, 0
	model.Check(t, func() {
		ctx := newTerm()
		q := queue(ctx, context.Background())
		join := model.Go(ctx.end)
		q.leave()
		join()
		q.end()
		model.Assert(q.errs[1] == nil, "the second: %v", q.errs[1])
		if q.errs[0] == nil {
			got++
		} else {
			gone++
			model.Assert(errors.Is(q.errs[0], context.DeadlineExceeded), "the first: %v", q.errs[0])
		}
	})
	model.Reached(t, got, "the first in the queue gets the room")
	model.Reached(t, gone, "the context of the first in the queue ends before")
}

// TestModelIntakeShut: the intake is shut while room becomes free, and while the context of one that waits ends. All
// that wait go on, with room or with an error.
func TestModelIntakeShut(t *testing.T) {
	model.Check(t, func() {
		ctx := newTerm()
		q := queue(ctx, context.Background())
		joins := []func(){model.Go(ctx.end), model.Go(q.in.close)}
		q.leave()
		for _, join := range joins {
			join()
		}
		q.end()
		for i, err := range q.errs {
			ok := err == nil || errors.Is(err, ErrClosed) || i == 0 && errors.Is(err, context.DeadlineExceeded)
			model.Assert(ok, "waiter %d: %v", i, err)
		}
		_, err := q.in.enter(context.Background(), "late", false)
		model.Assert(errors.Is(err, ErrClosed), "after the end: %v", err)
	})
}

// TestModelIntakeRuns: a run and a future from two threads, of which the executor takes one at a time. Both come to an
// end, and give their room back.
func TestModelIntakeRuns(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := started(Config{Workers: n, Experiment: experiment.Options{Policy: p}, MaxRuns: 1})
		var r room
		join := model.Go(func() {
			f := Async(context.Background(), ex, func(context.Context) (int, error) {
				r.visit(nil)
				return 7, nil
			})
			isSeven(f)
		})
		runJob(ex, func(_ *job, w *Worker) { r.visit(w) })
		join()
		stop(ex)
		var all Stats
		ex.intake.stats(&all)
		s := all.Gauges
		model.Assert(s.Inside == 0 && s.Entering == 0, "%d are left inside, and %d wait", s.Inside, s.Entering)
	})
}

// TestModelIntakeOnEnd: a function of OnEnd starts a run, and the only room is that of a future which comes after what
// has ended. On the thread that resolves a promise, the future begins before. On a worker of another executor the
// function does not wait, and the future may wait for it.
func TestModelIntakeOnEnd(t *testing.T) {
	ctx := context.Background()
	for _, onWorker := range []bool{false, true} {
		t.Run(fmt.Sprintf("worker=%t", onWorker), func(t *testing.T) {
			model.Check(t, func() {
				ex := started(Config{Workers: 1, MaxRuns: 1})
				p, called := NewPromise[int](ctx, ex), NewPromise[int](ctx, ex)
				var begun *Run
				begin := func(error) {
					begun = ex.Start(ctx, newJob(nothing))
					called.Resolve(7)
				}
				var first Awaitable = p.Future()
				var other *Executor
				if onWorker {
					other = started(Config{Workers: 1})
					r := other.Start(ctx, newJob(func(*Worker) { _, _ = p.Future().Wait() }))
					r.OnEnd(begin)
					first = r
				} else {
					p.Future().OnEnd(func(_ int, err error) { begin(err) })
				}
				f := Async(ctx, ex, func(context.Context) (int, error) {
					if onWorker {
						return called.Future().Wait()
					}
					return 7, nil
				}, first)
				resolve := model.Go(func() { p.Resolve(1) })
				isSeven(f)
				resolve()
				if onWorker {
					stop(other)
				}
				err := begun.Wait() // the thread that has called the function is joined
				model.Assert(err == nil, "the run of OnEnd: %v", err)
				stop(ex)
			})
		})
	}
}

// TestModelIntakeClose: a run waits for room while the executor closes. It runs or is refused, and Close returns.
func TestModelIntakeClose(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := started(Config{Workers: n, Experiment: experiment.Options{Policy: p}, MaxRuns: 1})
		first, next := newJob(nothing), newJob(nothing)
		r := ex.Start(context.Background(), first)
		join := model.Go(func() {
			if err := ex.Run(context.Background(), next); !errors.Is(err, ErrClosed) {
				next.ended(err)
			} else {
				model.Assert(next.ran == 0, "a refused run ran")
			}
		})
		ex.refuse()
		join()
		first.ended(r.Wait())
		stop(ex)
		var all Stats
		ex.intake.stats(&all)
		s := all.Gauges
		model.Assert(s.Inside == 0 && s.Entering == 0, "%d are left inside, and %d wait", s.Inside, s.Entering)
	})
}
