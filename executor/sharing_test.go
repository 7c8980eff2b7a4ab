//go:build linux

package executor_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/internal/fixture"
	"github.com/magpie-go/magpie/internal/gat"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A table is a table of allotments, with a job that has a fixed desire.
type table struct {
	t          *testing.T
	path       string
	processors int
	hog        *gat.Job
}

const testCycle = time.Millisecond

func newTable(t *testing.T, processors int) *table {
	tab := &table{t: t, path: filepath.Join(t.TempDir(), "table"), processors: processors}
	var err error
	tab.hog, err = gat.Join(tab.path, processors, testCycle, gat.Terms{Name: "hog", Weight: 1000})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tab.hog.Leave()) })
	return tab
}

// leave has the hog leave n processors to others, and stay alive for some time.
func (tab *table) leave(n int) {
	tab.t.Helper()
	_, err := tab.hog.Update(tab.processors-n, 0, 0)
	require.NoError(tab.t, err)
}

func (tab *table) share() *host.Share {
	return &host.Share{Path: tab.path, Processors: tab.processors, Cycle: testCycle}
}

// keep has the hog leave n processors until the test ends.
func (tab *table) keep(n int) {
	stop := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			tab.leave(n)
			select {
			case <-stop:
				return
			case <-time.After(20 * testCycle):
			}
		}
	})
	tab.t.Cleanup(func() { close(stop); ended.Wait() })
}

// untilShared has a run fork until the executor's figures are as wanted.
func untilShared(t *testing.T, ex *executor.Executor, wanted func(host.ShareStats) bool) {
	t.Helper()
	within(t, ex, func() {
		var stop atomic.Bool
		defer stop.Store(true)
		r := ex.Start(t.Context(), executor.NewJob("forks", func(s *executor.Scope) error {
			for !stop.Load() {
				forkFib(s, 22)
			}
			return nil
		}))
		eventually(func() bool { return wanted(ex.Stats().Share) })
		stop.Store(true)
		require.NoError(t, r.Wait())
	})
}

// TestShareAllotments: while an executor runs, its allotment changes. It keeps to it, and has all its workers again
// when the processors are free.
func TestShareAllotments(t *testing.T) {
	for _, p := range testkit.Thorough(t, usable()) {
		t.Run(p, func(t *testing.T) {
			tab := newTable(t, 4)
			ex := newExecutor(t, executor.Config{
				Workers: 4, Experiment: experiment.Options{Policy: p}, Host: host.Options{Share: tab.share()},
			})
			for _, left := range []int{4, 1, 3, 2, 4} {
				untilShared(t, ex, func(s host.ShareStats) bool {
					tab.leave(left)
					return s.Allotment == left && s.Awake <= left && (left == 4 || s.Resting > 0)
				})
			}
		})
	}
}

// TestShareNewcomers: with one processor and one run that does not end, and whose only boundaries are Forks, other runs
// are begun all the same.
func TestShareNewcomers(t *testing.T) {
	tab := newTable(t, 2)
	ex := newExecutor(t, executor.Config{Workers: 2, Host: host.Options{Share: tab.share()}})
	var stop atomic.Bool
	r := ex.Start(t.Context(), executor.NewJob("endless", func(s *executor.Scope) error {
		for !stop.Load() {
			forkFib(s, 10)
		}
		return nil
	}))
	tab.keep(1)
	within(t, ex, func() {
		eventually(func() bool { s := ex.Stats().Share; return s.Allotment == 1 && s.Awake == 1 && s.Resting == 1 })
		for range 10 {
			require.NoError(t, ex.Run(t.Context(), one(nothing)))
		}
		stop.Store(true)
		require.NoError(t, r.Wait())
	})
}

// TestShareTurns: with one processor, and two runs that do not end, both go on.
func TestShareTurns(t *testing.T) {
	tab := newTable(t, 2)
	ex := newExecutor(t, executor.Config{Workers: 2, Host: host.Options{Share: tab.share()}})
	var calls [2]atomic.Int64
	var stop atomic.Bool
	var runs []*executor.Run
	for i := range calls {
		runs = append(runs, ex.Start(t.Context(), executor.NewJob("endless", func(s *executor.Scope) error {
			for !stop.Load() {
				forkFib(s, 10)
				calls[i].Add(1)
			}
			return nil
		})))
	}
	eventually(func() bool { tab.leave(2); return calls[0].Load() > 0 && calls[1].Load() > 0 })
	tab.keep(1)
	eventually(func() bool { return ex.Stats().Share.Allotment == 1 })
	for range 5 {
		before := [2]int64{calls[0].Load(), calls[1].Load()}
		within(t, ex, func() {
			eventually(func() bool { return calls[0].Load() > before[0] && calls[1].Load() > before[1] })
		})
	}
	stop.Store(true)
	for _, r := range runs {
		require.NoError(t, r.Wait())
	}
}

