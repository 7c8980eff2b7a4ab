package executor_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
)

// A stepper is a job that counts its steps, one after each call of seen, and alerts those that await them.
type stepper struct {
	*layer
	r    *executor.JobRun
	step atomic.Int64
	seen atomic.Int64
}

func newStepper(steps int64) *stepper {
	j := &stepper{}
	j.layer = newLayer("steps", func(w *executor.Worker, _ *executor.Item) *executor.Item {
		for j.step.Load() < steps {
			eventually(func() bool { return j.seen.Load() == j.step.Load() })
			j.step.Add(1)
			j.r.Alert()
		}
		return nil
	})
	return j
}

func (j *stepper) Begin(r *executor.JobRun) (*executor.Item, error) {
	j.r = r
	return j.layer.Begin(r)
}

// follow awaits each step before it lets the next come.
func (j *stepper) follow(steps int64) {
	for step := int64(1); step <= steps; step++ {
		j.r.Await(func() bool { return j.step.Load() >= step })
		j.seen.Store(step)
	}
}

// A state of a run is awaited from outside, from a task of another executor, and from a task of the same, whose worker
// runs what the run consists of meanwhile.
func TestAwait(t *testing.T) {
	const steps = 100
	ex, other := newExecutor(t, executor.Config{Workers: 2}), newExecutor(t, executor.Config{Workers: 1})
	follow := func(ctx context.Context) error {
		j := newStepper(steps)
		r := ex.Start(ctx, j)
		j.follow(steps)
		return r.Wait()
	}
	testkit.Within(t, testkit.Patience, func() {
		require.NoError(t, follow(t.Context()))
		require.NoError(t, other.Run(t.Context(), one(follow)))
	})
	alone := newExecutor(t, executor.Config{Workers: 1, Spares: -1})
	testkit.Within(t, testkit.Patience, func() {
		require.NoError(t, alone.Run(t.Context(), one(func(ctx context.Context) error {
			j := newStepper(1)
			r := alone.Start(ctx, j)
			j.follow(1)
			require.EqualValues(t, 1, j.step.Load())
			return r.Wait()
		})))
	})
}

// A wait for a state that does not come ends with the run. So does one that begins later.
func TestAwaitOfTheEnd(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	never := func() bool { return false }
	waits := func(ctx context.Context) error {
		j := newStepper(0)
		r := ex.Start(ctx, j)
		j.r.Await(never)
		j.r.Await(never)
		require.True(t, r.Progress().Over)
		return r.Wait()
	}
	testkit.Within(t, testkit.Patience, func() {
		for range testkit.Scale(100) {
			require.NoError(t, waits(t.Context()))
			require.NoError(t, ex.Run(t.Context(), one(waits)))
		}
	})
}
