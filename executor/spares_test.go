package executor_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// With more tasks that block than spares the others wait until one of those goes on.
func TestBlockingBeyondSpares(t *testing.T) {
	for _, spares := range []int{-1, 1, 2} {
		t.Run(fmt.Sprint(spares), func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 1, Spares: spares})
			within(t, ex, func() {
				threads := 1 + max(0, spares)
				gate := make(chan struct{})
				var blocked, ran atomic.Int64
				r := ex.Start(t.Context(), fan(threads+3, func(context.Context) error {
					executor.Blocking(func() {
						blocked.Add(1)
						<-gate
					})
					ran.Add(1)
					return nil
				}))
				eventually(func() bool { return int(blocked.Load()) == threads })
				time.Sleep(5 * time.Millisecond)
				require.EqualValues(t, threads, blocked.Load())
				require.Equal(t, threads, ex.Blocked())
				require.Equal(t, threads-1, ex.Serving())
				require.Zero(t, ran.Load())
				close(gate)
				require.NoError(t, r.Wait())
				require.EqualValues(t, threads+3, ran.Load())
				rests(t, ex)
			})
		})
	}
}

// A task on a spare ends its goroutine: another thread takes over the spare, and its service.
func TestBlockingGoexitOnASpare(t *testing.T) {
	guests.None(t)
	onEach(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(20) {
			gate, gone := make(chan struct{}), make(chan struct{})
			l := newLayer("exits", nil)
			l.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
				l.push(w, func(*executor.Worker, *executor.Item) *executor.Item { close(gate); return nil })
				l.push(w, func(*executor.Worker, *executor.Item) *executor.Item {
					close(gone)
					runtime.Goexit()
					return nil
				})
				executor.Blocking(func() { <-gone; <-gate })
				return nil
			}
			require.ErrorIs(t, ex.Run(t.Context(), l), executor.ErrGoexit)
		}
		rests(t, ex)
	})
}

// One spare serves a thousand calls of Blocking one after the other, on one thread.
func TestSparesAreReused(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		ex.SetSpareIdle(time.Hour) // else a spare has another thread after a pause
		threads := make(map[int64]bool)
		for range testkit.Scale(1000) {
			gate := make(chan struct{})
			require.NoError(t, ex.Run(t.Context(), both(1,
				func(context.Context) error { executor.Blocking(func() { <-gate }); return nil },
				func(context.Context) error { close(gate); return nil })))
			for _, id := range ex.Threads() {
				threads[id] = true
			}
		}
		require.LessOrEqual(t, len(threads), ex.Workers()+2, "two blockings may overlap by a spare's leaving")
		require.Len(t, ex.Stats().Workers, len(ex.Threads()))
	})
}

// The threads of idle spares end, and are started again when they are needed.
func TestSparesGoAfterIdling(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		ex.SetSpareIdle(2 * time.Millisecond)
		for range testkit.Scale(5) {
			gate := make(chan struct{})
			r := ex.Start(t.Context(), fan(ex.Workers(), func(context.Context) error {
				executor.Blocking(func() { <-gate })
				return nil
			}))
			eventually(func() bool { return ex.Blocked() == ex.Workers() })
			eventually(func() bool { return ex.Serving() == ex.Workers() })
			time.Sleep(10 * time.Millisecond)
			require.Equal(t, ex.Workers(), ex.Serving(), "a spare that stands in for somebody stays")
			spares := ex.Threads()[ex.Workers():] // while their threads exist for certain
			require.Len(t, spares, ex.Workers())
			close(gate)
			require.NoError(t, r.Wait())
			hasThread := func(id int64) bool { return id != 0 }
			eventually(func() bool {
				return ex.Serving() == 0 && ex.Standby() == 0 &&
					!slices.ContainsFunc(ex.Threads()[ex.Workers():], hasThread)
			})
			require.False(t, slices.ContainsFunc(spares, executor.OnWorker))
			rests(t, ex)
		}
	})
}

