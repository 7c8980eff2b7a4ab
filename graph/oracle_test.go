package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A fault is what a task of a model graph does besides its work.
type fault uint8

const (
	none     fault = iota
	fails          // returns an error
	panics         // with a value of its own
	panicErr       // with an error
	panicNil
	exits   // runtime.Goexit
	cancels // the run, and returns nil
	nests   // runs another graph: not a failure
	echoes  // returns the context's error, nil if there is none
	faults  // how many there are
)

// A model is a graph whose tasks keep account of what happens to them.
type model struct {
	g     *graph.Graph
	preds [][]int
	fault []fault
	armed bool // faults happen
	// inner is what tasks with the fault nests run. ex is the executor that the run is on.
	inner *graph.Graph
	ex    *executor.Executor
	log   *history // of the run in progress, if its context has none
}

// A history is what one run did. The plain words in it are on purpose: every edge must order its two tasks, and Run's
// return come after all of them, or the race detector objects.
type history struct {
	m       *model
	clock   atomic.Int64
	runs    []atomic.Int32 // how often the task was begun
	start   []int64
	end     []int64 // 0 if the task did not return
	value   []uint64
	failed  []bool
	cancel  func(cause error)
	stopped atomic.Bool // some task has cancelled the run
}

type historyKey struct{}

var errCancelled = errors.New("a task cancelled the run")

func (m *model) newHistory() *history {
	n := len(m.preds)
	return &history{m: m, runs: make([]atomic.Int32, n), start: make([]int64, n), end: make([]int64, n),
		value: make([]uint64, n), failed: make([]bool, n)}
}

// randomModel draws a graph of n tasks. Fans may have hundreds of tasks, with and without a common sink; joins too.
func randomModel(rng *rand.Rand, n int) *model {
	m := &model{g: graph.New("model"), preds: make([][]int, n), fault: make([]fault, n), inner: graph.New("inner")}
	if rng.IntN(2) == 0 {
		m.g.Reserve(rng.IntN(2*n), rng.IntN(4*n))
	}
	tasks := make([]graph.Task, n)
	// A task's place in the topological order is not its number.
	order := rng.Perm(n)
	if rng.IntN(2) == 0 {
		slices.Sort(order)
	}
	for i := range tasks {
		tasks[i] = m.g.Task(func(ctx context.Context) error { return m.body(ctx, i) })
	}
	edge := func(a, b int) { // places in the order
		from, to := order[a], order[b]
		m.preds[to] = append(m.preds[to], from)
		if rng.IntN(2) == 0 {
			tasks[from].Precede(tasks[to])
		} else {
			tasks[to].Succeed(tasks[from])
		}
	}
	switch rng.IntN(4) {
	case 0: // any density
		density := rng.Float64()
		density *= density * density
		for b := range n {
			for a := range b {
				if rng.Float64() < density {
					edge(a, b)
				}
			}
		}
	case 1: // fans of fans: a tree with few inner nodes
		for b := 1; b < n; b++ {
			edge(rng.IntN(1+b/20), b)
		}
	case 2: // fans that end in a sink each, some with chains in between
		for at := 0; at < n-2; {
			width := min(1+rng.IntN(40), n-at-2)
			chained := rng.IntN(3) == 0
			for i := range width {
				if chained && i > 0 && i%3 != 0 {
					edge(at+i, at+i+1) // goes on with the task before it
				} else {
					edge(at, at+i+1)
				}
				edge(at+i+1, at+width+1)
			}
			at += width + 1
		}
	case 3: // layers, each task with a few predecessors in the layer before
		for at, before := 0, 0; at < n; {
			width := min(1+rng.IntN(60), n-at)
			for b := at; b < at+width; b++ {
				for range min(at-before, rng.IntN(5)) {
					edge(before+rng.IntN(at-before), b) // also twice the same
				}
			}
			before, at = at, at+width
		}
	}
	sum := new(atomic.Int64)
	first := m.inner.Task(nothing)
	for range rng.IntN(12) {
		first.Precede(m.inner.Task(func(context.Context) error { sum.Add(1); return nil }))
	}
	return m
}

