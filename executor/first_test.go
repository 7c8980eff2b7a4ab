package executor_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

type attempt = func(context.Context) (string, error)

// until waits for its context to end.
func until(ctx context.Context) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func TestFirst(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			ctx := t.Context()
			good := func(context.Context) (string, error) { return "good", nil }
			bad := func(context.Context) (string, error) { return "bad", errTest }
			other := errors.New("other")
			for _, fns := range [][]attempt{{good}, {good, bad}, {bad, good, bad}, {good, good}} {
				got, err := executor.First(ctx, ex, fns...)
				require.NoError(t, err)
				require.Equal(t, "good", got)
			}
			got, err := executor.First(ctx, ex, bad, func(context.Context) (string, error) { return "", other })
			require.ErrorIs(t, err, errTest)
			require.ErrorIs(t, err, other)
			require.Empty(t, got)

			// What runs is cancelled, what has not begun is left out.
			if ex.Workers() > 1 {
				got, err = executor.First(ctx, ex, until, good)
				require.NoError(t, err)
				require.Equal(t, "good", got)
			}
			var calls atomic.Int32
			many := make([]attempt, 1000)
			for i := range many {
				many[i] = func(context.Context) (string, error) { calls.Add(1); return "one", nil }
			}
			_, err = executor.First(ctx, ex, many...)
			require.NoError(t, err)
			require.LessOrEqual(t, int(calls.Load()), ex.Workers())

			// A panic is no result, and a failure like others.
			var p *executor.PanicError
			boom := func(context.Context) (string, error) { panic("boom") }
			_, err = executor.First(ctx, ex, bad, boom)
			require.ErrorAs(t, err, &p)
			got, err = executor.First(ctx, ex, boom, good)
			require.NoError(t, err)
			require.Equal(t, "good", got)

			ended, cancel := context.WithCancelCause(ctx)
			cancel(errTest)
			_, err = executor.First(ended, ex, good)
			require.ErrorIs(t, err, errTest)

			// From a task.
			require.NoError(t, ex.Run(ctx, one(func(ctx context.Context) error {
				_, err := executor.First(ctx, ex, bad, good)
				return err
			})))
		})
	})
	ex := newExecutor(t, executor.Config{Workers: 1})
	require.Panics(t, func() { _, _ = executor.First[int](t.Context(), ex) })
	require.Panics(t, func() { _, _ = executor.First[int](t.Context(), ex, nil) })
}

// The Goexit of one function is the failure of that one only: the others go on, and one of them may win.
func TestFirstGoexit(t *testing.T) {
	guests.None(t)
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			var gone atomic.Int32
			leave := func(context.Context) (string, error) {
				defer gone.Add(1)
				runtime.Goexit()
				return "", nil
			}
			late := func(ctx context.Context) (string, error) { // wins once the others are gone, unless it is cancelled
				eventually(func() bool { return gone.Load() == 2 || ex.Workers() == 1 })
				return "late", ctx.Err()
			}
			for _, fns := range [][]attempt{{leave, late, leave}, {late, leave, leave}, {leave, leave, late}} {
				gone.Store(0)
				got, err := executor.First(t.Context(), ex, fns...)
				require.NoError(t, err)
				require.Equal(t, "late", got)
			}
			bad := func(context.Context) (string, error) { return "", errTest }
			_, err := executor.First(t.Context(), ex, leave, bad, leave)
			require.ErrorIs(t, err, executor.ErrGoexit)
			require.ErrorIs(t, err, errTest)
			require.Len(t, parts(err), 3)
		})
	})
}

// With GODEBUG=panicnil=1 a panic with nil is a failure too, although recover returns nil.
func TestFirstPanicNil(t *testing.T) {
	if os.Getenv("MAGPIE_PANICNIL") == "" {
		test := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFirstPanicNil$", "-test.count=1")
		test.Env = append(os.Environ(), "GODEBUG=panicnil=1", "MAGPIE_PANICNIL=1")
		out, err := test.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	ex := newExecutor(t, executor.Config{Workers: 1})
	none := func(context.Context) (string, error) { panic(nil) }
	_, err := executor.First(t.Context(), ex, none)
	require.ErrorIs(t, err, executor.ErrGoexit)
	got, err := executor.First(t.Context(), ex, none, func(context.Context) (string, error) { return "good", nil })
	require.NoError(t, err)
	require.Equal(t, "good", got)
}
