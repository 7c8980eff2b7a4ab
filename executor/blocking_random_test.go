package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
)

// Many goroutines submit tasks that block, fork, nest and fail at random.
func TestRandomBlocking(t *testing.T) {
	guests.None(t)
	for _, p := range testkit.Thorough(t, usable()) {
		for _, n := range [][2]int{{1, 1}, {1, 3}, {2, 1}, {3, 0}} {
			t.Run(fmt.Sprintf("%v/W=%d/spares=%d", p, n[0], n[1]), func(t *testing.T) {
				ex := newExecutor(t, executor.Config{Workers: n[0], Spares: n[1], Experiment: experiment.Options{Policy: p}})
				ex.SetSpareIdle(300 * time.Microsecond)
				within(t, ex, func() { blockAtRandom(t, ex) })
			})
		}
	}
}

func blockAtRandom(t *testing.T, ex *executor.Executor) {
	seed := testkit.Seed(t)
	var act func(rng *rand.Rand, depth int) error
	act = func(rng *rand.Rand, depth int) (err error) {
		switch rng.IntN(6) {
		case 0:
			executor.Blocking(runtime.Gosched)
		case 1:
			executor.Blocking(func() { time.Sleep(time.Duration(rng.IntN(100)) * time.Microsecond) })
		case 2:
			gate := make(chan struct{})
			go close(gate)
			executor.Blocking(func() { <-gate })
		case 3:
			if depth < 3 {
				inner := rng.Uint64()
				var calls atomic.Int64
				err = ex.Run(t.Context(), fan(1+rng.IntN(5), func(context.Context) error {
					return act(rand.New(rand.NewPCG(inner, uint64(calls.Add(1)))), depth+1)
				}))
			}
		case 4:
			_, err = executor.Call(t.Context(), ex, func(s *executor.Scope, n int) int {
				f := executor.Fork(s, func(*executor.Scope, int) int {
					executor.Blocking(runtime.Gosched)
					return 1
				}, n)
				executor.Blocking(runtime.Gosched)
				return f.Join(s)
			}, 1)
		}
		return err
	}
	var wg sync.WaitGroup
	for s := range uint64(4) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, s))
			for range testkit.Scale(200) {
				sub := rng.Uint64()
				var calls atomic.Int64
				err := ex.Run(t.Context(), fan(1+rng.IntN(10), func(context.Context) error {
					return act(rand.New(rand.NewPCG(sub, uint64(calls.Add(1)))), 0)
				}))
				if err != nil {
					t.Error(err)
				}
				if rng.IntN(10) == 0 {
					err := ex.Run(t.Context(), one(func(context.Context) error {
						executor.Blocking(runtime.Goexit)
						return nil
					}))
					if !errors.Is(err, executor.ErrGoexit) {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	rests(t, ex)
}
