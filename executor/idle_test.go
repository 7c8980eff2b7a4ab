package executor_test

import (
	"context"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

var adaptive = []int{1, 2, 3, 8}

// Under the adaptive policy the other workers sleep while one worker has all the work.
func TestOthersSleepDuringALongTask(t *testing.T) {
	for _, n := range adaptive {
		ex := newExecutor(t, executor.Config{Workers: n})
		within(t, ex, func() {
			require.NoError(t, ex.Run(t.Context(), fan(50, nothing)))
			gate := make(chan struct{})
			r := ex.Start(t.Context(), one(func(context.Context) error {
				<-gate
				return nil
			}))
			eventually(func() bool { return ex.AtRest(n - 1) })
			parks := ex.Stats().Total.Parks
			time.Sleep(time.Duration(testkit.Scale(50)) * time.Millisecond)
			require.Equal(t, parks, ex.Stats().Total.Parks, "a worker got up without a reason")
			close(gate)
			require.NoError(t, r.Wait())
		})
	}
}

// The published policy keeps one thief awake as long as any worker is active, but no more than one.
func TestOneThiefDuringALongTask(t *testing.T) {
	for _, n := range []int{2, 3, 8} {
		ex := newExecutor(t, executor.Config{Workers: n, Experiment: experiment.Options{Policy: "adaptive-published"}})
		within(t, ex, func() {
			gate := make(chan struct{})
			r := ex.Start(t.Context(), one(func(context.Context) error {
				<-gate
				return nil
			}))
			eventually(func() bool { return ex.Actives() == 1 && ex.Thieves() == 1 && ex.Parked() == n-2 })
			close(gate)
			require.NoError(t, r.Wait())
		})
	}
}

// Without work every worker sleeps, and the counts by which the policies decide are back to zero. Then no worker wakes
// up any more.
func TestQuiescence(t *testing.T) {
	guests.None(t)
	onEach(t, adaptive, func(t *testing.T, ex *executor.Executor) {
		for range 3 {
			require.NoError(t, ex.Run(t.Context(), fan(100, func(ctx context.Context) error {
				return ex.Run(ctx, fan(3, nothing))
			})))
			require.ErrorIs(t, ex.Run(t.Context(), fan(5, goexit)), executor.ErrGoexit)
			comesToRest(t, ex)
		}
		// Under the published policy a worker that was notified may not have got up yet, so the first look may be
		// early. A worker that gets up now and then without a reason never lets two looks agree.
		for before := ex.Stats().Total; ; {
			time.Sleep(time.Duration(testkit.Scale(300)) * time.Millisecond)
			now := ex.Stats().Total
			if now == before && ex.Parked() == ex.Workers() {
				break
			}
			before = now
		}
	})
}
