package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/internal/fixture"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// newExecutor makes an executor that lives as long as the test, without stand-ins for tasks that wait outside Blocking:
// on a busy machine a worker may sleep for long because of a garbage collection, and tests say what one worker does.
// See newWatched.
func newExecutor(t testing.TB, cfg executor.Config) *executor.Executor {
	t.Helper()
	cfg.Threads.OnlyBlocking = true
	return newWatched(t, cfg)
}

// newWatched makes an executor that lives as long as the test. If the test has failed it is left behind: Close would
// wait for what hangs.
func newWatched(t testing.TB, cfg executor.Config) *executor.Executor {
	t.Helper()
	ex, err := fixture.New(t, fixture.Beside(t, cfg))
	require.NoError(t, err)
	t.Cleanup(func() {
		if !t.Failed() {
			within(t, ex, func() { require.NoError(t, ex.Close()) })
		}
	})
	return ex
}

// within fails the test, with the state of the executor, if f hangs.
func within(t testing.TB, ex *executor.Executor, f func()) {
	t.Helper()
	testkit.Within(t, testkit.Patience, f, func() string { return dump(ex) })
}

func dump(ex *executor.Executor) string {
	var b strings.Builder
	if err := ex.Dump(&b); err != nil {
		return err.Error()
	}
	return b.String()
}

// someOf returns the numbers of workers that a test tries: all, or one of them if it is to be quick.
func someOf(rng *rand.Rand, workers []int) []int {
	if !testkit.Quick() {
		return workers
	}
	return testkit.DrawBy(rng, workers, 0, 1)
}

// onEach runs a test under several policies: under the first two with each number of workers, and under two others that
// the seed draws, with a number that it draws. If tests are to be quick that is the first with one of the numbers, and
// one other. Each run of all tests so comes to every policy often; MAGPIE_TESTS=all runs each test under all.
func onEach(t *testing.T, workers []int, f func(t *testing.T, ex *executor.Executor)) {
	type setting struct {
		policy  string
		workers int
	}
	var all []setting
	rng := testkit.Drawer(t)
	policies, others := usable(), 2
	first := policies[:2]
	if testkit.Quick() {
		first, others = policies[:1], 1
	}
	some := someOf(rng, workers)
	for i, p := range policies {
		numbers := workers
		if i < len(first) {
			numbers = some
		}
		for _, n := range numbers {
			all = append(all, setting{p, n})
		}
	}
	for _, s := range testkit.DrawBy(rng, all, len(first)*len(some), others) {
		t.Run(fmt.Sprintf("%v/W=%d", s.policy, s.workers), func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: s.workers, Experiment: experiment.Options{Policy: s.policy}})
			within(t, ex, func() { f(t, ex) })
		})
	}
}

// usable are the policies that the system has what they need for.
func usable() []string {
	return testkit.Usable(experiment.Policies(), experiment.Available)
}

// oneOf draws one of a list.
func oneOf[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

// collect is runtime.GC for a task. GC yields after each span that it sweeps. On a worker, which is locked to its
// thread, a yield costs two switches of threads: a minute in all if the heap is large and the machine busy.
func collect() {
	done := make(chan struct{})
	go func() {
		runtime.GC()
		close(done)
	}()
	<-done
}

// eventually waits for a condition that no event announces. The watchdog of the test bounds it.
func eventually(condition func() bool) {
	for spins := 0; !condition(); spins++ {
		if spins < 1000 {
			osthread.Yield()
		} else {
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// comesToRest waits until every worker sleeps and no submitted item is left, and checks the counts by which the policies
// decide. An item for which no worker is woken makes it hang.
func comesToRest(t testing.TB, ex *executor.Executor) {
	t.Helper()
	eventually(func() bool { return ex.AtRest(ex.Workers()) }) // a spare in service sleeps as a worker does
	require.Zero(t, ex.SleepingHelpers())
	require.Zero(t, ex.Actives())
}

// one is a graph of a single task.
func one(f func(context.Context) error) *graph.Graph {
	g := graph.New("one")
	g.Task(f)
	return g
}

// count is a graph of a single task that counts.
func count(n *atomic.Int64) *graph.Graph {
	return one(func(context.Context) error {
		n.Add(1)
		return nil
	})
}

// fan is a graph in which a source precedes n tasks, which precede a sink. Source and sink do nothing.
func fan(n int, f func(context.Context) error) *graph.Graph {
	nothing := func(context.Context) error { return nil }
	g := graph.New("fan")
	source := g.Task(nothing)
	sink := g.Task(nothing)
	for range n {
		t := g.Task(f)
		source.Precede(t)
		t.Precede(sink)
	}
	return g
}

// chain is a graph of n tasks one after the other.
func chain(n int, f func(context.Context) error) *graph.Graph {
	g := graph.New("chain")
	last := g.Task(f)
	for range n - 1 {
		t := g.Task(f)
		last.Precede(t)
		last = t
	}
	return g
}

// A barrier is met by n parties that compute meanwhile: tasks that must all be running at once.
type barrier struct {
	n       int64
	arrived atomic.Int64
}

// meet returns when all parties have come.
func (b *barrier) meet() {
	for b.arrived.Add(1); b.arrived.Load() < b.n; {
		osthread.Yield()
	}
}

// meetAll runs a task for every worker, all of which have to run at once, and returns the threads they ran on.
func meetAll(t testing.TB, ex *executor.Executor) map[int64]bool {
	t.Helper()
	return meet(t, ex, func(f func(context.Context) error) {
		require.NoError(t, ex.Run(t.Context(), fan(ex.Workers(), f)))
	})
}

// meetApart does so with a run for each task, since a worker may hide what it has while it waits for others.
func meetApart(t testing.TB, ex *executor.Executor) {
	t.Helper()
	meet(t, ex, func(f func(context.Context) error) {
		var runs []*executor.Run
		for range ex.Workers() {
			runs = append(runs, ex.Start(t.Context(), one(f)))
		}
		for _, r := range runs {
			require.NoError(t, r.Wait())
		}
	})
}

func meet(t testing.TB, ex *executor.Executor, runOnEach func(func(context.Context) error)) map[int64]bool {
	t.Helper()
	b := barrier{n: int64(ex.Workers())}
	threads := make(chan int64, ex.Workers())
	runOnEach(func(context.Context) error {
		threads <- executor.Thread()
		b.meet()
		return nil
	})
	distinct := make(map[int64]bool)
	for range ex.Workers() {
		distinct[<-threads] = true
	}
	require.Len(t, distinct, ex.Workers(), "tasks that run at once have a thread each")
	return distinct
}

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// outside is what a panic says because of a Scope that is used by another function.
const outside = "a Scope is used outside the function that it was given to"

// mustPanic calls f and demands a panic that says one of these.
func mustPanic(f func(), want ...string) error {
	value := recovered(f)
	told, _ := value.(string)
	for _, w := range want {
		if strings.Contains(told, w) {
			return nil
		}
	}
	if value == nil {
		return errors.New("no panic")
	}
	return errors.New("a panic that says " + told)
}
