//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// spared makes an executor of n workers that sleep and of spares.
func spared(n, spares int, p string) *Executor {
	return started(Config{Workers: n, Spares: spares, Experiment: experiment.Options{Policy: p}})
}

// rest closes an executor after all its workers have gone to sleep. They do so only if the count of thieves is right.
func rest(ex *Executor) {
	model.Calm(func() {
		resting := func(w *Worker) bool {
			s := WorkerState(w.seen.state.Load())
			return s == WorkerParked || s == WorkerResting || s == WorkerStandby || s == WorkerThreadless
		}
		for slices.ContainsFunc(ex.workers(), func(w *Worker) bool { return !resting(w) }) || ex.Thieves() != 0 {
			model.Spin()
		}
		blocked, asleep := ex.Blocked(), ex.Asleep()
		model.Assert(blocked == 0 && asleep == 0, "at rest %d workers are blocked, and %d sleep in a wait", blocked,
			asleep)
		death(ex)
	})
}

// beforehand runs f. Where that alone would take half a million schedules, it does not explore them.
func beforehand(n int, p string, f func()) {
	if n > 1 && p == "adaptive-published" {
		model.Calm(f)
	} else {
		f()
	}
}

// blocks is the first item of a job. It waits for an item that it has pushed.
func blocks(j *job, w *Worker) {
	var done xatomic.Bool
	j.push(w, func(*Worker) { done.Store(true) })
	Blocking(done.Await)
}

// TestModelBlocking: a task waits for an item that it has pushed.
func TestModelBlocking(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		ex := spared(n, 1, p)
		runJob(ex, blocks)
		rest(ex)
	})
}

// TestModelBlockingWorkers: an item that a new spare pushes at once is run by a worker that was on its way to sleep.
func TestModelBlockingWorkers(t *testing.T) {
	model.Check(t, func() {
		ex := spared(2, 1, "adaptive") // with the published policy the worker would not sleep
		var done xatomic.Bool
		b := barrier{n: 2}
		runJob(ex, func(j *job, w *Worker) {
			j.push(w, func(w *Worker) {
				j.push(w, b.meet)
				b.meet(w)
				done.Store(true)
			})
			Blocking(done.Await)
		})
		rest(ex)
	})
}

// TestModelBlockingAgain: the spare of one Blocking is there, on its way to leave, or gone to stand by when the next
// begins.
func TestModelBlockingAgain(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		ex := spared(n, 1, p)
		runJob(ex, func(j *job, w *Worker) {
			for range 2 {
				blocks(j, w)
			}
		})
		rest(ex)
	})
}

// TestModelBlockingLeaves: an item is pushed without a wake-up because a spare is a thief, which then leaves. A worker
// that sleeps runs it.
func TestModelBlockingLeaves(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := spared(n, 1, p)
		b := barrier{n: 2}
		runJob(ex, func(j *job, w *Worker) {
			Blocking(func() {})
			j.push(w, b.meet)
			b.meet(w)
		})
		rest(ex)
	})
}

// TestModelBlockingLeavesASubmission: the same for an item that is submitted from outside and wakes the spare.
func TestModelBlockingLeavesASubmission(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := spared(n, 1, p)
		before, j := newJob(func(*Worker) { Blocking(func() {}) }), newJob(nothing)
		beforehand(n, p, func() { before.ended(ex.Run(context.Background(), before)) })
		j.ended(ex.Run(context.Background(), j))
		rest(ex)
	})
}

// TestModelBlockingHandsOver: a surplus spare leaves soon, even if it has items in its deque.
func TestModelBlockingHandsOver(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		ex := spared(n, 1, p)
		var taken, over xatomic.Bool
		bySpare := 0
		runJob(ex, func(j *job, w *Worker) {
			j.push(w, func(w *Worker) {
				for range pollInterval + 2 {
					j.push(w, func(w *Worker) {
						if w.isSpare() {
							bySpare++
						}
					})
				}
				taken.Store(true)
				over.Await()
			})
			Blocking(taken.Await)
			over.Store(true)
		})
		model.Assert(bySpare < pollInterval, "a surplus spare runs %d items", bySpare)
		rest(ex)
	})
}

