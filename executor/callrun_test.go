package executor_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// atCall returns an executor at rest, whose next call runs on the caller.
func atCall(t *testing.T, cfg executor.Config) *executor.Executor {
	t.Helper()
	cfg.Callers = executor.BusyCallers
	ex := newExecutor(t, cfg)
	comesToRest(t, ex)
	return ex
}

func seven(*executor.Scope, int) int { return 7 }

// TestCallAgain: calls from outside that run on the caller allocate nothing, of one type after the first.
func TestCallAgain(t *testing.T) {
	for _, w := range []int{1, 3} {
		ex := atCall(t, executor.Config{Workers: w})
		call := func() {
			got, err := executor.Call(t.Context(), ex, seven, 0)
			require.NoError(t, err)
			require.Equal(t, 7, got)
		}
		ctx := context.Background()
		_, err := executor.Call(ctx, ex, seven, 0)
		require.NoError(t, err)
		require.True(t, ex.KeepsCall())
		testkit.Fits(t, func() (wrong string) {
			if n := allocations(func() { _, _ = executor.Call(ctx, ex, seven, 0) }); n >= 1 {
				return fmt.Sprintf("a call makes %v allocations", n)
			}
			return ""
		})
		_, err = executor.Call(ctx, ex, func(*executor.Scope, string) string { return "other" }, "")
		require.NoError(t, err)
		require.True(t, ex.KeepsCall(), "of another type")
		call()
	}
}

// TestCallReferredTo: a call does not use the run of the one before again if something may refer to that.
func TestCallReferredTo(t *testing.T) {
	var kept context.Context
	var release chan struct{}
	var started *executor.Run
	calls := map[string]func(t *testing.T, ex *executor.Executor, s *executor.Scope){
		"context": func(_ *testing.T, _ *executor.Executor, s *executor.Scope) { kept = s.Context() },
		"child": func(_ *testing.T, _ *executor.Executor, s *executor.Scope) {
			s.Go(func(ctx context.Context) error { kept = ctx; return nil })
		},
		"run within": func(t *testing.T, ex *executor.Executor, _ *executor.Scope) {
			started = ex.Start(t.Context(), one(func(context.Context) error {
				executor.Blocking(func() { <-release })
				return nil
			}))
		},
		"dump":  func(t *testing.T, ex *executor.Executor, _ *executor.Scope) { require.NoError(t, ex.Dump(io.Discard)) },
		"panic": func(*testing.T, *executor.Executor, *executor.Scope) { panic("on purpose") },
	}
	check := func(name string, isFirst bool) {
		fn := calls[name]
		t.Run(fmt.Sprintf("%s/first=%t", name, isFirst), func(t *testing.T) {
			kept, release = nil, make(chan struct{})
			ex := atCall(t, executor.Config{Workers: 1})
			if !isFirst { // the context is of a run that is used again
				_, err := executor.Call(context.Background(), ex, seven, 0)
				require.NoError(t, err)
				require.True(t, ex.KeepsCall())
			}
			call := func(s *executor.Scope, _ int) int { fn(t, ex, s); return 7 }
			_, err := executor.Call(context.Background(), ex, call, 0)
			require.Equal(t, name == "panic", err != nil)
			require.False(t, ex.KeepsCall())
			if started != nil {
				close(release)
				require.NoError(t, started.Wait())
				started = nil
			}
			comesToRest(t, ex)
			for range 2 {
				got, err := executor.Call(context.Background(), ex, func(s *executor.Scope, _ int) int {
					require.False(t, s.Stopped())
					if kept != nil {
						require.ErrorIs(t, kept.Err(), context.Canceled)
					}
					return 7
				}, 0)
				require.NoError(t, err)
				require.Equal(t, 7, got)
			}
			if name != "run within" { // else the spare that has stood in for its task may be on top of those that sleep
				require.True(t, ex.KeepsCall())
			}
		})
	}
	for name := range calls {
		check(name, true)
		check(name, false)
	}
}

