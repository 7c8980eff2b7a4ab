//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A job is the smallest layer above the executor: functions that may push others. Each must run exactly once. It is run
// once.
type job struct {
	Body
	first func(*Worker)

	// The items that exist and are not done, and the workers between Enter and Leave: 0 is the end.
	left xatomic.Int32

	// Told at the end; plain, as no operations for the model.
	items, ran, failures int
	over                 bool
}

func newJob(first func(*Worker)) *job {
	j := &job{first: first}
	j.Body = NewBody(j)
	return j
}

func (j *job) Name() string              { return "job" }
func (j *job) Begin(*Run) (*Item, error) { return j.item(j.first), nil }
func (j *job) Enter(*Worker)             { j.left.Add(1) }
func (j *job) Flush(*Worker)             {}
func (j *job) Release()                  {}

// Leave ends the run when nothing is left.
func (j *job) Leave(*Worker) {
	if j.left.Add(-1) != 0 {
		return
	}
	model.Assert(!j.over, "the run ended twice")
	j.over = true
	var err error
	if j.failures > 0 {
		err = ErrGoexit
	}
	j.Run().Finish(err)
}

func (j *job) Fail(_ *Worker, _ *Item, err error) *Item {
	model.Assert(errors.Is(err, ErrGoexit), "an item failed: %v", err)
	j.failures++
	j.left.Add(-1)
	return nil
}

func (j *job) item(f func(*Worker)) *Item {
	j.left.Add(1)
	j.items++
	done := false
	return &Item{Body: &j.Body, Exec: func(w *Worker, _ *Item) *Item {
		model.Assert(!done, "an item ran twice")
		done = true
		j.ran++
		f(w)
		j.left.Add(-1)
		return nil
	}}
}

// push makes an item of f available to everybody.
func (j *job) push(w *Worker, f func(*Worker)) { w.Push(j.item(f)) }

// ended checks the end of a run that nothing stopped.
func (j *job) ended(err error) {
	model.Assert(err == nil, "the run failed: %v", err)
	model.Assert(j.over && j.ran == j.items, "of %d items %d ran", j.items, j.ran)
}

// A barrier is met by n items, all of which have to be running at once.
type barrier struct {
	n       int32
	arrived xatomic.Int32
}

func (b *barrier) meet(*Worker) {
	b.arrived.Add(1)
	b.arrived.Await(func(n int32) bool { return n >= b.n })
}

func nothing(*Worker) {}

// birth makes an executor of n workers. It must be closed, or threads are left over at the end: a deadlock.
func birth(n int, p Policy) *Executor {
	ex, err := New(Config{Workers: n, Policy: p, KeepGOMAXPROCS: true})
	model.Assert(err == nil, "New: %v", err)
	return ex
}

// start makes an executor whose workers sleep, without exploring how they come to that: TestModelLife does.
func start(n int, p Policy) (ex *Executor) {
	model.Calm(func() {
		ex = birth(n, p)
		for ex.Parked() < n {
			model.Spin()
		}
	})
	return ex
}

// stop closes an executor, without exploring how.
func stop(ex *Executor) { model.Calm(func() { death(ex) }) }

// death closes an executor and checks what it leaves behind.
func death(ex *Executor) {
	err := ex.Close()
	model.Assert(err == nil, "Close: %v", err)
	model.Assert(!ex.anyItem(), "an item is left")
	model.Assert(ex.sleepingHelpers.Load() == 0 && ex.actives.Load() == 0, "%d helpers, %d actives at the end",
		ex.sleepingHelpers.Load(), ex.actives.Load())
}

// onEach checks a program for each policy and number of workers.
func onEach(t *testing.T, workers []int, program func(n int, p Policy)) {
	for _, p := range Policies() {
		for _, n := range workers {
			t.Run(fmt.Sprintf("%v/W=%d", p, n), func(t *testing.T) {
				model.Check(t, func() { program(n, p) })
			})
		}
	}
}

// TestModelLife: an executor is made, runs a task and is closed.
func TestModelLife(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p Policy) {
		ex := birth(n, p)
		j := newJob(nothing)
		j.ended(ex.Run(context.Background(), j))
		death(ex)
	})
}