func (m *model) body(ctx context.Context, i int) error {
	h := m.log
	if h == nil {
		h = ctx.Value(historyKey{}).(*history)
	}
	h.start[i] = h.clock.Add(1)
	h.runs[i].Add(1)
	v := uint64(i) + 1
	for _, p := range m.preds[i] {
		v += h.value[p]
	}
	h.value[i] = v * 0x9E3779B97F4A7C15
	if m.armed {
		if err := h.misbehave(ctx, i); err != nil {
			h.failed[i] = true
			return err
		}
	}
	h.end[i] = h.clock.Add(1)
	return nil
}

func (h *history) misbehave(ctx context.Context, i int) error {
	f := h.m.fault[i]
	// The last three do not fail by themselves.
	h.failed[i] = f != none && f < cancels
	switch f {
	case fails:
		return errTask
	case panics:
		panic(i)
	case panicErr:
		panic(errTask)
	case panicNil:
		panic(nil)
	case exits:
		runtime.Goexit()
	case cancels:
		h.stopped.Store(true)
		h.cancel(errCancelled)
	case nests:
		if err := h.m.ex.Run(ctx, h.m.inner); err != nil {
			return fmt.Errorf("inner: %w", err)
		}
	case echoes:
		return ctx.Err()
	}
	return nil
}

// check compares what a run did and returned with what the graph allows.
func (h *history) check(t testing.TB, err error) {
	t.Helper()
	complete := true
	for i, preds := range h.m.preds {
		ran := h.runs[i].Load()
		if ran > 1 {
			require.FailNow(t, "a task ran more than once", "task %d ran %d times", i, ran)
		}
		if ran == 0 {
			complete = false
			continue
		}
		for _, p := range preds {
			if h.end[p] == 0 || h.end[p] > h.start[i] {
				require.FailNow(t, "an edge was not respected", "task %d began at %d, its predecessor %d ended at %d (0: it failed or never ran)",
					i, h.start[i], p, h.end[p])
			}
		}
	}
	// Whatever failed is reported, in order, and nothing else; but for tasks that only say that they were cancelled.
	var must, may []string
	for i, failed := range h.failed {
		if h.runs[i].Load() == 0 || !failed {
			continue
		}
		name := "#" + strconv.Itoa(i)
		may = append(may, name)
		if f := h.m.fault[i]; f < cancels {
			must = append(must, name)
		}
	}
	got := failedTasks(err)
	require.Subset(t, got, must)
	require.Subset(t, may, got)
	require.Len(t, got, len(slices.Compact(slices.Clone(got))))
	require.True(t, slices.IsSortedFunc(taskErrors(err), func(a, b *graph.TaskError) int {
		x, _ := strconv.Atoi(a.Task[1:])
		y, _ := strconv.Atoi(b.Task[1:])
		return x - y
	}), "failures stand in the order of tasks: %v", got)
	if err == nil {
		require.True(t, complete, "a run without an error left tasks out")
		require.Empty(t, must)
	} else if len(must) == 0 {
		require.True(t, h.stopped.Load(), "nothing failed and nobody cancelled: %v", err)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, errCancelled)
	}
}

// oracle walks the model's plan on this goroutine.
func (m *model) oracle(t testing.TB) *history {
	t.Helper()
	p, err := plan.Of(m.g)
	require.NoError(t, err)
	h := m.newHistory()
	m.log, m.armed = h, false
	ran, err := plan.NewSerial(p).Run(context.Background())
	m.log = nil
	require.NoError(t, err)
	require.Equal(t, m.g.Len(), ran)
	h.check(t, nil)
	return h
}

// once runs the model on ex and checks what it did.
func (m *model) once(t testing.TB, ex *executor.Executor, armed bool) *history {
	t.Helper()
	h := m.newHistory()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	h.cancel = cancel
	m.log, m.armed, m.ex = h, armed, ex
	before := ex.Stats().Total.Tasks
	err := ex.Run(ctx, m.g)
	tasks := int(ex.Stats().Total.Tasks - before)
	m.log = nil
	h.check(t, err)
	// A nested run adds its own tasks, or none if it was begun on a cancelled context.
	nested := 0
	for i, f := range m.fault {
		if armed && f == nests && h.runs[i].Load() > 0 {
			nested++
		}
	}
	require.GreaterOrEqual(t, tasks, m.g.Len(), "Stats counts every task of a run once, those that were skipped too")
	require.LessOrEqual(t, tasks, m.g.Len()+nested*m.inner.Len())
	if nested > 0 {
		require.Zero(t, (tasks-m.g.Len())%m.inner.Len())
	}
	return h
}