// TestShareYield: tasks whose only boundaries are Yields rest when the allotment shrinks, in turns.
func TestShareYield(t *testing.T) {
	tab := newTable(t, 2)
	ex := newExecutor(t, executor.Config{Workers: 2, Host: host.Options{Share: tab.share()}})
	var calls [2]atomic.Int64
	var stop atomic.Bool
	var runs []*executor.Run
	for i := range calls {
		runs = append(runs, ex.Start(t.Context(), one(func(ctx context.Context) error {
			for !stop.Load() {
				calls[i].Add(1)
				if err := executor.Yield(ctx); err != nil {
					return err
				}
			}
			return nil
		})))
	}
	eventually(func() bool { tab.leave(2); return calls[0].Load() > 0 && calls[1].Load() > 0 })
	tab.keep(1)
	within(t, ex, func() {
		for range 5 {
			eventually(func() bool { s := ex.Stats().Share; return s.Allotment == 1 && s.Awake == 1 && s.Resting == 1 })
			before := [2]int64{calls[0].Load(), calls[1].Load()}
			eventually(func() bool { return calls[0].Load() > before[0] && calls[1].Load() > before[1] })
		}
		stop.Store(true)
		for _, r := range runs {
			require.NoError(t, r.Wait())
		}
	})
}

// TestShareMeeting: with one processor, tasks that wait for each other outside Blocking meet all the same.
func TestShareMeeting(t *testing.T) {
	tab := newTable(t, 3)
	tab.keep(1)
	ex := newExecutor(t, executor.Config{Workers: 3, Host: host.Options{Share: tab.share()}})
	eventually(func() bool { return ex.Stats().Share.Joined })
	within(t, ex, func() { meetAll(t, ex) })
}

// TestShareBlocking: workers in Blocking use no processor, and are not counted.
func TestShareBlocking(t *testing.T) {
	tab := newTable(t, 4)
	ex := newExecutor(t, executor.Config{Workers: 4, Spares: 4, Host: host.Options{Share: tab.share()}})
	release := make(chan struct{})
	r := ex.Start(t.Context(), fan(4, func(context.Context) error {
		executor.Blocking(func() { <-release })
		return nil
	}))
	within(t, ex, func() {
		eventually(func() bool {
			s := ex.Stats().Share
			return ex.Blocked() == 4 && s.Cycles > 20 && s.Usage == 0 && s.Desire == 1 && s.Awake <= 4
		})
		close(release)
		require.NoError(t, r.Wait())
	})
}

// TestShareSpares: a spare that rests, and is no longer due, is woken to leave, although a task keeps the one processor
// busy and comes to no boundary. Without a table the test allots the processors.
func TestShareSpares(t *testing.T) {
	share := &host.Share{Path: "/dev/null/no table"}
	ex := newExecutor(t, executor.Config{
		Workers: 2, Spares: 1, Host: host.Options{Share: share}, Threads: host.Threads{OnlyBlocking: true},
	})
	ex.SetSpareIdle(2 * time.Millisecond)
	var busy, stop atomic.Bool
	release := make(chan struct{})
	within(t, ex, func() {
		computing := ex.Start(t.Context(), one(func(context.Context) error {
			busy.Store(true)
			eventually(stop.Load)
			return nil
		}))
		eventually(busy.Load)
		blocked := ex.Start(t.Context(), one(func(context.Context) error {
			ex.Allot(1)
			executor.Blocking(func() { <-release })
			return nil
		}))
		eventually(func() bool {
			states := ex.Stats().Gauges.States
			return len(states) == 3 && states[2] == executor.WorkerResting
		})
		close(release)
		<-blocked.Done()
		eventually(func() bool { return ex.Serving() == 0 && ex.Standby() == 0 })
		stop.Store(true)
		<-computing.Done()
	})
}

// TestShareInProcess: executors of one process share by the same table. Together they are allotted no more than there
// is, at any time.
func TestShareInProcess(t *testing.T) {
	tab := newTable(t, 4)
	require.NoError(t, tab.hog.Leave())
	var all sync.WaitGroup
	var stop atomic.Bool
	for i := range 3 {
		ex := newExecutor(t, executor.Config{Name: fmt.Sprint("job", i), Workers: 4, Host: host.Options{Share: tab.share()}})
		all.Go(func() {
			for !stop.Load() {
				if _, err := executor.Call(context.Background(), ex, forkFib, 20); err != nil {
					t.Error(err)
				}
			}
		})
	}
	shared := false
	for begun := time.Now(); !shared || time.Since(begun) < 100*testCycle; {
		s, err := gat.Read(tab.path)
		require.NoError(t, err)
		sum, jobs := 0, 0
		for _, j := range s.Jobs {
			sum += j.Allotment
			if j.Allotment > 0 {
				jobs++
			}
		}
		require.LessOrEqual(t, sum, 4)
		shared = shared || jobs == 3 && sum == 4
	}
	stop.Store(true)
	all.Wait()
}