// TestModelSubmit: what is submitted while the workers go to sleep is run.
func TestModelSubmit(t *testing.T) {
	onEach(t, []int{2, 3}, func(n int, p Policy) {
		ex := start(n, p)
		submissions := 2 // after the first the workers are on their way to sleep
		if n == 3 && p == AdaptivePublished {
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
	onEach(t, []int{2}, func(n int, p Policy) {
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
	onEach(t, []int{2}, func(n int, p Policy) {
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

// TestModelPush: what a busy worker pushes while the others go to sleep is run by one of them.
func TestModelPush(t *testing.T) {
	onEach(t, []int{2, 3}, func(n int, p Policy) {
		ex := start(n, p)
		b := barrier{n: 2}
		j := newJob(nil)
		j.first = func(w *Worker) {
			j.push(w, b.meet)
			b.meet(w)
		}
		j.ended(ex.Run(context.Background(), j))
		stop(ex)
	})
}

// TestModelPushAgain: the same when the worker that pushes was on its way to sleep and has turned back.
func TestModelPushAgain(t *testing.T) {
	onEach(t, []int{2}, func(n int, p Policy) {
		ex := start(n, p)
		before := newJob(nothing)
		before.ended(ex.Run(context.Background(), before))
		b := barrier{n: 2}
		j := newJob(nil)
		j.first = func(w *Worker) {
			j.push(w, b.meet)
			b.meet(w)
		}
		j.ended(ex.Run(context.Background(), j))
		stop(ex)
	})
}

// TestModelPushAndSubmit: a worker pushes while the other is on its way to sleep, and then relies on that other to run
// what is submitted when it sleeps: whoever meant to wake it for the push may not have found it.
func TestModelPushAndSubmit(t *testing.T) {
	model.Check(t, func() {
		ex := start(2, Adaptive) // with the published policy the other would not sleep
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

// TestModelLastThief: two items are pushed, and each needs a worker of its own. The thief who takes the first is the last
// and must see to the second.
func TestModelLastThief(t *testing.T) {
	onEach(t, []int{3}, func(n int, p Policy) {
		ex := start(n, p)
		b := barrier{n: 3}
		j := newJob(nil)
		j.first = func(w *Worker) {
			j.push(w, b.meet)
			j.push(w, b.meet)
			b.meet(w)
		}
		j.ended(ex.Run(context.Background(), j))
		stop(ex)
	})
}

// TestModelGrow: a thief that meets a deque whose owner is making it larger does not keep the owner from going on. (It
// did, when they shared a core: a steal lost to growth was tried again at once, for as long as it lasted.)
func TestModelGrow(t *testing.T) {
	onEach(t, []int{2}, func(n int, p Policy) {
		ex := start(n, p)
		j := newJob(nil)
		j.first = func(w *Worker) {
			for range dequeCapacity + 1 {
				j.push(w, nothing)
			}
		}
		j.ended(ex.Run(context.Background(), j))
		stop(ex)
	})
}

// TestModelGrowForHelper: the same for a thief that waits for a run.
func TestModelGrowForHelper(t *testing.T) {
	onEach(t, []int{2}, func(n int, p Policy) {
		ex := start(n, p)
		outer, inner := newJob(nil), newJob(nil)
		var begun xatomic.Bool
		inner.first = func(w *Worker) {
			begun.Store(true)
			for range dequeCapacity + 1 {
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
	onEach(t, []int{1, 2}, func(n int, p Policy) {
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
	onEach(t, []int{1, 2}, func(n int, p Policy) {
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

// TestModelNested: a task waits for a run that it has started, with as few workers as one.
func TestModelNested(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p Policy) {
		ex := start(n, p)
		outer, inner := newJob(nil), newJob(nil)
		inner.first = func(w *Worker) { inner.push(w, nothing) }
		outer.first = func(*Worker) { inner.ended(ex.Run(context.Background(), inner)) }
		outer.ended(ex.Run(context.Background(), outer))
		stop(ex)
	})
}

// TestModelHelperSleeps: a task waits for a run whose item another worker has, and has to be woken at its end or when it
// pushes something. Up to two sleeps, the helper's or a worker's, end for no reason.
func TestModelHelperSleeps(t *testing.T) {
	park.Spurious = true
	defer func() { park.Spurious = false }()
	onEach(t, []int{2}, func(n int, p Policy) {
		ex := start(n, p)
		outer, inner := newJob(nil), newJob(nil)
		b := barrier{n: 2}
		inner.first = func(w *Worker) {
			inner.push(w, b.meet)
			b.meet(w)
		}
		outer.first = func(*Worker) { inner.ended(ex.Run(context.Background(), inner)) }
		outer.ended(ex.Run(context.Background(), outer))
		stop(ex)
	})
}

// TestModelHelperOfHelper: a helper finds what a run pushes that is nested in the one it waits for, on a worker that has
// run nothing else of it.
func TestModelHelperOfHelper(t *testing.T) {
	onEach(t, []int{3}, func(n int, p Policy) {
		ex := start(n, p)
		outer, inner, innermost := newJob(nil), newJob(nil), newJob(nil)
		b := barrier{n: 3}
		innermost.first = func(w *Worker) {
			innermost.push(w, func(w *Worker) {
				innermost.push(w, b.meet) // for the worker that waits for inner: the other two are here
				b.meet(w)
			})
			b.meet(w)
		}
		inner.first = func(*Worker) { innermost.ended(ex.Run(context.Background(), innermost)) }
		outer.first = func(*Worker) { inner.ended(ex.Run(context.Background(), inner)) }
		outer.ended(ex.Run(context.Background(), outer))
		stop(ex)
	})
}

// TestModelIsolation: a worker that waits for a run never runs an item of another, which here would wait for the task
// below it on the same stack for ever.
func TestModelIsolation(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p Policy) {
		ex := start(n, p)
		outer, inner := newJob(nil), newJob(nothing)
		var waiting xatomic.Bool
		helper := -1
		outer.first = func(w *Worker) {
			helper = w.ID()
			waiting.Store(true)
			inner.ended(ex.Run(context.Background(), inner))
			waiting.Store(false)
		}
		foreign := newJob(func(w *Worker) {
			model.Assert(!waiting.Load() || w.ID() != helper, "a helper runs a foreign item")
		})
		r := ex.Start(context.Background(), outer)
		foreign.ended(ex.Run(context.Background(), foreign))
		outer.ended(r.Wait())
		stop(ex)
	})
}

// TestModelIsolationFromOwn: the same for what the task itself has made before it waits: an item of its own run, and a run
// that it started after the one that it waits for.
func TestModelIsolationFromOwn(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p Policy) {
		ex := start(n, p)
		waiting, helper := false, 0
		foreign := func(w *Worker) {
			model.Assert(!waiting || w.ID() != helper, "a helper runs what does not belong to the run that it waits for")
		}
		outer, inner, other := newJob(nil), newJob(nothing), newJob(foreign)
		var r *Run
		outer.first = func(w *Worker) {
			outer.push(w, foreign)
			awaited := ex.Start(context.Background(), inner)
			r = ex.Start(context.Background(), other)
			waiting, helper = true, w.ID()
			inner.ended(awaited.Wait())
			waiting = false
		}
		outer.ended(ex.Run(context.Background(), outer))
		other.ended(r.Wait())
		stop(ex)
	})
}

// TestModelIsolationOfThieves: the same for what a helper steals. Two tasks wait for one run, and one of them has pushed an
// item of its own before.
func TestModelIsolationOfThieves(t *testing.T) {
	onEach(t, []int{2}, func(n int, p Policy) {
		ex := start(n, p)
		awaited := newJob(nil)
		awaited.first = func(w *Worker) { awaited.push(w, nothing) }
		var r *Run
		var started xatomic.Bool // publishes r
		var waiting [2]bool      // each worker's own
		wait := func(w *Worker) {
			started.Await()
			waiting[w.ID()] = true
			awaited.ended(r.Wait())
			waiting[w.ID()] = false
		}
		j1, j2 := newJob(wait), newJob(nil)
		j2.first = func(w *Worker) {
			j2.push(w, func(w *Worker) { model.Assert(!waiting[w.ID()], "a helper runs a foreign item that it stole") })
			wait(w)
		}
		r1, r2 := ex.Start(context.Background(), j1), ex.Start(context.Background(), j2)
		r = ex.Start(context.Background(), awaited)
		started.Store(true)
		j1.ended(r1.Wait())
		j2.ended(r2.Wait())
		stop(ex)
	})
}

// TestModelWaitForOutsiders: a task waits for a run whose first item lies in the injector, and no other worker is there
// to take it.
func TestModelWaitForOutsiders(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p Policy) {
		ex := start(n, p)
		outer, other := newJob(nil), newJob(nothing)
		var r *Run
		var started xatomic.Bool // publishes r
		outer.first = func(*Worker) {
			started.Await()
			other.ended(r.Wait())
		}
		first := ex.Start(context.Background(), outer)
		r = ex.Start(context.Background(), other)
		started.Store(true)
		outer.ended(first.Wait())
		stop(ex)
	})
}

// TestModelTurns: two runs on one worker, each of which goes on until both have come far enough.
func TestModelTurns(t *testing.T) {
	onEach(t, []int{1}, func(n int, p Policy) {
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

// TestModelStats: after a run's end the statistics know of all of it.
func TestModelStats(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p Policy) {
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
	onEach(t, []int{1, 2}, func(n int, p Policy) {
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
