package graph_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A model is a graph whose tasks keep account of what happens to them.
type model struct {
	g     *graph.Graph
	preds [][]int
	names []string
	want  []uint64 // what the tasks compute; see oracle
	nests *model   // what tasks with a fault that nests run
	log   *history // of the run in progress; if there is none, it is in the run's context
}

// A history is what one run did. The plain words in it are on purpose: every edge must order its two tasks, and Run's
// return come after all of them, or the race detector objects.
type history struct {
	m      *model
	ex     *executor.Executor // nil for the serial walk
	script script
	clock  atomic.Int64
	tasks  []entry

	begun   chan struct{} // closed when run is set
	run     *executor.Run
	end     func() // ends the caller's context
	release func() // of what is behind the caller's context

	mu    sync.Mutex
	stops []stop
	inner []*history // of the runs that tasks began

	// A run that a task began may be stopped by the end of the context that it was begun with.
	outer      context.Context
	outerErr   error
	outerCause error
}

// An entry is what one task did.
type entry struct {
	fault *fault // what it is to do
	runs  atomic.Int32
	fate  fate
	// Stamps of the run's clock: when its function began, and when it was about to return, panic or exit.
	start, end int64
	value      uint64
	err        error // erred: what it returned
	thrown     any   // panicked: with what
	halted     bool  // it called Run.Cancel
	ctx        context.Context
	reported   *graph.TaskError
}

// fate is how a task ended.
type fate uint8

const (
	unbegun fate = iota
	well
	erred
	panicked
	exited
	panickedOrExited // it is not said which
)

func (f fate) isFailure() bool { return f > well }

// A stop is an act that ends a run early, and is not a task's failure.
type stop struct {
	begin, end int64 // stamps of the run's clock before and after
	err, cause error
	told       bool // the run knew when the act was over; else it will know when a task fails, or at its end
	silent     bool // not earlier, even
	outside    bool // not a task's act: it may come too late
}

type historyKey struct{ m *model }