// TestCallElsewhere: a call uses no run again of which another thread has run items, and which that thread may be
// ending.
func TestCallElsewhere(t *testing.T) {
	t.Run("child", func(t *testing.T) {
		ex := atCall(t, executor.Config{Workers: 2})
		_, err := executor.Call(context.Background(), ex, func(s *executor.Scope, _ int) int {
			begun := make(chan struct{})
			s.Spawn(func(*executor.Scope) error { close(begun); return nil })
			executor.Blocking(func() { <-begun })
			return 7
		}, 0)
		require.NoError(t, err)
		require.False(t, ex.KeepsCall())
	})
	t.Run("all", func(t *testing.T) {
		ex := atCall(t, executor.Config{Workers: 1, Spares: -1})
		for range 2 {
			begun, release := make(chan struct{}), make(chan struct{})
			other := ex.Start(context.Background(), one(func(context.Context) error {
				close(begun)
				<-release
				return nil
			}))
			<-begun
			go func() {
				eventually(func() bool { return ex.Injected() > 0 })
				close(release)
			}()
			_, err := executor.Call(context.Background(), ex, seven, 0)
			require.NoError(t, err)
			require.False(t, ex.KeepsCall())
			require.NoError(t, other.Wait())
		}
	})
	t.Run("soon", func(t *testing.T) { // while its caller still spins, and does not block
		ex := atCall(t, executor.Config{Workers: 1, Spares: -1})
		for range 100 {
			begun := make(chan struct{})
			other := ex.Start(context.Background(), one(func(context.Context) error {
				close(begun)
				for ex.Injected() == 0 {
					runtime.Gosched()
				}
				return nil
			}))
			<-begun
			_, err := executor.Call(context.Background(), ex, seven, 0)
			require.NoError(t, err)
			require.False(t, ex.KeepsCall())
			require.NoError(t, other.Wait())
		}
	})
}

// TestCallOfContext: the run of a call follows the caller's context, and no later one does.
func TestCallOfContext(t *testing.T) {
	ex := atCall(t, executor.Config{Workers: 1})
	ctx, cancel := context.WithCancel(context.Background())
	_, err := executor.Call(ctx, ex, seven, 0)
	require.NoError(t, err)
	callStopped(t, ex, ctx, cancel)
	_, err = executor.Call(ctx, ex, seven, 0)
	require.ErrorIs(t, err, context.Canceled)
	for range 2 {
		_, err = executor.Call(context.Background(), ex, seven, 0)
		require.NoError(t, err)
	}
}

// TestCallOfRun: a call that follows a run leaves nothing of that to the next call, which follows its own context.
func TestCallOfRun(t *testing.T) {
	ex := atCall(t, executor.Config{Workers: 1})
	g, within := executor.GroupWithContext(context.Background(), ex)
	comesToRest(t, ex)
	_, err := executor.Call(within, ex, seven, 0)
	require.NoError(t, err)
	require.False(t, ex.KeepsCall())
	require.NoError(t, g.Wait())
	comesToRest(t, ex)
	ctx, cancel := context.WithCancel(context.Background())
	callStopped(t, ex, ctx, cancel)
}

// callStopped makes a call that is stopped by its context.
func callStopped(t *testing.T, ex *executor.Executor, ctx context.Context, cancel context.CancelFunc) {
	t.Helper()
	_, err := executor.Call(ctx, ex, func(s *executor.Scope, _ int) int {
		cancel()
		testkit.Until(t, "the call is stopped", s.Stopped)
		return 7
	}, 0)
	require.ErrorIs(t, err, context.Canceled)
}

// A lateContext is a context whose end is told late to what follows it: the thread that does so asks for Err first.
type lateContext struct {
	context.Context
	home       int64 // a thread that does not wait in Err
	ending     bool  // of that thread
	after      func()
	asked, let chan struct{}
}

func (c *lateContext) Done() <-chan struct{} { return c.let }

