package graph_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
	"github.com/stretchr/testify/require"
)

// A model is a graph whose tasks record their execution.
type model struct {
	g     *graph.Graph
	preds [][]int
	names []string
	want  []uint64 // the values that the tasks compute; see oracle
	nests *model   // run by tasks with a fault that nests
	log   *history // of the run in progress; if there is none, it is in the run's context
}

// A history records one run. Its words are plain on purpose: the race detector checks that every edge orders its two
// tasks, and that Run returns after all of them.
type history struct {
	caller
	m     *model
	ex    *executor.Executor // nil for the serial walk
	tasks []entry
	inner []*history // of the runs that tasks began; under mu

	result error

	// A run that a task began may be stopped by the end of the context that it was begun with.
	outer      context.Context
	outerErr   error
	outerCause error
}

// An entry records one task.
type entry struct {
	fault *fault // to act out
	runs  atomic.Int32
	fate  fate
	// Stamps of the run's clock: when its function began, and when it was about to return, panic or exit.
	start, end int64
	value      uint64
	err        error // erred: the returned error
	thrown     any   // panicked: the value
	halted     bool  // it called Run.Cancel
	ctx        context.Context
	late       bool // at its end the context had ended
	reported   *graph.TaskError
}

// fate is the way in which a task ended.
type fate uint8

const (
	unbegun fate = iota
	well
	erred
	panicked
	exited
	panickedOrExited // unspecified which
)

func (f fate) isFailure() bool { return f > well }

type historyKey struct{ m *model }

func (m *model) newHistory(ex *executor.Executor, s script) *history {
	h := &history{caller: newCaller(s, new(atomic.Int64)), m: m, ex: ex, tasks: make([]entry, len(m.preds))}
	for i := range s.faults {
		f := &s.faults[i]
		h.tasks[f.task].fault = f
	}
	return h
}

func (m *model) body(ctx context.Context, i int) error {
	h := m.log
	if h == nil {
		h = ctx.Value(historyKey{m}).(*history)
	}
	e := &h.tasks[i]
	e.start = h.clock.Add(1)
	e.runs.Add(1)
	e.ctx = ctx
	v := uint64(i) + 1
	for _, p := range m.preds[i] {
		v += h.tasks[p].value
	}
	e.value = v * 0x9E3779B97F4A7C15
	if e.fault != nil {
		return h.misbehave(ctx, e)
	}
	return h.ends(e, well)
}

// oracle walks the model's plan on this goroutine and keeps the values that the tasks compute.
func (m *model) oracle(t testing.TB) {
	t.Helper()
	p, err := plan.Of(m.g)
	require.NoError(t, err)
	h := m.newHistory(nil, script{})
	m.log = h
	ran, err := plan.NewSerial(p).Run(context.Background())
	m.log = nil
	require.NoError(t, err)
	require.Equal(t, m.g.Len(), ran)
	m.want = make([]uint64, ran)
	for i := range h.tasks {
		m.want[i] = h.tasks[i].value
	}
	h.check(t, nil)
}

// workers returns the number of tasks that may be in progress at a time.
func (h *history) workers() int {
	if h.ex == nil {
		return 1
	}
	return h.ex.Workers()
}

// context returns the context of the run's tasks, nil if none ran on an executor.
func (h *history) context() context.Context {
	if h.ex == nil {
		return nil
	}
	for i := range h.tasks {
		if ctx := h.tasks[i].ctx; ctx != nil {
			return ctx
		}
	}
	return nil
}

// String returns the graph, the faults of its tasks, and their records.
func (h *history) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "graph %q: %s\n", h.m.g.Name(), h.m.edges())
	if h.ex != nil {
		fmt.Fprintf(&b, "on %d workers; ", h.ex.Workers())
	}
	fmt.Fprintf(&b, "script: %v\n", h.script)
	for _, s := range h.stops {
		fmt.Fprintf(&b, "stopped at %d to %d: %v, cause %v\n", s.begin, s.end, s.err, s.cause)
	}
	if h.outerErr != nil {
		fmt.Fprintf(&b, "the outer run's context: %v, cause %v\n", h.outerErr, h.outerCause)
	}
	for i := range h.tasks {
		if e := &h.tasks[i]; e.runs.Load() > 0 {
			fmt.Fprintf(&b, "task %d: %d to %d, fate %d, error %v\n", i, e.start, e.end, e.fate, e.err)
		} else {
			fmt.Fprintf(&b, "task %d: not run\n", i)
		}
	}
	return b.String()
}

// once runs the model on an ex that is otherwise idle, and checks its history.
func (m *model) once(t testing.TB, ex *executor.Executor, s script) *history {
	t.Helper()
	before := ex.Stats()
	h := m.newHistory(ex, s)
	m.log = h
	h.start(context.Background())
	h.finish(t)
	m.log = nil
	checkStats(t, ex.Stats().Sub(before), h)
	return h
}

// checkStats compares what Stats has counted with histories.
func checkStats(t testing.TB, s executor.Stats, all ...*history) {
	t.Helper()
	calls, least, most := 0, 0, 0
	for _, h := range all {
		l, m := h.counted()
		calls, least, most = calls+h.calls(), least+l, most+m
	}
	if got := int(s.Total.Tasks); got != calls {
		require.FailNow(t, "Stats counts every task once", "%d were counted, not %d\n%v", got, calls, all)
	}
	if got := calls + int(s.Total.Skipped); got < least || got > most {
		require.FailNow(t, "Stats counts the tasks that were skipped", "with these it counts %d, not %d to %d\n%v",
			got, least, most, all)
	}
}

// calls returns the number of tasks that were run.
func (h *history) calls() (n int) {
	for i := range h.tasks {
		if h.tasks[i].fate != unbegun {
			n++
		}
	}
	for _, inner := range h.inner {
		n += inner.calls()
	}
	return n
}

// counted returns the least and the largest number of tasks that Stats may count: all of a run, including those that
// were skipped. A nested run that was begun on a cancelled context adds none.
func (h *history) counted() (least, most int) {
	if h.script.ending.isBefore() {
		return 0, 0
	}
	least, most = h.m.g.Len(), h.m.g.Len()
	for _, inner := range h.inner {
		l, m := inner.counted()
		if inner.ran() {
			least += l
		}
		most += m
	}
	return least, most
}

// complete runs the model without faults on an ex that is otherwise idle.
func (m *model) complete(t testing.TB, ex *executor.Executor) {
	t.Helper()
	m.once(t, ex, script{}).checkValues(t)
}

// checkValues compares the values that the tasks computed with the oracle's.
func (h *history) checkValues(t testing.TB) {
	t.Helper()
	for i := range h.tasks {
		if h.tasks[i].value != h.m.want[i] {
			require.FailNow(t, "a task did not see what its predecessors computed", "task %d\n%v", i, h)
		}
	}
}

// ran reports whether any task was run.
func (h *history) ran() bool {
	for i := range h.tasks {
		if h.tasks[i].fate != unbegun {
			return true
		}
	}
	return false
}