func (m *model) newHistory(ex *executor.Executor, s script) *history {
	h := &history{m: m, ex: ex, script: s, tasks: make([]entry, len(m.preds))}
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

// ends notes how a task is about to end.
func (h *history) ends(e *entry, f fate) error {
	e.fate = f
	e.end = h.clock.Add(1)
	return nil
}

// oracle walks the model's plan on this goroutine and keeps what the tasks compute.
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

// check compares what a run did and returned with what is promised.
func (h *history) check(t testing.TB, err error) {
	t.Helper()
	if wrong := h.verdict(err); wrong != nil {
		require.FailNow(t, wrong.Error(), "%v\nresult: %v", h, err)
	}
}

// verdict says what is wrong with a run that is over, with its tasks and its result.
func (h *history) verdict(err error) error {
	if err := h.ordered(); err != nil {
		return err
	}
	if err := h.fewAtOnce(); err != nil {
		return err
	}
	if err := h.skipped(); err != nil {
		return err
	}
	return h.explained(err)
}

// ordered: each task is run at most once, after its predecessors, and only if they ended well. It is not run if one of
// them stopped the run: the task is released after that.
func (h *history) ordered() error {
	for i := range h.tasks {
		e := &h.tasks[i]
		if runs := e.runs.Load(); runs > 1 {
			return fmt.Errorf("task %d ran %d times", i, runs)
		}
		if e.fate == unbegun {
			continue
		}
		for _, p := range h.m.preds[i] {
			switch pred := &h.tasks[p]; {
			case pred.fate == unbegun:
				return fmt.Errorf("task %d ran, its predecessor %d did not", i, p)
			case pred.fate.isFailure():
				return fmt.Errorf("task %d ran after the failure of its predecessor %d", i, p)
			case pred.halted:
				return fmt.Errorf("task %d ran after its predecessor %d had cancelled the run", i, p)
			case pred.end > e.start:
				return fmt.Errorf("task %d began at %d, its predecessor %d ended at %d", i, e.start, p, pred.end)
			}
		}
	}
	return nil
}

// workers is how many tasks may be in progress at a time.
func (h *history) workers() int {
	if h.ex == nil {
		return 1
	}
	return h.ex.Workers()
}

// fewAtOnce: no more tasks are in progress at a time than there are workers.
func (h *history) fewAtOnce() error {
	change := make([]int8, h.clock.Load()+1)
	for i := range h.tasks {
		if e := &h.tasks[i]; e.fate != unbegun {
			change[e.start]++
			change[e.end]--
		}
	}
	inside, most := 0, 0
	for _, c := range change {
		inside += int(c)
		most = max(most, inside)
	}
	if most > h.workers() {
		return fmt.Errorf("%d tasks were in progress at a time, on %d workers", most, h.workers())
	}
	return nil
}

// skipped: a run that has been stopped skips what has not started. A task has if a worker has looked whether it is to
// run, so after the stop each of the other workers may begin one.
func (h *history) skipped() error {
	after := func(stamp int64) (began int) {
		for i := range h.tasks {
			if h.tasks[i].start > stamp {
				began++
			}
		}
		return began
	}
	for _, s := range h.stops {
		if !s.told {
			continue
		}
		if began := after(s.end); began >= h.workers() {
			return fmt.Errorf("%d tasks began after the run was cancelled, on %d workers", began, h.workers())
		}
	}
	if h.workers() > 1 {
		return nil // a failure becomes known some time after its stamp
	}
	for i := range h.tasks {
		if e := &h.tasks[i]; e.fate.isFailure() && after(e.end) > 0 {
			return fmt.Errorf("a task began after task %d had failed", i)
		}
	}
	return nil
}

// explained: the result tells what happened, all of it and nothing else.
func (h *history) explained(result error) error {
	failed, rest := parts(result)
	failures, complete := 0, true
	for i := range h.tasks {
		e := &h.tasks[i]
		complete = complete && e.fate != unbegun
		if e.fate.isFailure() {
			failures++
		}
		if len(failed) > 0 && failed[0].Task == h.m.names[i] {
			e.reported, failed = failed[0], failed[1:]
			if err := e.isReportedWell(h.m.g.Name()); err != nil {
				return fmt.Errorf("task %d: %w", i, err)
			}
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("the failure of task %s is reported twice, or not in the order of tasks", failed[0].Task)
	}
	deliberate, silent := false, true
	for _, s := range h.stops {
		deliberate = deliberate || !s.outside
		silent = silent && s.silent
	}
	if failures == 0 && silent && h.outerErr == nil && !complete {
		return errors.New("nothing stopped the run, and tasks were left out")
	}
	switch {
	case len(rest) > 1:
		return fmt.Errorf("%d parts of the result are not failures of tasks", len(rest))
	case len(rest) == 1:
		return h.explainedByStop(rest[0])
	case failures > 0:
		return h.explainedByFailure()
	case deliberate:
		return errors.New("a task ended the run, and the result does not tell")
	case result != nil:
		return errors.New("an error without a cause")
	case !complete:
		return errors.New("a run without an error left tasks out")
	}
	if ctx := h.context(); ctx != nil && (ctx.Err() != context.Canceled || context.Cause(ctx) != context.Canceled) {
		return fmt.Errorf("after the run its context says %v, cause %v", ctx.Err(), context.Cause(ctx))
	}
	return nil
}

// explainedByStop: the run was first stopped by something that is not a task's failure, which cancelled is to tell.
func (h *history) explainedByStop(cancelled error) error {
	joined, ok := cancelled.(interface{ Unwrap() []error })
	if !ok {
		return fmt.Errorf("a part of the result that is no task's failure: %w", cancelled)
	}
	inner := joined.Unwrap()
	if len(inner) != 2 || !strings.HasPrefix(cancelled.Error(), fmt.Sprintf("run of %q: %v", h.m.g.Name(), inner[0])) {
		return fmt.Errorf("not the error of a cancelled run: %w", cancelled)
	}
	err, cause := inner[0], inner[1]
	if !h.canHaveStopped(err, cause) {
		return fmt.Errorf("nothing that can have been the first to stop the run is told by: %w", cancelled)
	}
	ctx := h.context()
	if ctx == nil {
		return nil // no task with a fault ran
	}
	// A context that ended is seen through the run's before the run is told, and something else may come in between.
	if got := context.Cause(ctx); got != cause && !h.canHaveStopped(nil, got) {
		return fmt.Errorf("the context's cause is %w", got)
	}
	return h.leavesOutEchoes(ctx, nil)
}

// canHaveStopped reports whether something other than a failure can have been the first to stop the run with err, or
// any error if that is nil, and cause.
func (h *history) canHaveStopped(err, cause error) bool {
	if h.outerErr != nil && (err == nil || err == h.outerErr) && cause == h.outerCause {
		return true
	}
	return slices.ContainsFunc(h.stops, func(s stop) bool {
		// What was known before another began was before it.
		late := slices.ContainsFunc(h.stops, func(other stop) bool { return other.told && other.end < s.begin })
		return (err == nil || err == s.err) && cause == s.cause && !late
	})
}

// explainedByFailure: the run was first stopped by a task's failure.
func (h *history) explainedByFailure() error {
	ctx := h.context()
	cause := context.Cause(ctx)
	canBeFirst := false
	for i := range h.tasks {
		e := &h.tasks[i]
		late := slices.ContainsFunc(h.stops, func(s stop) bool { return s.end < e.end })
		if e.reported == nil || late {
			continue
		}
		canBeFirst = true
		if e.reported == cause {
			return h.leavesOutEchoes(ctx, e)
		}
	}
	if !canBeFirst {
		return errors.New("the result tells only of failures, and all of them came after something else had stopped the run")
	}
	// The end of the caller's context is seen through the run's before the run is told.
	if cause == h.outerCause || slices.ContainsFunc(h.stops, func(s stop) bool { return !s.told && s.cause == cause }) {
		return h.leavesOutEchoes(ctx, nil)
	}
	return fmt.Errorf("the context's cause is not what stopped the run: %w", cause)
}

// leavesOutEchoes: every failure is reported but those that only repeat what the context says. The first is reported
// also if it looks like one.
func (h *history) leavesOutEchoes(ctx context.Context, first *entry) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil || cause == nil {
		return fmt.Errorf("after the run its context says %v, cause %v", err, cause)
	}
	for i := range h.tasks {
		e := &h.tasks[i]
		if e == first || !e.fate.isFailure() {
			continue
		}
		echo := e.isEcho(err, cause)
		// It may fail at the same time as something else stops the run. Both are reported then.
		beside := h.outerErr != nil || slices.ContainsFunc(h.stops, func(s stop) bool { return s.end > e.end })
		if echo && e.reported != nil && beside {
			continue
		}
		if echo == (e.reported != nil) {
			return fmt.Errorf("task %d: reported: %v, only repeats %q, cause %q: %v", i, e.reported != nil, err, cause, echo)
		}
	}
	return nil
}

// context is what the run's tasks had, if one with a fault ran.
func (h *history) context() context.Context {
	for i := range h.tasks {
		if ctx := h.tasks[i].ctx; ctx != nil {
			return ctx
		}
	}
	return nil
}

// isEcho reports whether what the task returned only repeats why the run was stopped. A panic never does.
func (e *entry) isEcho(err, cause error) bool {
	var p *executor.PanicError
	return e.fate == erred && !errors.As(e.err, &p) && (errors.Is(e.err, err) || errors.Is(e.err, cause))
}

// isReportedWell compares the report with what the task did.
func (e *entry) isReportedWell(graphName string) error {
	if e.reported.Graph != graphName {
		return fmt.Errorf("reported as of graph %q", e.reported.Graph)
	}
	got := e.reported.Err
	var p *executor.PanicError
	isPanic := errors.As(got, &p) && got == error(p)
	switch e.fate {
	case erred:
		if got == e.err {
			return nil
		}
	case exited, panickedOrExited:
		if got == executor.ErrGoexit || isPanic && e.fate == panickedOrExited {
			return nil
		}
	case panicked:
		if !isPanic {
			break
		}
		var nilPanic *runtime.PanicNilError
		if e.thrown != p.Value && !(e.thrown == nil && errors.As(got, &nilPanic)) {
			return fmt.Errorf("panicked with %v, reported with %v", e.thrown, p.Value)
		}
		if !bytes.Contains(p.Stack, []byte("graph_test.explode(")) {
			return fmt.Errorf("the stack does not show the panic: %s", p.Stack)
		}
		return nil
	}
	return fmt.Errorf("its end (%v, error %v) is reported as: %w", e.fate, e.err, got)
}

// String tells the graph, what its tasks were to do, and what they did.
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

// once runs the model on ex, with nothing else there, and checks what it did.
func (m *model) once(t testing.TB, ex *executor.Executor, s script) *history {
	t.Helper()
	before := ex.Stats().Total.Tasks
	h := m.newHistory(ex, s)
	m.log = h
	h.start(context.Background())
	h.finish(t)
	m.log = nil
	tasks := int(ex.Stats().Total.Tasks - before)
	least, most := h.counted()
	if tasks < least || tasks > most {
		require.FailNow(t, "Stats counts every task of a run once, those that were skipped too",
			"%d were counted, not %d to %d\n%v", tasks, least, most, h)
	}
	return h
}

// counted is how many tasks Stats must and may count: all of a run, those that were skipped too. A nested run that was
// begun on a cancelled context adds none.
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

// complete runs the model on ex, with no fault and nothing else there.
func (m *model) complete(t testing.TB, ex *executor.Executor) {
	t.Helper()
	m.once(t, ex, script{}).checkValues(t)
}

// checkValues: what the tasks computed is what they should have.
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

func size(rng *rand.Rand) int {
	if rng.IntN(3) == 0 {
		return 1 + rng.IntN(10)
	}
	return 1 + rng.IntN(400)
}

var oracleWorkers = []int{1, 2, 4, 8}

// TestOracle compares runs of random graphs with a sequential walk of the same plan.
func TestOracle(t *testing.T) {
	seed := testkit.Seed(t)
	everyExecutor(t, oracleWorkers, func(t *testing.T, ex *executor.Executor) {
		for i := range testkit.Scale(150) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			m := randomModel(rng, size(rng))
			m.oracle(t)
			within(t, ex, func() {
				for range 4 {
					m.complete(t, ex)
				}
			})
		}
	})
}

