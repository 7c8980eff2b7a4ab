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
	"github.com/stretchr/testify/require"
)

// While a worker waits for what another has, it does what its policy says: under ABP it tries to steal, and under MBWS
// and MBWSRole, too, if no worker did when it began to wait. It does not sleep then. Under other policies it sleeps.
func TestWaitersFollowThePolicy(t *testing.T) {
	waits := map[string]func(s *executor.Scope, begun, release *atomic.Bool){
		"Join": func(s *executor.Scope, begun, release *atomic.Bool) {
			f := executor.Fork(s, func(*executor.Scope, int) int { begin(begun, release); return 0 }, 0)
			for !begun.Load() { // a fork becomes visible at the next one
				g := executor.Fork(s, func(*executor.Scope, int) int { return 0 }, 0)
				g.Join(s)
			}
			f.Join(s)
		},
		"Run": func(s *executor.Scope, begun, release *atomic.Bool) {
			r := s.Executor().Start(s.Context(), executor.NewJob("inner", func(*executor.Scope) error {
				begin(begun, release)
				return nil
			}))
			for !begun.Load() {
				runtime.Gosched()
			}
			_ = r.Wait()
		},
	}
	awake := []string{"abp", "mbws", "mbws-role"}
	policies := append(awake, "wsgi", "adaptive", "taskflow")
	for _, p := range policies {
		for name, wait := range waits {
			t.Run(fmt.Sprintf("%v/%s", p, name), func(t *testing.T) {
				ex := newExecutor(t, executor.Config{
					Workers: 2, Experiment: experiment.Options{Policy: p}, Callers: executor.IdleCallers,
				})
				var begun, release, waited atomic.Bool
				run := ex.Start(t.Context(), executor.NewJob("outer", func(s *executor.Scope) error {
					wait(s, &begun, &release)
					waited.Store(true)
					return nil
				}))
				defer func() { require.NoError(t, run.Wait()) }()
				defer release.Store(true)
				eventually(begun.Load)
				eventually(func() bool { return ex.Asleep() == 1 }) // so it counts for the spares, even if it is awake
				before := ex.Stats().Total
				if !slices.Contains(awake, p) {
					time.Sleep(2 * time.Millisecond)
					require.Equal(t, before.StealsTried, ex.Stats().Total.StealsTried)
					return
				}
				eventually(func() bool { return ex.Stats().Total.StealsTried > before.StealsTried+10_000 })
				require.Equal(t, before.Parks, ex.Stats().Total.Parks)
				require.False(t, waited.Load())
			})
		}
	}
}

// begin says that it has begun, and keeps its worker busy until it is released.
func begin(begun, release *atomic.Bool) {
	begun.Store(true)
	for !release.Load() {
		time.Sleep(50 * time.Microsecond)
	}
}

// A child that runs on top of a wait, and ends with its goroutine, ends what the policy believes of the waiting worker:
// other workers still take forks.
func TestGoexitInAWait(t *testing.T) {
	for _, p := range []string{"wsgi", "mbws", "mbws-role", "abp"} {
		t.Run(p, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{
				Workers: 2, Experiment: experiment.Options{Policy: p}, Callers: executor.IdleCallers, Spares: -1,
			})
			for range 3 {
				var begun, release, left atomic.Bool
				run := ex.Start(t.Context(), executor.NewJob("joiner", func(s *executor.Scope) error {
					f := executor.Fork(s, func(s *executor.Scope, _ int) int {
						begin(&begun, &release)
						s.Go(func(context.Context) error { // for the joiner, which leapfrogs
							left.Store(true)
							runtime.Goexit()
							return nil
						})
						for !left.Load() {
							runtime.Gosched()
						}
						return 0
					}, 0)
					for !begun.Load() {
						g := executor.Fork(s, func(*executor.Scope, int) int { return 0 }, 0)
						g.Join(s)
					}
					f.Join(s)
					return nil
				}))
				eventually(func() bool { return ex.Asleep() == 1 })
				release.Store(true)
				require.ErrorIs(t, run.Wait(), executor.ErrGoexit)
			}
			inScope(t, ex, func(s *executor.Scope) {
				var begun, release atomic.Bool
				release.Store(true)
				f := executor.Fork(s, func(*executor.Scope, int) int { begin(&begun, &release); return 0 }, 0)
				eventually(func() bool {
					g := executor.Fork(s, func(*executor.Scope, int) int { return 0 }, 0)
					g.Join(s)
					return begun.Load()
				})
				f.Join(s)
			})
		})
	}
}