// TestShareManager: there is a manager while there are runs. It ends when there was none for some time, and at Close.
func TestShareManager(t *testing.T) {
	managers := func(calls ...string) (n int) {
		var stacks bytes.Buffer
		require.NoError(t, pprof.Lookup("goroutine").WriteTo(&stacks, 2))
		for stack := range strings.SplitSeq(stacks.String(), "\n\n") {
			if strings.Contains(stack, "(*sharing).manage(") && containsAll(stack, calls...) {
				n++
			}
		}
		return n
	}
	eventually(func() bool { return managers() == 0 }) // that of another test may be about to end
	share := fixture.Share(t, 2)
	ex, err := executor.New(executor.Config{Workers: 2, Host: host.Options{Share: share}})
	require.NoError(t, err)
	require.Zero(t, managers())
	for range 3 {
		release := make(chan struct{})
		r := ex.Start(t.Context(), one(func(context.Context) error { <-release; return nil }))
		eventually(func() bool { return ex.Stats().Share.Desire > 0 })
		require.Equal(t, 1, managers())
		close(release)
		require.NoError(t, r.Wait())
		eventually(func() bool { return managers() == 0 })
		require.Zero(t, ex.Stats().Share.Desire)
	}
	require.NoError(t, ex.Run(t.Context(), one(nothing)))
	require.NoError(t, ex.Close())
	// Close waits until the manager has said that it ends. Its goroutine may exist for a moment after that.
	require.Zero(t, managers("(*Alarm).Sleep("))
	eventually(func() bool { return managers() == 0 })
}

func TestShareConfig(t *testing.T) {
	_, err := executor.New(executor.Config{Workers: 2, Host: host.Options{Share: &host.Share{
		Weight: -1, Minimum: -2, Maximum: -3, Processors: -4, Cycle: time.Minute, Efficiency: 1.5, Desire: "guess",
		QuotaShare: 2,
	}}})
	for _, s := range []string{
		"Config.Host.Share.Weight is -1: give a positive number, or 0 for 1",
		"Config.Host.Share.Minimum is -2", "Config.Host.Share.Maximum is -3: give a positive number, or 0 for Config.Workers",
		"Config.Host.Share.Processors is -4", "Config.Host.Share.Cycle is 1m0s: give 1ms to 1s, or 0 for 5ms",
		"Config.Host.Share.Efficiency is 1.5: give a number above 0 and at most 1, or 0 for 0.5",
		"Config.Host.Share.Desire is \"guess\": use one of [steal-ratio ready-items]",
		"Config.Host.Share.QuotaShare is 2: give a part of the CPU quota above 0 and below 1, or 0",
	} {
		require.ErrorContains(t, err, s)
	}
	require.Equal(t, "no", host.ShareStats{}.String())
}

// The first programs of TestSilentPrograms on an executor that shares the machine, and is to use fewer processors than
// it has workers: one that sleeps in a task leaves its processor to another, and what it desires is as before when all
// have ended.
func TestSilentAndShare(t *testing.T) {
	tab := newTable(t, 4)
	tab.keep(2)
	ex := newWatched(t, executor.Config{Workers: 4, Host: host.Options{Share: tab.share()}})
	for _, p := range silentPrograms[:4] {
		within(t, ex, func() { p.run(t, ex, 9) })
	}
	require.Positive(t, ex.Stats().SilentBlocks)
	untilShared(t, ex, func(s host.ShareStats) bool { return s.Desire == 4 && s.Allotment == 2 })
	eventually(func() bool { return len(ex.Stats().Gauges.Silent) == 0 })
}

// Forks that are pushed at once are made once, though workers rest at any of them.
func TestPushedForksAndShare(t *testing.T) {
	tab := newTable(t, 2)
	config := executor.Config{
		Workers: 4, Experiment: experiment.Options{Forks: "pushed"}, Host: host.Options{Share: tab.share()},
	}
	tab.keep(2)
	a, b := newExecutor(t, config), newExecutor(t, config)
	const n = 22
	for range testkit.Scale(20) {
		var all sync.WaitGroup
		var calls atomic.Int64
		for _, ex := range []*executor.Executor{a, b} {
			all.Go(func() {
				inScope(t, ex, func(s *executor.Scope) {
					if got := countedFib(s, n, &calls); got != serialFib(n) {
						t.Errorf("got %d, want %d", got, serialFib(n))
					}
				})
			})
		}
		all.Wait()
		require.EqualValues(t, 2*(2*serialFib(n+1)-1), calls.Load())
	}
}

func countedFib(s *executor.Scope, n int, calls *atomic.Int64) int {
	calls.Add(1)
	if n < 2 {
		return n
	}
	f := executor.Fork(s, func(s *executor.Scope, n int) int { return countedFib(s, n, calls) }, n-1)
	y := countedFib(s, n-2, calls)
	return f.Join(s) + y
}