// TestModelBlockingIdle: the threads of idle spares end while a task blocks again.
func TestModelBlockingIdle(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		ex := spared(n, 1, p)
		before, j := newJob(nil), newJob(nil)
		before.first = func(*Worker) {
			Blocking(func() {
				for p == "adaptive" && ex.Parked() == 0 { // until the spare sleeps and is still in service
					model.Spin()
				}
			})
		}
		model.Calm(func() {
			before.ended(ex.Run(context.Background(), before))
			ex.spares.Look()
		})
		var join func()
		j.first = func(w *Worker) {
			var done xatomic.Bool
			j.push(w, func(*Worker) { done.Store(true) })
			join = model.Go(ex.spares.Look)
			Blocking(done.Await)
		}
		j.ended(ex.Run(context.Background(), j))
		join()
		rest(ex)
	})
}

// TestModelBlockingForks: the only worker of an executor blocks with private forks.
func TestModelBlockingForks(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		ex := spared(n, 1, p)
		var forked xatomic.Bool
		fn, calls := once()
		err := scoped(ex, func(s *Scope) error {
			f := Fork(s, func(s *Scope, n int) int {
				forked.Store(true)
				return fn(s, n)
			}, 1)
			Blocking(forked.Await)
			model.Assert(f.Join(s) == 2, "the wrong result")
			return nil
		})
		model.Assert(err == nil && calls.get() == 1, "%d calls, error %v", calls.get(), err)
		rest(ex)
	})
}

// TestModelBlockingGoexit: a task ends its goroutine while it blocks, and another on the spare.
func TestModelBlockingGoexit(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		ex := spared(n, 1, p)
		j := newJob(nil)
		var done xatomic.Bool
		j.first = func(w *Worker) {
			j.push(w, func(*Worker) {
				done.Store(true)
				runtime.Goexit()
			})
			Blocking(func() {
				done.Await()
				runtime.Goexit()
			})
		}
		err := ex.Run(context.Background(), j)
		model.Assert(errors.Is(err, ErrGoexit) && j.failures == 2 && j.ran == 2, "the run's error is %v, %d ran", err,
			j.ran)
		rest(ex)
	})
}

// TestModelBlockingClose: the executor is closed while a spare is on its way out of service.
func TestModelBlockingClose(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := spared(n, 1, p)
		j := newJob(func(*Worker) { Blocking(func() {}) })
		beforehand(n, p, func() { j.ended(ex.Run(context.Background(), j)) })
		death(ex)
	})
}

// TestModelBlockingWhileOthersSleep: a spare blocks while the worker that it stood in for goes to sleep in a wait for
// a task that the spare has begun. An item from outside is run all the same.
func TestModelBlockingWhileOthersSleep(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		if p == "adaptive-published" {
			return // half a million schedules, and no path of that policy's own
		}
		ex := spared(n, 2, p)
		var begun, goOn, done xatomic.Bool
		outer, inner, other := newJob(nil), newJob(nil), newJob(func(*Worker) { done.Store(true) })
		inner.first = func(*Worker) {
			begun.Store(true)
			goOn.Await()
			Blocking(done.Await)
		}
		outer.first = func(*Worker) {
			awaited := ex.Start(context.Background(), inner)
			Blocking(begun.Await)
			inner.ended(awaited.Wait())
		}
		var r, fromOutside *Run
		model.Calm(func() {
			r = ex.Start(context.Background(), outer)
			begun.Await()
			fromOutside = ex.Start(context.Background(), other)
		})
		goOn.Store(true)
		outer.ended(r.Wait())
		other.ended(fromOutside.Wait())
		rest(ex)
	})
}