// TestOracleFaults does the same with tasks that fail in every way they can, also many of one run. After each such run
// the same graph must run completely: nothing of a failed run may be left in what the graph keeps for the next.
func TestOracleFaults(t *testing.T) {
	seed := testkit.Seed(t)
	everyExecutor(t, oracleWorkers, func(t *testing.T, ex *executor.Executor) {
		for i := range testkit.Scale(120) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			m := randomModel(rng, size(rng))
			m.oracle(t)
			probability := []float64{0.005, 0.05, 0.5, 1}[rng.IntN(4)]
			within(t, ex, func() {
				for range 3 {
					m.once(t, ex, m.drawFaults(rng, probability))
					m.complete(t, ex)
				}
			})
		}
	})
}

// TestOracleOverlap runs one graph many times at once, some of the runs with a task that fails. Each run has its
// history in its context, so this also shows that values come through.
func TestOracleOverlap(t *testing.T) {
	seed := testkit.Seed(t)
	everyExecutor(t, oracleWorkers, func(t *testing.T, ex *executor.Executor) {
		for i := range testkit.Scale(10) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			m := randomModel(rng, size(rng))
			m.oracle(t)
			// Fails in those runs whose context is cancelled before they get there.
			s := script{faults: []fault{{task: rng.IntN(m.g.Len()), kind: echoes}}, ending: endCause}
			before := ex.Stats().Total.Tasks
			const submitters, each = 8, 6
			within(t, ex, func() {
				var done sync.WaitGroup
				for n := range submitters {
					done.Go(func() {
						for k := range each {
							h := m.newHistory(ex, s)
							h.start(context.Background())
							doomed := (n+k)%3 == 0
							if doomed {
								h.endContext(true)
							}
							h.finish(t)
							if h.run.Wait() == nil {
								h.checkValues(t)
							} else if !doomed {
								require.FailNow(t, "nobody ended this run", "%v", h)
							}
						}
					})
				}
				done.Wait()
			})
			require.EqualValues(t, submitters*each*m.g.Len(), ex.Stats().Total.Tasks-before)
		}
	})
}

// TestOracleManyGraphs runs different graphs at once, so that workers turn from one run to another all the time.
func TestOracleManyGraphs(t *testing.T) {
	seed := testkit.Seed(t)
	everyExecutor(t, oracleWorkers, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			var done sync.WaitGroup
			for s := range 6 {
				done.Go(func() {
					for i := range testkit.Scale(20) {
						rng := rand.New(rand.NewPCG(seed, uint64(1000*s+i)))
						m := randomModel(rng, size(rng))
						var faults script
						if rng.IntN(2) == 0 {
							faults = m.drawFaults(rng, 0.05)
						}
						h := m.newHistory(ex, faults)
						m.log = h
						h.start(context.Background())
						h.finish(t)
					}
				})
			}
			done.Wait()
		})
	})
}
