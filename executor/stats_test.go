package executor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/stretchr/testify/require"
)

// After a run's end its tasks are all counted, but not items that only push others.
func TestStatsCountTasks(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		for _, n := range []int{1, 3, 100, 5000} {
			for _, result := range []error{nil, errTest} {
				before := ex.Stats()
				err := ex.Run(t.Context(), fan(n, func(context.Context) error { return result }))
				require.Equal(t, result != nil, errors.Is(err, errTest))
				// Sources and sinks are tasks. A worker may be about to run the next run's first, but there is none.
				total := ex.Stats().Sub(before).Total
				require.EqualValues(t, n+2, total.Tasks+total.Skipped)
				require.Equal(t, result != nil, total.Skipped > 0, "the sink is skipped after a failure")
			}
		}
		require.NoError(t, ex.Run(t.Context(), chain(10, nothing)))
	})
}

// The total is the sum, and a difference is taken field by field.
func TestStatsAddUp(t *testing.T) {
	onEach(t, []int{3}, func(t *testing.T, ex *executor.Executor) {
		first := ex.Stats()
		require.Len(t, first.Workers, 3)
		for range 20 {
			meetAll(t, ex)
		}
		second := ex.Stats()
		var sum executor.WorkerStats
		for _, w := range second.Workers {
			sum.Tasks += w.Tasks
			sum.Skipped += w.Skipped
			sum.Pops += w.Pops
			sum.StealsTried += w.StealsTried
			sum.StealsWon += w.StealsWon
			sum.StealsLost += w.StealsLost
			sum.Parks += w.Parks
			sum.Wakeups += w.Wakeups
			addPeers(&sum.Peers, w.Peers)
		}
		require.Empty(t, cmp.Diff(sum, second.Total))
		d := second.Sub(first)
		require.EqualValues(t, 20*(3+2), d.Total.Tasks)
		for i, w := range d.Workers {
			require.Equal(t, second.Workers[i].Tasks-first.Workers[i].Tasks, w.Tasks)
			require.GreaterOrEqual(t, w.StealsTried, w.StealsWon+w.StealsLost)
		}
		require.Positive(t, d.Total.StealsWon, "tasks that met on three workers were not stolen")
		none := executor.Stats{Workers: make([]executor.WorkerStats, 3), Share: second.Share, Gauges: second.Gauges}
		require.Empty(t, cmp.Diff(none, second.Sub(second)))
	})
}

// Workers are active while they run tasks, and not when the executor rests.
func TestStatsActive(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		var met, asked sync.WaitGroup
		met.Add(ex.Workers())
		asked.Add(ex.Workers())
		require.NoError(t, ex.Run(t.Context(), fan(ex.Workers(), func(context.Context) error {
			met.Done()
			met.Wait()
			n := ex.Stats().Gauges.Active
			asked.Done()
			asked.Wait()
			if n != ex.Workers() {
				return fmt.Errorf("%d of %d workers are active, and all run a task", n, ex.Workers())
			}
			return nil
		})))
		eventually(func() bool { return ex.Stats().Gauges.Active == 0 })
	})
}

// addPeers adds every counter of b.
func addPeers(a *experiment.PeerStats, b experiment.PeerStats) {
	for _, p := range [][2]*experiment.Answers{{&a.SameCPU, &b.SameCPU}, {&a.StoppedClock, &b.StoppedClock}} {
		p[0].Asked += p[1].Asked
		p[0].Preempted += p[1].Preempted
		p[0].Checked += p[1].Checked
		p[0].FalsePositive += p[1].FalsePositive
		p[0].FalseNegative += p[1].FalseNegative
		p[0].Blocked += p[1].Blocked
		p[0].Unknown += p[1].Unknown
	}
	a.Yields += b.Yields
	a.Pulls += b.Pulls
	a.PullsRefused += b.PullsRefused
}

// A worker that never runs out of work publishes its counters all the same.
func TestStatsDuringARun(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		l := newLayer("until cancelled", nil)
		l.first = func(_ *executor.Worker, self *executor.Item) *executor.Item {
			if l.Stopped() {
				return nil
			}
			return self
		}
		r := ex.Start(ctx, l)
		for range 3 {
			seen := ex.Stats().Total.Tasks
			eventually(func() bool { return ex.Stats().Total.Tasks > seen })
		}
		cancel()
		require.ErrorIs(t, r.Wait(), context.Canceled)
	})
}
