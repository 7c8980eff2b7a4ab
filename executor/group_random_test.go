package executor_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// TestRandomGroup: goroutines and tasks use a group in every way while another goroutine waits, fails and cancels it
// from time to time. Each function that was accepted is called once, or skipped if it may be.
func TestRandomGroup(t *testing.T) {
	guests.None(t)
	for round := range testkit.Scale(150) {
		rng := rand.New(rand.NewPCG(uint64(round), 5))
		ex := newWatched(t, executor.Config{
			Workers:    1 + rng.IntN(3),
			Experiment: experiment.Options{Policy: oneOf(rng, usable())},
			Host:       host.Options{KeepGOMAXPROCS: true},
		})
		within(t, ex, func() {
			for range 3 {
				g := executor.NewGroup(ex)
				g.SetLimit(rng.IntN(4) - 1)
				if rng.IntN(3) == 0 {
					g.SetLimit(1)
				}
				fails := rng.IntN(3) == 0
				var given, called atomic.Int64
				limit0 := !g.TryGo(func() error { return nil })
				if limit0 {
					g.SetLimit(-1)
				}
				var act func(rng *rand.Rand, depth int)
				act = func(rng *rand.Rand, depth int) {
					seed := rng.Uint64()
					body := func() error {
						rng := rand.New(rand.NewPCG(seed, 6))
						called.Add(1)
						for range rng.IntN(3) * min(depth, 1) {
							act(rng, depth-1)
						}
						switch {
						case rng.IntN(10) == 0:
							return ex.Run(context.Background(), one(nothing))
						case fails && rng.IntN(20) == 0:
							runtime.Goexit()
						case fails && rng.IntN(20) == 0:
							panic(errTest)
						case fails && rng.IntN(20) == 0:
							return errTest
						}
						return nil
					}
					given.Add(1)
					switch rng.IntN(5) {
					case 0:
						if !g.TryGo(body) {
							given.Add(-1)
						}
					case 1:
						if fails {
							given.Add(-1)
						} else {
							first := g.GoAfter(nothing)
							g.GoAfter(func(context.Context) error { return body() }, first)
						}
					default:
						g.Go(body)
					}
				}
				var all sync.WaitGroup
				for range 2 {
					seed := rng.Uint64()
					inside := rng.IntN(2) == 0
					all.Go(func() {
						rng := rand.New(rand.NewPCG(seed, 7))
						acts := func(context.Context) error {
							for range 20 {
								act(rng, 3)
							}
							if rng.IntN(2) == 0 {
								_ = g.Wait()
							}
							return nil
						}
						if inside {
							_ = ex.Run(context.Background(), one(acts))
						} else {
							_ = acts(context.Background())
						}
					})
				}
				all.Wait()
				err := g.Wait()
				if !fails {
					require.NoError(t, err)
				}
				require.Equal(t, given.Load(), called.Load())
			}
			require.Zero(t, ex.RunsInProgress())
		})
	}
}
