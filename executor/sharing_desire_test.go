//go:build linux

package executor_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestShareAlone: an executor that shares with nobody comes to desire all its workers, under every policy, and desires
// nothing when it has had nothing to do for a while.
func TestShareAlone(t *testing.T) {
	for _, p := range testkit.Part(t, usable()) {
		t.Run(p, func(t *testing.T) {
			tab := newTable(t, 4)
			ex := newExecutor(t, executor.Config{
				Workers: 4, Experiment: experiment.Options{Policy: p}, Host: host.Options{Share: tab.share()},
			})
			s := ex.Stats().Share
			require.True(t, s.Joined)
			require.NoError(t, s.Err)
			require.Zero(t, s.Desire)
			untilShared(t, ex, func(s host.ShareStats) bool { return s.Allotment == 4 })
			eventually(func() bool { s := ex.Stats().Share; return s.Desire == 0 && s.Allotment == 0 })
			require.Contains(t, dump(ex), "sharing: desire 0, allotted 0")
			untilShared(t, ex, func(s host.ShareStats) bool { return s.Allotment == 4 })
		})
	}
}

// TestShareSerial: a run with one task at a time desires few processors, under every policy: with thieves that sleep,
// as many as those awake by the target efficiency, and with thieves that try on, fewer than the workers. Other work on
// the machine may disturb a run, so one of several must show it.
func TestShareSerial(t *testing.T) {
	for _, p := range testkit.Part(t, usable()) {
		t.Run(p, func(t *testing.T) {
			tab := newTable(t, 8)
			ex := newExecutor(t, executor.Config{
				Workers: 8, Experiment: experiment.Options{Policy: p}, Host: host.Options{Share: tab.share()},
			})
			testkit.Fits(t, func() (wrong string) {
				mean := meanDesireOfSerialRun(t, ex)
				if mean >= 7 || p == "adaptive" && mean > 4 {
					wrong = fmt.Sprintf("the mean desire is %.1f", mean)
				}
				return wrong
			})
			usage := ex.Stats().Share.MeanUsage
			require.True(t, usage >= 0.5 && usage <= 8, usage)
		})
	}
}

// meanDesireOfSerialRun runs one task for 40 cycles, and returns the mean desire over the last 30.
func meanDesireOfSerialRun(t *testing.T, ex *executor.Executor) float64 {
	sum, looks := 0, 0
	require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
		for first, last := ex.Stats().Share.Cycles, uint64(0); ; {
			s := ex.Stats().Share
			if s.Cycles != last && s.Cycles > first+10 {
				last = s.Cycles
				sum += s.Desire
				looks++
			}
			if s.Cycles > first+40 {
				return nil
			}
		}
	})))
	return float64(sum) / float64(looks)
}

// TestShareBursts: an executor with a short run now and then desires what each of these can use.
func TestShareBursts(t *testing.T) {
	tab := newTable(t, 4)
	require.NoError(t, tab.hog.Leave())
	share := tab.share()
	share.Cycle = 20 * time.Millisecond
	ex := newExecutor(t, executor.Config{Workers: 4, Host: host.Options{Share: share}})
	within(t, ex, func() {
		for ex.Stats().Share.Desire < 3 {
			require.NoError(t, ex.Run(t.Context(), fan(100, func(context.Context) error {
				for begun := time.Now(); time.Since(begun) < 20*time.Microsecond; {
				}
				return nil
			})))
			time.Sleep(share.Cycle)
		}
	})
}

// TestShareLoopy: a loop that forks the rest of itself, of which never more than one part is ready that no worker has,
// is found to be parallel within ten cycles by "steal-ratio". "ready-items" sees it grow by one a cycle at best.
func TestShareLoopy(t *testing.T) {
	var loop func(s *executor.Scope, until func() bool) int
	loop = func(s *executor.Scope, until func() bool) int {
		if until() {
			return 0
		}
		f := executor.Fork(s, loop, until)
		for begun := time.Now(); time.Since(begun) < 20*testCycle; {
		}
		return f.Join(s) + 1
	}
	testkit.Fits(t, func() (wrong string) { // a busy machine may lose cycles
		tab := newTable(t, 8)
		ex := newExecutor(t, executor.Config{Workers: 8, Host: host.Options{Share: tab.share()}})
		cycles := uint64(0)
		_, err := executor.Call(t.Context(), ex, loop, func() bool {
			s := ex.Stats().Share
			if s.Desire == 8 && cycles == 0 {
				cycles = s.Cycles
			}
			return cycles != 0
		})
		require.NoError(t, err)
		if cycles > 40 {
			wrong = fmt.Sprintf("found after %d cycles", cycles)
		}
		return wrong
	})
}
