package executor_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestReturns: callers are expected back until they come or it is late, each by itself.
func TestReturns(t *testing.T) {
	const slot = 500 * time.Microsecond
	now := 7*slot + slot/2
	var r executor.Returns
	require.Zero(t, r.Expected(now))
	require.False(t, r.AreLong(now))
	r.Came(now)
	require.Zero(t, r.Expected(now))
	require.False(t, r.AreLong(now), "none has left")

	for n := range 300 {
		r.Left(now)
		require.Equal(t, min(n+1, 255), r.Expected(now))
	}
	require.Equal(t, 255, r.Expected(now+slot), "one slot later")
	require.Zero(t, r.Expected(now+2*slot), "two")
	require.Equal(t, 255, r.Expected(now-slot), "a thread that is late")
	require.Equal(t, 255, r.Expected(now-5*slot), "one that is later")
	require.True(t, r.AreLong(now+39*slot))
	require.False(t, r.AreLong(now+40*slot))
	for n := 255; n > 0; n-- {
		require.Equal(t, n, r.Expected(now))
		r.Came(now)
	}
	require.Zero(t, r.Expected(now))
	r.Came(now)
	require.Zero(t, r.Expected(now))
	require.True(t, r.AreLong(now), "those that have come were there before")

	now += 100 * slot
	r.Left(now)
	r.Left(now)
	r.Left(now + slot)
	require.Equal(t, 3, r.Expected(now+slot))
	r.Came(now + slot)
	require.Equal(t, 2, r.Expected(now+slot))
	require.Zero(t, r.Expected(now+2*slot), "the last has come, and the others are late")
}

// TestReturnsOfOthers: a caller that has left for good is not expected for longer because another leaves and comes.
func TestReturnsOfOthers(t *testing.T) {
	const slot = 500 * time.Microsecond
	var r executor.Returns
	for range 3 {
		r.Left(slot)
	}
	for now := slot; now < 4*slot; now += slot / 5 {
		r.Left(now)
		r.Came(now)
		if now >= 3*slot {
			require.Zero(t, r.Expected(now), now)
		}
	}
}

// longRun is a run after which the caller is expected back.
func longRun(ctx context.Context, ex *executor.Executor) error {
	return ex.Run(ctx, one(func(context.Context) error { spend(200 * time.Microsecond); return nil }))
}

// TestCrowdKeepsPlaces: two callers have both places, and one leaves. Nobody is woken for its place, though an item of
// the other could be run there. The other one runs that itself, unless it is no longer quiet.
func TestCrowdKeepsPlaces(t *testing.T) {
	for name, quiet := range map[string]bool{"quiet": true, "heard": false} {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2, Spares: -1, Callers: executor.BusyCallers})
			ex.StopQuietClock()
			// On a busy machine the other caller is no longer expected back by then.
			within(t, ex, func() { testkit.Fits(t, func() string { return leaveCrowd(t, ex, quiet) }) })
		})
	}
}

// leaveCrowd has one of two callers leave, and returns what is wrong.
func leaveCrowd(t *testing.T, ex *executor.Executor, quiet bool) (wrong string) {
	require.NoError(t, longRun(t.Context(), ex))
	var wg sync.WaitGroup
	leave := comeAndStay(t, ex, &wg)
	here, there := -1, -2
	require.NoError(t, ex.Run(t.Context(), executor.NewJob("crowd", func(s *executor.Scope) error {
		here = s.WorkerIndex()
		var begun atomic.Bool
		s.Go(func(context.Context) error { begun.Store(true); there = ex.WorkerIndex(); return nil })
		if !quiet {
			ex.TickQuietClock()
			ex.TickQuietClock()
		}
		if quiet != (ex.Hushed(here) == 1) {
			wrong = "the caller has not come into a crowd"
		}
		leave()
		wg.Wait()
		if begun.Load() || ex.Thieves() != 0 || ex.Parked() != 1 {
			wrong = "a worker was woken"
		}
		return s.Wait()
	})))
	if quiet && wrong == "" && here != there {
		wrong = "another worker has run the item"
	}
	return wrong
}

