//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelLife: an executor is made, runs a task and is closed.
func TestModelLife(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := birth(n, p)
		j := newJob(nothing)
		j.ended(ex.Run(context.Background(), j))
		death(ex)
	})
}

// TestModelSubmit: items submitted while the workers go to sleep are run.
func TestModelSubmit(t *testing.T) {
	onEach(t, []int{2, 3}, func(n int, p string) {
		ex := start(n, p)
		submissions := 2 // after the first the workers are on their way to sleep
		if n == 3 && p == "adaptive-published" {
			submissions = 1 // half a million states with two preemptions, and no end in sight with three
		}
		for range submissions {
			j := newJob(nothing)
			j.ended(ex.Run(context.Background(), j))
		}
		stop(ex)
	})
}

// TestModelSubmitTwo: of two items submitted one after the other none is stranded while a worker sleeps.
func TestModelSubmitTwo(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		b := barrier{n: 2}
		j1, j2 := newJob(b.meet), newJob(b.meet)
		r1, r2 := ex.Start(context.Background(), j1), ex.Start(context.Background(), j2)
		j1.ended(r1.Wait())
		j2.ended(r2.Wait())
		stop(ex)
	})
}

// TestModelSubmitters: the same, from two threads.
func TestModelSubmitters(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		b := barrier{n: 2}
		submit := func() {
			j := newJob(b.meet)
			j.ended(ex.Run(context.Background(), j))
		}
		join := model.Go(submit)
		submit()
		join()
		stop(ex)
	})
}

// TestModelPush: an item that a busy worker pushes while the others go to sleep is run by one of them.
func TestModelPush(t *testing.T) {
	onEach(t, []int{2, 3}, func(n int, p string) {
		ex := start(n, p)
		b := barrier{n: 2}
		runJob(ex, func(j *job, w *Worker) {
			j.push(w, b.meet)
			b.meet(w)
		})
		stop(ex)
	})
}

// TestModelPushAgain: the same when the worker that pushes was on its way to sleep and has turned back.
func TestModelPushAgain(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		before := newJob(nothing)
		before.ended(ex.Run(context.Background(), before))
		b := barrier{n: 2}
		runJob(ex, func(j *job, w *Worker) {
			j.push(w, b.meet)
			b.meet(w)
		})
		stop(ex)
	})
}

// TestModelPushAndSubmit: a worker pushes while the other is on its way to sleep, and then relies on the other to run
// an item that is submitted when it sleeps: the wake-up for the push may not have found it.
func TestModelPushAndSubmit(t *testing.T) {
	model.Check(t, func() {
		ex := start(2, "adaptive") // with the published policy the other would not sleep
		var up, begun, mayEnd, done xatomic.Bool
		j, other := newJob(nil), newJob(func(*Worker) { done.Store(true) })
		j.first = func(w *Worker) {
			j.push(w, func(*Worker) { up.Store(true) })
			up.Await()
			j.push(w, func(*Worker) {
				begun.Store(true)
				mayEnd.Await()
			})
			done.Await()
		}
		r := ex.Start(context.Background(), j)
		begun.Await()
		mayEnd.Store(true)
		for !ex.notifier.Waiting() {
			model.Spin()
		}
		other.ended(ex.Run(context.Background(), other))
		j.ended(r.Wait())
		stop(ex)
	})
}

// TestModelLastThief: two items are pushed, and each needs a worker of its own. The thief that takes the first is the
// last one and must wake a worker for the second.
func TestModelLastThief(t *testing.T) {
	onEach(t, []int{3}, func(n int, p string) {
		ex := start(n, p)
		b := barrier{n: 3}
		runJob(ex, func(j *job, w *Worker) {
			j.push(w, b.meet)
			j.push(w, b.meet)
			b.meet(w)
		})
		stop(ex)
	})
}

// grows is how many items make a lane's deque larger.
const grows = 3

// TestModelGrow: a thief that meets a deque whose owner is making it larger does not keep the owner from going on. (It
// did, when they shared a core: a steal lost to growth was tried again at once, for as long as it lasted.)
func TestModelGrow(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		runJob(ex, pushes(grows))
		stop(ex)
	})
}

// TestModelGrowForHelper: the same for a thief that waits for a run.
func TestModelGrowForHelper(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		outer, inner := newJob(nil), newJob(nil)
		var begun xatomic.Bool
		inner.first = func(w *Worker) {
			begun.Store(true)
			for range grows {
				inner.push(w, nothing)
			}
		}
		outer.first = func(*Worker) {
			r := ex.Start(context.Background(), inner)
			begun.Await() // by another worker
			inner.ended(r.Wait())
		}
		outer.ended(ex.Run(context.Background(), outer))
		stop(ex)
	})
}

// TestModelGrowInjector: the same for the injector, which grows when a third run is submitted.
func TestModelGrowInjector(t *testing.T) {
	onDefault(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		var jobs [injectorCapacity + 1]*job
		var runs [injectorCapacity + 1]*Run
		for i := range jobs {
			jobs[i] = newJob(nothing)
			runs[i] = ex.Start(context.Background(), jobs[i])
		}
		for i := range jobs {
			jobs[i].ended(runs[i].Wait())
		}
		stop(ex)
	})
}

// TestModelClose: a run that starts while the executor closes either ends or is refused, and all threads end.
func TestModelClose(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		join := model.Go(func() { death(ex) })
		j := newJob(nothing)
		if err := ex.Run(context.Background(), j); !errors.Is(err, ErrClosed) {
			j.ended(err)
		} else {
			model.Assert(j.ran == 0, "a refused run ran")
		}
		join()
	})
}

// TestModelTurns: two runs on one worker, each of which goes on until both have come far enough.
func TestModelTurns(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		var came [2]int // the items of one worker count, one after the other
		var jobs [2]*job
		for i := range jobs {
			jobs[i] = newJob(nil)
			var turn func(*Worker)
			turn = func(w *Worker) {
				came[i]++
				if min(came[0], came[1]) < 2*pollInterval {
					model.GiveWay() // the other may not be submitted yet
					jobs[i].push(w, turn)
				}
			}
			jobs[i].first = turn
		}
		r0, r1 := ex.Start(context.Background(), jobs[0]), ex.Start(context.Background(), jobs[1])
		jobs[0].ended(r0.Wait())
		jobs[1].ended(r1.Wait())
		stop(ex)
	})
}

// TestModelStats: after a run's end the statistics are complete.
func TestModelStats(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		j := newJob(nil)
		j.first = func(w *Worker) { j.push(w, nothing) }
		j.ended(ex.Run(context.Background(), j))
		counted := ex.Stats().Total.Tasks
		model.Assert(counted == 2, "of 2 tasks %d are counted", counted)
		stop(ex)
	})
}

// TestModelGoexit: a task ends its worker's goroutine. The run ends, another thread takes the worker's place, and what
// was in its deque is run.
func TestModelGoexit(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		j := newJob(nil)
		j.first = func(w *Worker) {
			j.push(w, nothing)
			runtime.Goexit()
		}
		err := ex.Run(context.Background(), j)
		model.Assert(errors.Is(err, ErrGoexit), "the run's error is %v", err)
		model.Assert(j.ran == 2, "%d of 2 items ran", j.ran)
		again := newJob(nothing)
		again.ended(ex.Run(context.Background(), again))
		stop(ex)
	})
}