// drawFaults gives each task a fault with the given probability.
func (m *model) drawFaults(rng *rand.Rand, probability float64) {
	for i := range m.fault {
		m.fault[i] = none
		if rng.Float64() < probability {
			m.fault[i] = 1 + fault(rng.IntN(int(faults-1)))
		}
	}
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
			want := m.oracle(t)
			within(t, ex, func() {
				for range 4 {
					h := m.once(t, ex, false)
					require.Equal(t, want.value, h.value, "graph %d", i)
				}
			})
		}
	})
}

// TestOracleFaults does the same with tasks that fail in every way they can. After each such run the same graph must
// run completely: nothing of a failed run may be left in what the graph keeps for the next.
func TestOracleFaults(t *testing.T) {
	seed := testkit.Seed(t)
	everyExecutor(t, oracleWorkers, func(t *testing.T, ex *executor.Executor) {
		for i := range testkit.Scale(120) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			m := randomModel(rng, size(rng))
			want := m.oracle(t)
			probability := []float64{0.005, 0.05, 0.5, 1}[rng.IntN(4)]
			within(t, ex, func() {
				for range 3 {
					m.drawFaults(rng, probability)
					h := m.once(t, ex, true)
					if ex.Workers() == 1 {
						checkNothingAfterFailure(t, h)
					}
					h = m.once(t, ex, false)
					require.Equal(t, want.value, h.value, "graph %d", i)
				}
			})
		}
	})
}

// checkNothingAfterFailure: with one worker, no task begins after one has failed or has cancelled the run; and a
// failure skips only what was not begun.
func checkNothingAfterFailure(t testing.TB, h *history) {
	t.Helper()
	var failure, last int64
	for i := range h.runs {
		if h.runs[i].Load() == 0 {
			continue
		}
		last = max(last, h.start[i])
		if h.failed[i] {
			require.Zero(t, failure, "two tasks failed, one after the other")
			failure = h.start[i]
		}
	}
	if failure != 0 {
		require.Equal(t, failure, last, "a task began after another had failed")
	}
}

// TestOracleOverlap runs one graph many times at once, some of the runs with a task that fails. Each run has its
// history in its context, so this also shows that values come through.
func TestOracleOverlap(t *testing.T) {
	seed := testkit.Seed(t)
	everyExecutor(t, oracleWorkers, func(t *testing.T, ex *executor.Executor) {
		for i := range testkit.Scale(10) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			m := randomModel(rng, size(rng))
			want := m.oracle(t)
			victim := rng.IntN(m.g.Len())
			m.ex, m.armed = ex, true
			m.fault[victim] = echoes // fails in those runs whose context is cancelled before they get there
			before := ex.Stats().Total.Tasks
			const submitters, each = 8, 6
			within(t, ex, func() {
				var done sync.WaitGroup
				for s := range submitters {
					done.Go(func() {
						for k := range each {
							h := m.newHistory()
							ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), historyKey{}, h))
							h.cancel = cancel
							r := ex.Start(ctx, m.g)
							doomed := (s+k)%3 == 0
							if doomed {
								h.stopped.Store(true)
								cancel(errCancelled)
							}
							err := r.Wait()
							cancel(nil)
							if err == nil || !doomed {
								if err != nil || !slices.Equal(want.value, h.value) {
									t.Errorf("graph %d: run %d of submitter %d: error %v, right values: %v", i, k, s, err, slices.Equal(want.value, h.value))
								}
								continue
							}
							if !errors.Is(err, context.Canceled) {
								t.Errorf("graph %d: a cancelled run ended with %v", i, err)
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
						if rng.IntN(2) == 0 {
							m.drawFaults(rng, 0.05)
						}
						h := m.newHistory()
						ctx, cancel := context.WithCancelCause(context.Background())
						h.cancel = cancel
						m.log, m.armed, m.ex = h, true, ex
						err := ex.Run(ctx, m.g)
						cancel(nil)
						h.check(t, err)
					}
				})
			}
			done.Wait()
		})
	})
}
