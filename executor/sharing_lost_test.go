//go:build linux

package executor_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/internal/fixture"
	"github.com/magpie-go/magpie/internal/gat"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestShareUnusable: without a usable table an executor works alone, and says why.
func TestShareUnusable(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign")
	require.NoError(t, os.WriteFile(foreign, []byte("somebody's notes, not a table"), 0o600))
	open := filepath.Join(dir, "open")
	require.NoError(t, os.WriteFile(open, nil, 0o600))
	require.NoError(t, os.Chmod(open, 0o666))
	tab := newTable(t, 4)
	for name, c := range map[string]struct {
		share host.Share
		says  string
	}{
		"no directory":     {host.Share{Path: filepath.Join(dir, "none", "table")}, "no such file"},
		"a directory":      {host.Share{Path: dir}, "directory"},
		"foreign":          {host.Share{Path: foreign}, "not a table"},
		"writable":         {host.Share{Path: open}, "others may write it"},
		"other cycle":      {host.Share{Path: tab.path, Processors: 4, Cycle: 7 * time.Millisecond}, "7ms"},
		"other processors": {host.Share{Path: tab.path, Processors: 3, Cycle: testCycle}, "3"},
	} {
		ex := newExecutor(t, executor.Config{Workers: 2, Host: host.Options{Share: &c.share}})
		s := ex.Stats().Share
		require.False(t, s.Joined, name)
		require.ErrorContains(t, s.Err, c.says, name)
		require.Contains(t, dump(ex), "sharing: alone: ", name)
		n, err := executor.Call(t.Context(), ex, forkFib, 20)
		require.NoError(t, err)
		require.Equal(t, 6765, n)
	}
}

// TestShareLost: the table's file is truncated under running executors. They work alone from then on, with all workers.
//
// Under the race detector an atomic operation is two accesses. The first faults in Go code, where the fault becomes an
// error. The second is in the detector's code, on the system stack, where a fault ends the process. If the page goes
// between the two, the test cannot pass: repeated alone, it ends the process within two minutes.
func TestShareLost(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector accesses the page that is lost: TestShareLostWhileIdle loses it while nobody looks")
	}
	tab := newTable(t, 2)
	require.NoError(t, tab.hog.Leave())
	a := newExecutor(t, executor.Config{Name: "a", Workers: 2, Host: host.Options{Share: tab.share()}})
	b := newExecutor(t, executor.Config{Name: "b", Workers: 2, Host: host.Options{Share: tab.share()}})
	untilShared(t, a, func(s host.ShareStats) bool { return s.Allotment == 2 && s.Cycles > 0 })
	cycles := a.Stats().Share.Cycles
	require.NoError(t, os.Truncate(tab.path, 0))
	for _, ex := range []*executor.Executor{a, b} {
		untilShared(t, ex, func(s host.ShareStats) bool { return s.Err != nil && !s.Joined })
		require.ErrorIs(t, ex.Stats().Share.Err, gat.ErrLost)
		within(t, ex, func() { meetAll(t, ex) })
	}
	require.GreaterOrEqual(t, a.Stats().Share.Cycles, cycles)
}

// TestShareCounters: the counters of an executor that shares keep their values after Close.
func TestShareCounters(t *testing.T) {
	tab := newTable(t, 2)
	ex := newExecutor(t, executor.Config{Workers: 2, Host: host.Options{Share: tab.share()}})
	untilShared(t, ex, func(s host.ShareStats) bool {
		tab.leave(1)
		return s.Cycles > 0 && s.Rests > 0 && s.MeanUsage > 0
	})
	before := ex.Stats().Share
	require.NoError(t, ex.Close())
	after := ex.Stats().Share
	require.False(t, after.Joined)
	require.GreaterOrEqual(t, after.Cycles, before.Cycles)
	require.GreaterOrEqual(t, after.Rests, before.Rests)
	require.Positive(t, after.MeanUsage)
	require.Zero(t, after.Allotment)
}

// TestShareLostWhileIdle: the table's file is truncated while the executor has no run, and so does not look at it. Its
// next run begins on the truncated file. Neither that run nor Close faults: the run ends as it should, and the executor
// is alone soon after, with all its workers.
func TestShareLostWhileIdle(t *testing.T) {
	for _, length := range []int64{0, 1, 8, 100} { // in the mapping's first page, which stays in part, and none of it
		for _, before := range []int{0, 1} { // runs before
			tab := newTable(t, 2)
			require.NoError(t, tab.hog.Leave())
			a := newExecutor(t, executor.Config{Name: "a", Workers: 2, Host: host.Options{Share: tab.share()}})
			b, err := executor.New(executor.Config{Name: "b", Workers: 2, Host: host.Options{Share: tab.share()}})
			require.NoError(t, err)
			for range before {
				untilShared(t, a, func(s host.ShareStats) bool { return s.Allotment == 2 })
				// The manager tells the table the desire before it ends, and the allotment is known after that.
				eventually(func() bool { s := a.Stats().Share; return s.Desire == 0 && s.Allotment == 0 })
			}
			require.NoError(t, os.Truncate(tab.path, length))
			require.True(t, a.Stats().Share.Joined, "an idle executor does not look")
			require.NoError(t, b.Close())
			for range 3 {
				n, err := executor.Call(t.Context(), a, forkFib, 15)
				require.NoError(t, err)
				require.Equal(t, 610, n)
			}
			untilShared(t, a, func(s host.ShareStats) bool { return s.Err != nil && !s.Joined })
			require.ErrorIs(t, a.Stats().Share.Err, gat.ErrLost)
			within(t, a, func() { meetAll(t, a) })
		}
	}
}

// TestShareStops: an executor that shares can be closed at any time, and leaves nothing in the table.
func TestShareStops(t *testing.T) {
	share := fixture.Share(t, 3)
	for i := range testkit.Scale(100) {
		ex, err := executor.New(executor.Config{Name: "stops", Workers: 3, Host: host.Options{Share: share}})
		require.NoError(t, err)
		r := ex.Start(t.Context(), executor.NewJob("fib", func(s *executor.Scope) error {
			forkFib(s, i%25)
			return nil
		}))
		within(t, ex, func() { require.NoError(t, ex.Close()) })
		require.NoError(t, r.Wait())
		s, err := gat.Read(share.Path)
		require.NoError(t, err)
		for _, j := range s.Jobs {
			require.False(t, j.Name == "stops" && j.Alive)
		}
	}
}