func (c *lateContext) AfterFunc(f func()) (stop func() bool) {
	c.after = f
	return func() bool { return false }
}

func (c *lateContext) Err() error {
	switch {
	case executor.Thread() != c.home:
		close(c.asked)
		<-c.let
	case !c.ending:
		return nil
	}
	return context.Canceled
}

// TestCallOfLateContext: the end of a call's context does not cancel a later call, although it is told so late.
func TestCallOfLateContext(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ex := atCall(t, executor.Config{Workers: 1})
	ctx := &lateContext{
		Context: context.Background(), home: executor.Thread(), asked: make(chan struct{}), let: make(chan struct{}),
	}
	_, err := executor.Call(ctx, ex, func(s *executor.Scope, _ int) int {
		for range 100 { // so that the run follows the context
			require.False(t, s.Stopped())
		}
		ctx.ending = true
		ctx.after()
		ctx.ending = false
		<-ctx.asked
		return 7
	}, 0)
	require.NoError(t, err)
	_, err = executor.Call(context.Background(), ex, func(s *executor.Scope, _ int) int {
		close(ctx.let)
		time.Sleep(5 * time.Millisecond) // long enough, as a rule, for the end to be told
		require.False(t, s.Stopped())
		return 7
	}, 0)
	require.NoError(t, err)
}

// TestCallGoexit: a call that ends the caller leaves nothing taken.
func TestCallGoexit(t *testing.T) {
	ex := atCall(t, executor.Config{Workers: 1})
	var all sync.WaitGroup
	all.Go(func() {
		_, _ = executor.Call(context.Background(), ex, func(*executor.Scope, int) int { runtime.Goexit(); return 0 }, 0)
		t.Error("the caller goes on")
	})
	all.Wait()
	comesToRest(t, ex)
	_, err := executor.Call(context.Background(), ex, seven, 0)
	require.NoError(t, err)
	require.True(t, ex.KeepsCall())
}

// TestCallKeepsNothing: between calls an executor keeps neither what they were given, nor the Executor itself.
func TestCallKeepsNothing(t *testing.T) {
	ex := atCall(t, executor.Config{Workers: 1})
	freed := make(chan struct{})
	func() {
		arg := new([1 << 10]byte)
		runtime.AddCleanup(arg, func(int) { close(freed) }, 0)
		ctx := context.WithValue(context.Background(), callKey{}, arg)
		_, err := executor.Call(ctx, ex, func(_ *executor.Scope, p *[1 << 10]byte) *[1 << 10]byte { return p }, arg)
		require.NoError(t, err)
		require.True(t, ex.KeepsCall())
	}()
	testkit.Until(t, "the argument is free", func() bool {
		runtime.GC()
		select {
		case <-freed:
			return true
		default:
			return false
		}
	})
	require.False(t, ex.CallKeepsExecutor())
}

// TestCallForgetsTempo: the guest of a call is never quiet, however quick earlier calls of any function were.
func TestCallForgetsTempo(t *testing.T) {
	ex := atCall(t, executor.Config{Workers: 2})
	call := func() {
		_, err := executor.Call(context.Background(), ex, seven, 0)
		require.NoError(t, err)
		require.True(t, ex.KeepsCall())
	}
	call()
	ex.KeptCall().Hush()
	call()
	_, _, count := ex.KeptCall().Tempo()
	require.Zero(t, count)
}

// TestCallsAtOnce: callers at the same time do not share a run.
func TestCallsAtOnce(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	var all sync.WaitGroup
	for c := range 4 {
		all.Go(func() {
			for i := range testkit.Scale(2000) {
				want := int64(c)<<32 | int64(i)
				got, err := executor.Call(context.Background(), ex, func(_ *executor.Scope, x int64) int64 { return x }, want)
				if err != nil || got != want {
					t.Errorf("call %d of caller %d has returned %#x, %v", i, c, got, err)
					return
				}
			}
		})
	}
	all.Wait()
}

type callKey struct{}