// comeAndStay has a caller come, and stay for a while after leave is called.
func comeAndStay(t *testing.T, ex *executor.Executor, wg *sync.WaitGroup) (leave func()) {
	var comes, leaves atomic.Bool
	wg.Go(func() {
		if err := ex.Run(t.Context(), one(func(context.Context) error {
			comes.Store(true)
			for !leaves.Load() {
				runtime.Gosched()
			}
			spend(200 * time.Microsecond)
			return nil
		})); err != nil {
			t.Error(err)
		}
	})
	for !comes.Load() {
		runtime.Gosched()
	}
	return func() { leaves.Store(true) }
}

// TestCrowdAndUnseenWaits: a caller's task waits for another of its run, in a way that the executor does not see. A
// second caller comes again and again at once, so that there is always a crowd.
func TestCrowdAndUnseenWaits(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Spares: -1, Callers: executor.BusyCallers})
	ex.StopReturnClock() // it goes off if the second caller loses its core
	within(t, ex, func() {
		comesToRest(t, ex) // a thread that is awake could run the second caller's tasks, and then the first one's
		var runs atomic.Int32
		var over atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() {
			for ; !over.Load(); runs.Add(1) {
				if err := longRun(t.Context(), ex); err != nil {
					t.Error(err)
				}
			}
		})
		for runs.Load() == 0 {
			runtime.Gosched()
		}
		const rounds = 5
		crowds := 0
		for tries := 0; crowds < rounds && tries < 1000*rounds; tries++ {
			require.NoError(t, ex.Run(t.Context(), executor.NewJob("waits", func(s *executor.Scope) error {
				var done atomic.Bool
				s.Go(func(context.Context) error { done.Store(true); return nil })
				crowds += ex.Hushed(s.WorkerIndex())
				for !done.Load() {
					runtime.Gosched()
				}
				return s.Wait()
			})))
		}
		over.Store(true)
		wg.Wait()
		require.Positive(t, crowds)
	})
}

// TestCrowdEnds: one of two callers does not come back. A worker is woken soon for what the other has in its lane: that
// one waits for it, and no other clock ticks.
func TestCrowdEnds(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Spares: -1, Callers: executor.BusyCallers})
	ex.StopQuietClock()
	within(t, ex, func() {
		const rounds = 5
		crowds := 0
		// On a busy machine the long run may be long ago by then.
		for tries := 0; crowds < rounds && tries < 100*rounds; tries++ {
			require.NoError(t, longRun(t.Context(), ex))
			var wg sync.WaitGroup
			leave := comeAndStay(t, ex, &wg)
			require.NoError(t, ex.Run(t.Context(), executor.NewJob("crowd", func(s *executor.Scope) error {
				var begun atomic.Bool
				s.Go(func(context.Context) error { begun.Store(true); return nil })
				crowds += ex.Hushed(s.WorkerIndex())
				leave()
				for !begun.Load() {
					runtime.Gosched()
				}
				return s.Wait()
			})))
			wg.Wait()
		}
		require.Positive(t, crowds)
	})
}

// TestCrowdAndLateLeaver: a caller is slow between the moment when it is done and that when its place is free, and the
// clock, which another has set, goes off meanwhile. A worker is woken for what lies in a lane all the same.
func TestCrowdAndLateLeaver(t *testing.T) {
	var slow atomic.Bool
	ex := newExecutor(t, executor.Config{
		Workers: 2, Spares: -1, Callers: executor.BusyCallers,
		Observers: []*executor.Observer{{Park: func(*executor.Event) {
			if slow.CompareAndSwap(true, false) {
				time.Sleep(900 * time.Microsecond)
			}
		}}},
	})
	ex.StopQuietClock()
	within(t, ex, func() {
		for range 10 {
			time.Sleep(30 * time.Millisecond) // nobody's long run is near by then
			var wg sync.WaitGroup
			require.NoError(t, ex.Run(t.Context(), executor.NewJob("stays", func(s *executor.Scope) error {
				leave := comeAndStay(t, ex, &wg)
				var begun atomic.Bool
				s.Go(func(context.Context) error { begun.Store(true); return nil })
				slow.Store(true)
				leave()
				ex.SetReturnClock() // as a caller does that has waited
				for !begun.Load() {
					runtime.Gosched()
				}
				return s.Wait()
			})))
			wg.Wait()
		}
	})
}

