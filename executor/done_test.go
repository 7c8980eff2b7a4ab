package executor_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A stopTeller is a context that calls a function when the executor ceases to follow it, which is at the end of the
// Future that was started with it.
type stopTeller struct {
	context.Context
	ended   chan struct{}
	stopped func()
}

func (c *stopTeller) Done() <-chan struct{} { return c.ended }

func (c *stopTeller) AfterFunc(func()) (stop func() bool) {
	return func() bool { c.stopped(); return true }
}

// The channel of Done is closed when anything sees the end of the Future, however early that is.
func TestDoneIsClosedFirst(t *testing.T) {
	for _, isPromise := range []bool{true, false} {
		ex := executor.NewInline(1)
		ctx := &stopTeller{Context: t.Context(), ended: make(chan struct{})}
		p := executor.NewPromise[int](ctx, ex)
		f := p.Future()
		if !isPromise {
			f = executor.Async(ctx, ex, func(context.Context) (int, error) { return 1, nil },
				executor.NewPromise[int](t.Context(), ex).Future())
		}
		early := f.Done()
		var told, called int
		ctx.stopped = func() {
			told++
			_, _ = f.Wait()
			require.True(t, closed(early))
			after := executor.NewPromise[int](t.Context(), ex)
			after.Future().OnEnd(func(int, error) { called++ })
			f.OnEnd(func(int, error) {
				require.True(t, closed(early))
				require.True(t, closed(f.Done()))
				after.Resolve(1)
			})
			executor.Async(t.Context(), ex, func(context.Context) (int, error) {
				require.True(t, closed(early))
				require.True(t, closed(f.Done()))
				called++
				return 0, nil
			}, f)
		}
		p.Resolve(1)
		if !isPromise {
			f.Cancel(errTest)
		}
		require.Equal(t, 1, told)
		require.Equal(t, map[bool]int{true: 2, false: 1}[isPromise], called)
		if isPromise {
			require.NoError(t, ex.Close())
		}
	}
}

// Many goroutines ask for the channel of Done, before and after the end. It is one channel, and it is closed when Wait
// has returned and when what comes after has begun.
func TestDoneAtTheEnd(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			for round := range testkit.Scale(1000) {
				var a executor.Awaitable
				var wait, end func()
				switch round % 3 {
				case 0:
					p := executor.NewPromise[int](t.Context(), ex)
					a, end = p.Future(), func() { p.Resolve(1) }
					wait = func() { _, _ = p.Future().Wait() }
				case 1:
					gate := make(chan struct{})
					f := executor.Async(t.Context(), ex, func(context.Context) (int, error) { <-gate; return 1, nil })
					a, end = f, func() { close(gate) }
					wait = func() { _, _ = f.Wait() }
				case 2:
					gate := make(chan struct{})
					r := ex.Start(t.Context(), one(func(context.Context) error { <-gate; return nil }))
					a, end = r, func() { close(gate) }
					wait = func() { _ = r.Wait() }
				}
				var wg sync.WaitGroup
				channels := make([]<-chan struct{}, 4)
				for i := range channels {
					wg.Go(func() {
						if i > 1 {
							channels[i] = a.Done()
						}
						if wait(); i <= 1 {
							channels[i] = a.Done()
						}
						if !closed(channels[i]) {
							t.Error("Wait has returned, and Done's channel is open")
						}
					})
				}
				end()
				f := executor.Async(t.Context(), ex, func(context.Context) (int, error) {
					if !closed(a.Done()) {
						t.Error("began before the end of what it comes after")
					}
					return 1, nil
				}, a)
				_, err := f.Wait()
				require.NoError(t, err)
				wg.Wait()
				for _, c := range channels {
					require.Equal(t, a.Done(), c)
				}
			}
		})
	})
}

// To a goroutine that has seen the channel of Done closed the Future or Run is over in every way.
func TestDoneIsTheEnd(t *testing.T) {
	inline := executor.NewInline(1)
	onEach(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			for round := range testkit.Scale(1000) {
				f := executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 7, errTest })
				r := ex.Start(t.Context(), one(nothing))
				done, runDone := f.Done(), r.Done()
				for round%2 == 0 && !(closed(done) && closed(runDone)) {
					runtime.Gosched()
				}
				<-done
				called := false
				f.OnEnd(func(n int, err error) { called = n == 7 && err == errTest })
				require.True(t, called)
				require.True(t, closed(executor.Async(t.Context(), inline,
					func(context.Context) (int, error) { return 0, nil }, f).Done()))
				n, err := f.Wait()
				require.Equal(t, 7, n)
				require.Equal(t, errTest, err)

				<-runDone
				called = false
				r.OnEnd(func(err error) { called = err == nil })
				require.True(t, called)
				require.NoError(t, r.Wait())
			}
		})
	})
}

// When Wait has returned the run is over in every way, also if Wait has slept: the limit of a group may be changed.
func TestWaitIsTheEnd(t *testing.T) {
	onEach(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			for range testkit.Scale(100) {
				g := executor.NewGroup(ex)
				g.Go(func() error { time.Sleep(200 * time.Microsecond); return nil })
				require.NoError(t, g.Wait())
				g.SetLimit(1)
			}
		})
	})
}
