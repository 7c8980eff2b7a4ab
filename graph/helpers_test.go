package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/magpie-go/magpie/internal/testkit/neighbour"
	"github.com/stretchr/testify/require"
)

// newExecutor returns an executor that is closed when the test ends.
func newExecutor(t testing.TB, cfg executor.Config) *executor.Executor {
	t.Helper()
	cfg.Threads.OnlyBlocking = true // on a busy machine a task may seem to sleep, and then there is a worker too many
	cfg.Callers = guests.Callers(t, cfg.Callers, executor.IdleCallers)
	if neighbour.IsWanted() && cfg.Host.Share == nil && cfg.Workers != 0 {
		processors := max(cfg.Workers, 2)
		cfg.Host.Share = &host.Share{
			Path: neighbour.Table(t, processors), Processors: processors, Cycle: neighbour.Cycle,
		}
	}
	ex, err := executor.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { testkit.Within(t, testkit.Patience, func() { _ = ex.Close() }, dumpOf(ex)) })
	return ex
}

func dumpOf(ex *executor.Executor) func() string {
	return func() string {
		var b strings.Builder
		_ = ex.Dump(&b)
		return b.String()
	}
}

// within runs f under the watchdog, which dumps ex.
func within(t testing.TB, ex *executor.Executor, f func()) {
	t.Helper()
	testkit.Within(t, testkit.Patience, f, dumpOf(ex))
}

// run runs g under the watchdog.
func run(t testing.TB, ex *executor.Executor, ctx context.Context, g *graph.Graph) (err error) {
	t.Helper()
	within(t, ex, func() { err = ex.Run(ctx, g) })
	return err
}

// everyExecutor runs f as a subtest for each of a number of workers under the first two policies, and under others that
// the seed draws. The largest number of workers is tried with Config.Experiment.Verbatim, too. If tests are to be quick
// that is the first policy, and one other with a number of workers that is drawn.
func everyExecutor(t *testing.T, workers []int, f func(t *testing.T, ex *executor.Executor)) {
	everyExecutorWith(t, executor.Config{}, workers, f)
}

// everyExecutorWith is everyExecutor for a Config that says more.
func everyExecutorWith(
	t *testing.T, cfg executor.Config, workers []int, f func(t *testing.T, ex *executor.Executor),
) {
	type setting struct {
		name string
		cfg  executor.Config
	}
	var all []setting
	for _, policy := range testkit.Usable(experiment.Policies(), experiment.Available) {
		cfg := cfg
		cfg.Experiment.Policy = policy
		for _, w := range workers {
			cfg.Workers = w
			all = append(all, setting{fmt.Sprintf("%v/W=%d", policy, w), cfg})
		}
		cfg.Workers, cfg.Experiment.Verbatim = slices.Max(workers), true
		all = append(all, setting{fmt.Sprintf("%v/W=%d/verbatim", policy, cfg.Workers), cfg})
	}
	each := len(workers) + 1
	first, others := 2*each, each
	if testkit.Quick() {
		first, others = each, 1
	}
	for _, s := range testkit.Draw(t, all, first, others) {
		t.Run(s.name, func(t *testing.T) { f(t, newExecutor(t, s.cfg)) })
	}
}

func nothing(context.Context) error { return nil }

// parts splits a run's result into the failures of tasks, in the order in which they are joined, and the rest, which
// can only be that the run was cancelled.
func parts(err error) (failed []*graph.TaskError, rest []error) {
	if err == nil {
		return nil, nil
	}
	if e, ok := err.(*graph.TaskError); ok {
		return []*graph.TaskError{e}, nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, []error{err}
	}
	inner := joined.Unwrap()
	if inner[0] == context.Canceled || inner[0] == context.DeadlineExceeded {
		return nil, []error{err} // the other part is the cause: a task's failure too, if it is one of an outer run
	}
	for _, e := range inner {
		f, r := parts(e)
		failed, rest = append(failed, f...), append(rest, r...)
	}
	return failed, rest
}

// taskErrors lists the failures of tasks in err, in the order in which they are joined.
func taskErrors(err error) []*graph.TaskError {
	failed, _ := parts(err)
	return failed
}

// failedTasks lists the names in taskErrors.
func failedTasks(err error) (names []string) {
	for _, e := range taskErrors(err) {
		names = append(names, e.Task)
	}
	return names
}

// A barrier lets a number of goroutines go on when all have come.
type barrier struct {
	mu   sync.Mutex
	need int
	open chan struct{}
}

func newBarrier(party int) *barrier { return &barrier{need: party, open: make(chan struct{})} }

func (b *barrier) meet() {
	b.mu.Lock()
	if b.need--; b.need == 0 {
		close(b.open)
	}
	b.mu.Unlock()
	<-b.open
}

var errTask = errors.New("the task's own error")
