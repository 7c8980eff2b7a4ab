package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// gates are what a future may come after for ever. open ends the gate.
func gates(t *testing.T, ex, other *executor.Executor) map[string]func() (gate executor.Awaitable, open func()) {
	bg := context.Background()
	waits := func(ex *executor.Executor) func() (executor.Awaitable, func()) {
		return func() (executor.Awaitable, func()) {
			p := executor.NewPromise[int](bg, ex)
			return executor.Async(bg, ex, func(context.Context) (int, error) { return 1, nil }, p.Future()),
				func() { p.Resolve(1) }
		}
	}
	return map[string]func() (executor.Awaitable, func()){
		"promise": func() (executor.Awaitable, func()) {
			p := executor.NewPromise[int](bg, ex)
			return p.Future(), func() { p.Resolve(1) }
		},
		"future":                     waits(ex),
		"future of another executor": waits(other),
		"timer": func() (executor.Awaitable, func()) {
			f := executor.Timer(bg, ex, time.Hour)
			return f, func() { f.Cancel(nil) }
		},
		"run": func() (executor.Awaitable, func()) {
			end := make(chan struct{})
			run := ex.Start(bg, executor.NewJob("gate", func(*executor.Scope) error {
				executor.Blocking(func() { <-end })
				return nil
			}))
			return run, func() { close(end); require.NoError(t, run.Wait()) }
		},
		"several": func() (executor.Awaitable, func()) {
			p, q := executor.NewPromise[int](bg, ex), executor.NewPromise[int](bg, other)
			return executor.Async(bg, ex, func(context.Context) (int, error) { return 1, nil }, p.Future(), q.Future()),
				func() { q.Resolve(1); p.Resolve(1) }
		},
	}
}

// TestEndedFutureLeavesWhatItComesAfter: a gate keeps nothing alive of a future that was to come after it and has
// ended.
func TestEndedFutureLeavesWhatItComesAfter(t *testing.T) {
	bg := context.Background()
	cause := errors.New("cause")
	for _, how := range []string{"its context", "Cancel"} {
		ex, other := newExecutor(t, executor.Config{Workers: 2}), newExecutor(t, executor.Config{Workers: 1})
		for name, make := range gates(t, ex, other) {
			t.Run(name+"/"+how, func(t *testing.T) {
				gate, open := make()
				kept := func() weak.Pointer[burden] {
					b := new(burden)
					ctx, cancel := context.WithCancelCause(context.WithValue(bg, b, b))
					f := executor.Async(ctx, ex, func(context.Context) (*burden, error) { return b, nil }, gate, gate)
					if how == "Cancel" {
						f.Cancel(cause)
					} else {
						cancel(cause)
					}
					_, err := f.Wait()
					require.ErrorIs(t, err, cause)
					cancel(nil)
					return weak.Make(b)
				}()
				testkit.Until(t, "the future is freed", func() bool { runtime.GC(); return kept.Value() == nil })
				open()
			})
		}
	}
}

// TestPendingFuturesAreFlat: futures that nobody waits for and whose contexts have ended do not pile up on what they
// come after.
func TestPendingFuturesAreFlat(t *testing.T) {
	ex, other := newExecutor(t, executor.Config{Workers: 2}), newExecutor(t, executor.Config{Workers: 1})
	n := max(20_000, testkit.Count(t, 200_000)) // with fewer, small leaks are within the bound
	for name, make := range gates(t, ex, other) {
		t.Run(name, func(t *testing.T) {
			gate, open := make()
			heap := func() int64 {
				runtime.GC()
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return int64(m.HeapAlloc)
			}
			testkit.Fits(t, func() string {
				before := heap()
				for range n {
					ctx, cancel := context.WithCancel(context.Background())
					executor.Async(ctx, ex, func(context.Context) (int, error) { return 0, nil }, gate)
					cancel()
				}
				if more := heap() - before; more > 1<<20 {
					return fmt.Sprintf("%d bytes for %d futures", more, n)
				}
				return ""
			})
			live := executor.Async(context.Background(), ex, func(context.Context) (int, error) { return 7, nil }, gate)
			open()
			result, err := live.Wait()
			if name != "timer" { // which is cancelled
				require.NoError(t, err)
				require.Equal(t, 7, result)
			}
			testkit.Proved(t, n, "futures after a gate that lives for ever")
		})
	}
}

// TestLongGroupsAreFlat: a group, and its context, that live for ever keep nothing alive of functions and futures that
// have ended, nor does the last of many functions that come after each other.
func TestLongGroupsAreFlat(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g, ctx := executor.GroupWithContext(t.Context(), ex)
	end := make(chan struct{})
	g.Go(func() error { executor.Blocking(func() { <-end }); return nil }) // lives as long as the group
	last := g.GoAfter(func(context.Context) error { return nil })
	for name, use := range map[string]func(b *burden){
		"Go": func(b *burden) { g.Go(func() error { _ = b; return nil }) },
		"GoAfter": func(b *burden) {
			last = g.GoAfter(func(context.Context) error { _ = b; return nil }, last)
		},
		"Async with its context": func(b *burden) {
			_, err := executor.Async(ctx, ex, func(context.Context) (*burden, error) { return b, nil }).Wait()
			require.NoError(t, err)
		},
		"Async that is cancelled": func(b *burden) {
			p := executor.NewPromise[int](ctx, ex)
			executor.Async(ctx, ex, func(context.Context) (*burden, error) { return b, nil }, p.Future()).Cancel(nil)
			p.Resolve(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			kept := make([]weak.Pointer[burden], 100)
			for i := range kept {
				b := new(burden)
				kept[i] = weak.Make(b)
				use(b)
			}
			testkit.Until(t, "what has ended is freed", func() bool {
				runtime.GC()
				for _, b := range kept {
					if b.Value() != nil {
						return false
					}
				}
				return true
			})
		})
	}
	close(end)
	require.NoError(t, g.Wait())
}
