package executor_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// bws are the policies that need something of the system.
var bws = []string{"bws-same", "bws-clock", "bws-pull"}

// TestAvailable: New refuses exactly the policies that are not available, and says what to use in their place.
func TestAvailable(t *testing.T) {
	for _, p := range experiment.Policies() {
		missing := experiment.Available(p)
		require.True(t, missing == nil || slices.Contains(bws, p), "policy %v needs something: %v", p, missing)
		ex, err := executor.New(executor.Config{Workers: 1, Experiment: experiment.Options{Policy: p}})
		if missing == nil {
			require.NoError(t, err)
			require.NoError(t, ex.Close())
			continue
		}
		t.Logf("other tests leave policy %v out: %v", p, missing)
		require.ErrorIs(t, missing, errors.ErrUnsupported)
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.ErrorContains(t, err, "use mbws-role")
	}
	require.Error(t, experiment.Available("fair"))
	if runtime.GOOS != "linux" {
		require.Error(t, experiment.Available("bws-same"))
	}
}

// TestPeerStats: thieves ask about busy workers and count the answers. Records judge them, where these are permitted.
func TestPeerStats(t *testing.T) {
	for _, p := range testkit.Usable(bws, experiment.Available) {
		for _, check := range []bool{false, true} {
			ex := newExecutor(t, executor.Config{
				Workers: 3, Experiment: experiment.Options{Policy: p, CheckPeers: check},
			})
			var total experiment.PeerStats
			testkit.Until(t, "a thief asks", func() bool {
				busy := executor.NewJob("busy", func(*executor.Scope) error {
					for start := time.Now(); time.Since(start) < 5*time.Millisecond; {
					}
					return nil
				})
				require.NoError(t, ex.Run(context.Background(), busy))
				eventually(ex.Resting)
				total = ex.Stats().Total.Peers
				return total.SameCPU.Asked > 0
			})
			for _, a := range []experiment.Answers{total.SameCPU, total.StoppedClock} {
				require.LessOrEqual(t, a.Preempted, a.Asked)
				require.LessOrEqual(t, a.FalsePositive+a.FalseNegative+a.Blocked, a.Checked)
				if check {
					require.Equal(t, a.Asked, a.Checked+a.Unknown)
				} else {
					require.Zero(t, a.Checked+a.Unknown)
				}
			}
			if p == "bws-same" {
				require.Zero(t, total.StoppedClock)
			}
			if p != "bws-pull" {
				require.Zero(t, total.Pulls+total.PullsRefused)
			}
		}
	}
	ex := newExecutor(t, executor.Config{Workers: 2})
	require.NoError(t, ex.Run(context.Background(), executor.NewJob("f", func(*executor.Scope) error { return nil })))
	require.Zero(t, ex.Stats().Total.Peers)
}