// A surplus spare leaves even if there is always an item to run.
func TestSpareLeavesEndlessWork(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		var stop atomic.Bool
		taken, gate := make(chan struct{}), make(chan struct{})
		l := newLayer("endless", nil)
		var again func(w *executor.Worker, _ *executor.Item) *executor.Item
		again = func(w *executor.Worker, _ *executor.Item) *executor.Item {
			if !stop.Load() {
				l.push(w, again)
			}
			return nil
		}
		l.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
			l.push(w, func(w *executor.Worker, _ *executor.Item) *executor.Item {
				for range 2 * ex.Workers() {
					l.push(w, again)
				}
				close(taken)
				return nil
			})
			executor.Blocking(func() { <-taken; <-gate })
			return nil
		}
		r := ex.Start(t.Context(), l)
		<-taken
		close(gate)
		eventually(func() bool { return ex.Blocked() == 0 && ex.Serving() == 0 })
		stop.Store(true)
		require.NoError(t, r.Wait())
		rests(t, ex)
	})
}

// Close comes while spares are on their way in or out.
func TestCloseAfterBlocking(t *testing.T) {
	for _, p := range testkit.Thorough(t, usable()) {
		t.Run(p, func(t *testing.T) {
			for i := range testkit.Scale(100) {
				ex, err := executor.New(executor.Config{
					Workers: 1 + i%2, Experiment: experiment.Options{Policy: p}, Host: host.Options{KeepGOMAXPROCS: true},
				})
				require.NoError(t, err)
				within(t, ex, func() {
					ex.SetSpareIdle(time.Duration(i%3) * 50 * time.Microsecond)
					r := ex.Start(t.Context(), fan(4, func(context.Context) error {
						executor.Blocking(runtime.Gosched)
						return nil
					}))
					if i%2 == 0 {
						require.NoError(t, r.Wait())
					}
					require.NoError(t, ex.Close())
					require.NoError(t, r.Wait())
				})
				for _, id := range ex.Threads() {
					require.False(t, id != 0 && executor.OnWorker(id))
				}
			}
		})
	}
}

// A dump shows which workers are blocked, and the states of the spares.
func TestDumpOfSpares(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Spares: 3})
	within(t, ex, func() {
		require.Contains(t, dump(ex), "spares: 0 in service, 0 on standby, at most 3; 0 workers blocked")
		gate := make(chan struct{})
		before := ex.Stats()
		r := ex.Start(t.Context(), one(func(context.Context) error {
			executor.Blocking(func() { <-gate })
			return nil
		}))
		eventually(func() bool { return ex.Blocked() == 1 && ex.Parked() == 1 })
		s := dump(ex)
		require.Contains(t, s, "spares: 1 in service, 0 on standby, at most 3; 1 workers blocked")
		require.Contains(t, s, "worker 0: blocked, thread ")
		require.Contains(t, s, "worker 1: parked, thread ")
		close(gate)
		require.NoError(t, r.Wait())
		require.EqualValues(t, 1, ex.Stats().Sub(before).Total.Tasks, "with a worker more than before")
	})
}

// A spare for which no thread could be started is left out and shown as such. The next Blocking finds it.
func TestSpareWithoutAThread(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		ex.FailSpare()
		require.Zero(t, ex.Serving())
		require.Contains(t, dump(ex), fmt.Sprintf("worker %d: without a thread, thread 0", ex.Workers()))
		gate := make(chan struct{})
		require.NoError(t, ex.Run(t.Context(), both(ex.Workers(),
			func(context.Context) error { executor.Blocking(func() { <-gate }); return nil },
			func(context.Context) error {
				executor.Blocking(func() { time.Sleep(time.Millisecond) })
				close(gate)
				return nil
			})))
		rests(t, ex)
	})
}

func TestSparesConfig(t *testing.T) {
	for _, c := range []struct{ workers, spares, ids int }{
		{1, 0, 257}, {3, 0, 259}, {3, 2, 5}, {3, -1, 3}, {2, 7, 9},
	} {
		ex := newExecutor(t, executor.Config{Workers: c.workers, Spares: c.spares})
		require.Equal(t, c.workers, ex.Workers())
		l := newLayer("ids", nil)
		l.first = func(*executor.Worker, *executor.Item) *executor.Item {
			if n := l.Run().WorkersAndSpares(); n != c.ids {
				t.Errorf("%+v: %d IDs", c, n)
			}
			return nil
		}
		require.NoError(t, ex.Run(t.Context(), l))
	}
	_, err := executor.New(executor.Config{Workers: 3, Spares: executor.MaxWorkers})
	require.ErrorContains(t, err, "executor: Config.Spares is 4096: with 3 workers at most 4093 are possible")
}
