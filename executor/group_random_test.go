package executor_test

import (
	"context"
	"fmt"
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
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A groupOracle knows the first error of a group's Waits, which stays. If the group keeps going, failures are added.
type groupOracle struct {
	t     *testing.T
	g     *executor.Group
	keeps bool
	first atomic.Pointer[error]
}

// wait waits for the group, and checks the error.
func (o *groupOracle) wait() error {
	before := o.first.Load()
	err := o.g.Wait()
	switch {
	case err != nil:
		o.first.CompareAndSwap(nil, &err)
	case before != nil:
		o.t.Errorf("Wait has returned %v, and now returns nil", *before)
	}
	switch {
	case before == nil:
	case !o.keeps:
		assert.Equal(o.t, *before, err)
	default:
		assert.Subset(o.t, joined(err), joined(*before))
	}
	return err
}

// mayCall reports whether functions of GoContext may still be called.
func (o *groupOracle) mayCall() bool { return o.keeps || o.first.Load() == nil }

// TestRandomGroup: goroutines and tasks use a group in every way while other goroutines wait, and some functions fail
// or cancel it. Each function that was accepted is called once, or skipped if it may be.
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
				if rng.IntN(2) == 0 {
					ex.HushGroups()
				}
				g := executor.NewGroup(ex)
				g.SetLimit(rng.IntN(4) - 1)
				if rng.IntN(3) == 0 {
					g.SetLimit(1)
				}
				fails := rng.IntN(3) == 0
				o := &groupOracle{t: t, g: g, keeps: rng.IntN(3) == 0}
				if o.keeps {
					g.KeepGoing()
				}
				var given, called, failures atomic.Int64
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
							return fmt.Errorf("failure %d", failures.Add(1))
						case fails && !o.keeps && rng.IntN(200) == 0:
							g.Cancel(errTest)
						}
						return nil
					}
					given.Add(1)
					switch rng.IntN(6) {
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
					case 2:
						given.Add(-1)
						may := o.mayCall()
						g.GoContext(func(context.Context) error {
							if !may {
								t.Error("called after a Wait that has returned an error")
							}
							return nil
						})
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
								_ = o.wait()
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
				err := o.wait()
				if !fails {
					require.NoError(t, err)
				}
				require.Equal(t, given.Load(), called.Load())
			}
			require.Zero(t, ex.RunsInProgress())
		})
	}
}
