package executor_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// Random webs of promises, futures, runs and timers of two executors, resolved, rejected and cancelled by goroutines,
// tasks and timers at once. Each future ends, and runs if all before it have succeeded.
func TestRandomPromises(t *testing.T) {
	for seed := range uint64(testkit.Scale(60)) {
		rng := rand.New(rand.NewPCG(seed, 18))
		policies := usable()
		var all [2]*executor.Executor
		for i := range all {
			all[i] = newWatched(t, executor.Config{
				Workers: 1 + rng.IntN(3), Experiment: experiment.Options{Policy: oneOf(rng, policies)},
			})
		}
		if rng.IntN(4) == 0 {
			all[1] = executor.NewInline(seed)
		}
		within(t, all[0], func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var awaitables []executor.Awaitable
			var futures []*executor.Future[int]
			var wg sync.WaitGroup
			for range 60 {
				ex := oneOf(rng, all[:])
				if rng.IntN(8) == 0 {
					ex.HushAsyncs()
				}
				var f *executor.Future[int]
				switch kind := rng.IntN(8); {
				case kind < 3:
					p := executor.NewPromise[int](ctx, ex)
					f = p.Future()
					complete := func() { p.Resolve(1) }
					if rng.IntN(20) == 0 {
						complete = func() { p.Reject(errTest) }
					}
					switch rng.IntN(4) {
					case 0:
						wg.Go(complete)
					case 1:
						time.AfterFunc(time.Duration(rng.IntN(200))*time.Microsecond, complete)
					case 2:
						oneOf(rng, all[:]).Start(t.Context(), one(func(context.Context) error { complete(); return nil }))
					case 3:
						executor.Async(t.Context(), oneOf(rng, all[:]), func(context.Context) (int, error) {
							complete()
							return 0, nil
						})
					}
				case kind == 3:
					awaitables = append(awaitables, ex.Start(ctx, fan(1+rng.IntN(4), nothing)))
					continue
				case kind == 4:
					awaitables = append(awaitables, executor.Timer(ctx, ex, time.Duration(rng.IntN(100))*time.Microsecond))
					continue
				default:
					var after []executor.Awaitable
					for range rng.IntN(4) {
						if len(awaitables) > 0 {
							after = append(after, oneOf(rng, awaitables))
						}
					}
					f = executor.Async(ctx, ex, func(context.Context) (int, error) {
						for _, a := range after {
							if !closed(a.Done()) {
								t.Error("began before the end of one that it comes after")
							}
						}
						return 1, nil
					}, after...)
					if rng.IntN(20) == 0 {
						f.Cancel(errTest)
					}
				}
				awaitables = append(awaitables, f)
				futures = append(futures, f)
			}
			if rng.IntN(4) == 0 {
				time.AfterFunc(50*time.Microsecond, cancel)
			}
			inTask := all[0].Start(t.Context(), one(func(context.Context) error {
				_, _ = futures[len(futures)-1].Wait()
				return nil
			}))
			for _, f := range futures {
				n, err := f.Wait()
				if err == nil && n != 1 {
					t.Errorf("a future has %d and no error", n)
				} else if err != nil && !errors.Is(err, errTest) && !errors.Is(err, context.Canceled) {
					t.Errorf("a future ends with %v", err)
				}
			}
			require.NoError(t, inTask.Wait())
			wg.Wait()
			for _, ex := range all {
				require.NoError(t, ex.Close())
			}
		})
	}
}
