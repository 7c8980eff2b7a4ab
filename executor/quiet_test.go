package executor_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestTempo: the guest is as runs were quicker, once both are known, and now and then it is not.
func TestTempo(t *testing.T) {
	for name, tt := range map[string]struct {
		quiet, loud time.Duration
		quietly     bool
	}{
		"quick, quicker in silence": {10 * time.Microsecond, 20 * time.Microsecond, true},
		"as quick in silence":       {10 * time.Microsecond, 10 * time.Microsecond, true},
		"quicker with others":       {30 * time.Microsecond, 20 * time.Microsecond, false},
		"a nanosecond":              {1, 1, true},
		"stuck in silence":          {10 * time.Millisecond, 20 * time.Microsecond, false},
	} {
		var tempo executor.Tempo
		run := func() (quiet bool) {
			quiet = tempo.Next()
			if quiet {
				tempo.Note(tt.quiet, true)
			} else {
				tempo.Note(tt.loud, false)
			}
			return quiet
		}
		for i := range executor.FirstTrials {
			require.Equal(t, i%2 == 1, run(), "%s: trial %d", name, i)
		}
		others := 0
		const periods = 3
		for range periods * (executor.Retrial - executor.FirstTrials + 1) {
			if run() != tt.quietly {
				others++
			}
		}
		require.Equal(t, periods, others, "%s: trials of the other way", name)
	}
}

// TestTempoOfLongRuns: no guest is quiet where runs are long with others, nor after a single long run.
func TestTempoOfLongRuns(t *testing.T) {
	var tempo executor.Tempo
	for range 1000 {
		require.False(t, tempo.Next())
		tempo.Note(executor.QuietSpan+time.Microsecond, false)
	}
	for !tempo.Next() {
		tempo.Note(executor.QuietSpan/4, false) // they have become short
	}
}

// TestTempoForgives: a run that has lost its core changes little.
func TestTempoForgives(t *testing.T) {
	var tempo executor.Tempo
	for range executor.FirstTrials / 2 {
		tempo.Note(20*time.Microsecond, false)
		tempo.Note(10*time.Microsecond, true)
	}
	for range 3 {
		require.True(t, tempo.Next())
		tempo.Note(5*time.Millisecond, true)
	}
	require.True(t, tempo.Next())
}

// A caller that is quiet runs all items of its run, and no worker wakes up. The system may take the caller's core away,
// and then the caller leaves. So one run of many must be silent.
func TestQuietCallerWakesNobody(t *testing.T) {
	for _, p := range admitting {
		ex := newExecutor(t, executor.Config{
			Workers: 3, Experiment: experiment.Options{Policy: p}, Callers: executor.BriefCallers,
		})
		within(t, ex, func() {
			for silent := false; !silent; {
				comesToRest(t, ex)
				before := ex.Stats().Total
				require.NoError(t, ex.Run(t.Context(), quietly(func(l *layer, w *executor.Worker) {
					for range 5 {
						l.push(w, does(func() {}))
					}
				})))
				comesToRest(t, ex) // before that, a worker that woke up may not have counted it
				after := ex.Stats().Total
				require.Equal(t, uint64(6), after.Tasks-before.Tasks)
				silent = after.Wakeups == before.Wakeups
			}
		})
	}
}

// quietly makes a layer for the run of a quiet guest.
func quietly(first func(*layer, *executor.Worker)) *layer {
	var l *layer
	l = newLayer("quiet", func(w *executor.Worker, _ *executor.Item) *executor.Item { first(l, w); return nil })
	l.Body.Hush()
	return l
}

// does makes a step of f, after which there is none.
func does(f func()) step {
	return func(*executor.Worker, *executor.Item) *executor.Item { f(); return nil }
}

// An item of a quiet caller waits for another, in a way that the executor does not see. Another worker runs that one.
func TestQuietCallerWaits(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for _, p := range admitting {
		ex := newExecutor(t, executor.Config{
			Workers: 2, Experiment: experiment.Options{Policy: p}, Callers: executor.BriefCallers,
		})
		for range testkit.Scale(30) {
			items := 2 + rng.IntN(10)
			sibling := rng.IntN(items - 1)
			waiter := sibling + 1 + rng.IntN(items-1-sibling) // pushed later, and so run earlier by the caller
			idle := time.Duration(rng.IntN(3)) * 10 * time.Millisecond
			var ran atomic.Int32
			within(t, ex, func() {
				ex.AdmitCallers() // the last one has stayed too long
				if rng.IntN(4) > 0 {
					comesToRest(t, ex)
				}
				require.NoError(t, ex.Run(t.Context(), quietly(func(l *layer, w *executor.Worker) {
					done := make(chan struct{})
					for i := range items {
						l.push(w, does(func() {
							switch i {
							case sibling:
								close(done)
							case waiter:
								<-done
							}
							ran.Add(1)
						}))
					}
				})))
			})
			require.EqualValues(t, items, ran.Load())
			time.Sleep(idle) // the clock stops after a while
		}
	}
}