// TestFuturesOfOneCaller: one caller that waits for one future after the other is not expected beside itself.
func TestFuturesOfOneCaller(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Spares: -1, Callers: executor.BusyCallers})
	within(t, ex, func() {
		for range 50 {
			f := executor.Async(t.Context(), ex, func(context.Context) (int, error) {
				spend(120 * time.Microsecond)
				return 1, nil
			})
			_, err := f.Wait()
			require.NoError(t, err)
			require.LessOrEqual(t, ex.ExpectedCallers(), 1)
		}
	})
}

// TestShortRunsAreNoCrowd: a caller whose run was short is not expected back.
func TestShortRunsAreNoCrowd(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Callers: executor.BusyCallers})
	short := 0
	for range 100 { // some take long, on a busy machine
		require.NoError(t, ex.Run(t.Context(), one(nothing)))
		if ex.ExpectedCallers() == 0 {
			short++
		}
	}
	require.NotZero(t, short)
}

// TestThievesPassHushedLanesBy: a worker that looks for work while a guest is quiet goes to sleep.
func TestThievesPassHushedLanesBy(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 3, Spares: -1, Callers: executor.BusyCallers})
	ex.StopQuietClock()
	within(t, ex, func() {
		var begins, ends atomic.Bool
		other := ex.Start(t.Context(), one(func(context.Context) error {
			begins.Store(true)
			for !ends.Load() {
				runtime.Gosched()
			}
			return nil
		}))
		for !begins.Load() || ex.Parked() < 2 || ex.Thieves() != 0 { // a guest beside a thief hushes nothing
			runtime.Gosched()
		}
		guest, by := -1, -2
		require.NoError(t, ex.Run(t.Context(), quietly(func(l *layer, w *executor.Worker) {
			guest = ex.WorkerIndex()
			l.push(w, does(func() { by = ex.WorkerIndex() }))
			ends.Store(true)
			for ex.Parked() < 2 {
				runtime.Gosched()
			}
		})))
		require.Equal(t, guest, by)
		require.NoError(t, other.Wait())
	})
}

// TestBlockedRunsAreNoCrowd: a caller waits for a run whose task is in Blocking, or runs the task itself. Another one
// is no crowd with it.
func TestBlockedRunsAreNoCrowd(t *testing.T) {
	for name, waits := range map[string]bool{"waits": true, "takes part": false} {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2, Callers: executor.BusyCallers})
			within(t, ex, func() {
				comesToRest(t, ex) // so that callers find places
				unblock := blockRun(t, ex, waits)
				const runs = 50
				crowds := 0
				for range runs { // at first callers are expected back
					require.NoError(t, longRun(t.Context(), ex))
					require.NoError(t, ex.Run(t.Context(), executor.NewJob("alone", func(s *executor.Scope) error {
						crowds += ex.Hushed(s.WorkerIndex())
						return nil
					})))
				}
				require.Less(t, crowds, runs/2)
				unblock()
			})
		})
	}
}

// blockRun has a caller's run in Blocking until unblock is called. If waits is set, the caller found no place.
func blockRun(t *testing.T, ex *executor.Executor, waits bool) (unblock func()) {
	var places, blocked sync.WaitGroup
	leave, leave2 := func() {}, func() {}
	if waits {
		leave, leave2 = comeAndStay(t, ex, &places), comeAndStay(t, ex, &places)
	}
	goOn := make(chan bool)
	var blocks atomic.Bool
	blocked.Go(func() {
		if err := ex.Run(t.Context(), one(func(context.Context) error {
			executor.Blocking(func() { blocks.Store(true); <-goOn })
			return nil
		})); err != nil {
			t.Error(err)
		}
	})
	for waits && ex.Waiting() == 0 {
		runtime.Gosched()
	}
	leave()
	leave2()
	places.Wait()
	for !blocks.Load() {
		runtime.Gosched()
	}
	return func() { close(goOn); blocked.Wait() }
}