// A quiet caller whose task blocks, forks, starts a run or waits for a future does not keep others from what it has
// pushed. No clock ticks.
func TestQuietCallerSpeaks(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Callers: executor.BriefCallers})
	for name, wait := range map[string]func(ctx context.Context, done <-chan struct{}) error{
		"Blocking": func(_ context.Context, done <-chan struct{}) error {
			executor.Blocking(func() { <-done })
			return nil
		},
		"a run": func(ctx context.Context, done <-chan struct{}) error {
			return ex.Start(ctx, one(func(context.Context) error { <-done; return nil })).Wait()
		},
		"a future": func(ctx context.Context, done <-chan struct{}) error {
			_, err := executor.Async(ctx, ex, func(context.Context) (int, error) { <-done; return 0, nil }).Wait()
			return err
		},
		"a fork": func(ctx context.Context, done <-chan struct{}) error {
			return ex.Run(ctx, executor.NewJob("forks", func(s *executor.Scope) error {
				return executor.Fork(s, func(*executor.Scope, int) error { <-done; return nil }, 0).Join(s)
			}))
		},
	} {
		within(t, ex, func() {
			for range testkit.Scale(10) {
				comesToRest(t, ex)
				ex.AdmitCallers()
				ex.StopQuietClock()
				var err error
				require.NoError(t, ex.Run(t.Context(), quietly(func(l *layer, w *executor.Worker) {
					done := make(chan struct{})
					l.push(w, does(func() { close(done) }))
					l.push(w, does(func() { err = wait(l.Run().Context(), done) }))
				})), name)
				require.NoError(t, err, name)
			}
		})
	}
}

// A quiet caller that stays does not keep others from what it has pushed once its run has become long. No clock ticks.
func TestQuietCallerSpeaksWhenItIsLong(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	within(t, ex, func() {
		for range testkit.Scale(10) {
			comesToRest(t, ex)
			ex.StopQuietClock()
			require.NoError(t, ex.Run(t.Context(), quietly(func(l *layer, w *executor.Worker) {
				done := make(chan struct{})
				l.push(w, does(func() { close(done) }))
				l.push(w, does(func() { <-done }))
				for range 4 { // run first
					l.push(w, does(func() { spend(2 * executor.QuietSpan) }))
				}
			})))
		}
	})
	require.NoError(t, ex.Close())
}

// The body of a run that a caller has begun remembers how long the run has taken, quiet or not.
func TestQuietIsLearned(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Callers: executor.BriefCallers})
	for _, hushed := range []bool{false, true} {
		within(t, ex, func() {
			for learned := false; !learned; { // a worker may be awake at the wrong moment
				comesToRest(t, ex)
				ex.AdmitCallers()
				l := quietly(func(l *layer, w *executor.Worker) {
					l.push(w, does(func() {}))
				})
				if !hushed {
					l.Body.Forget()
				}
				_, _, before := l.Body.Tempo()
				require.NoError(t, ex.Run(t.Context(), l))
				quiet, loud, after := l.Body.Tempo()
				learned = after == before+1
				if learned && hushed {
					require.Greater(t, quiet, int64(1))
					require.EqualValues(t, 2, loud)
				} else if learned {
					require.Zero(t, quiet)
					require.Positive(t, loud)
				}
			}
		})
	}
}

// An executor may be closed while the clock of its quiet callers is set.
func TestQuietCallerClose(t *testing.T) {
	for range testkit.Scale(20) {
		ex, err := executor.New(executor.Config{Workers: 2, Callers: executor.BriefCallers})
		require.NoError(t, err)
		comesToRest(t, ex)
		require.NoError(t, ex.Run(t.Context(), quietly(func(l *layer, w *executor.Worker) {
			l.push(w, does(func() {}))
		})))
		require.NoError(t, ex.Close())
	}
}
