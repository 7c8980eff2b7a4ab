package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// kind is what a task with a fault does besides its work.
type kind uint8

const (
	fails          kind = iota
	failsCanceled       // with an error around context.Canceled, its own
	failsDeadline       // the same with context.DeadlineExceeded
	panics              // with a value
	panicsErr           // with an error
	panicsCanceled      // with context.Canceled
	panicsNil
	exits            // calls runtime.Goexit
	exitsPanicking   // and panics in a deferred function
	panicsExiting    // the other way round
	cancels          // calls Run.Cancel and returns nil
	cancelsNil       // without a cause
	cancelsFails     // and returns an error of its own
	cancelsEchoes    // and returns the context's error
	endsContext      // ends the caller's context, in the way that the script says
	endsContextFails // and returns an error of its own
	endsContextEchoes
	nests     // runs another graph, with a fault, and returns its error
	nestsDeaf // and returns nil
	// On their own the next two are harmless.
	echoes // returns the context's error, nil if there is none
	causes // returns the context's cause
	kinds  // how many there are
)

var kindNames = [kinds]string{"fails", "fails with Canceled", "fails with DeadlineExceeded", "panics", "panics with an error",
	"panics with Canceled", "panics with nil", "exits", "exits, panicking", "panics, exiting", "cancels", "cancels without a cause",
	"cancels and fails", "cancels and echoes", "ends the context", "ends the context and fails", "ends the context and echoes",
	"nests", "nests, deaf", "echoes", "echoes the cause"}

func (k kind) String() string { return kindNames[k] }

func (k kind) cancels() bool { return cancels <= k && k <= cancelsEchoes }
func (k kind) ends() bool    { return endsContext <= k && k <= endsContextEchoes }
func (k kind) nests() bool   { return k == nests || k == nestsDeaf }

// ending is how the context that a run is begun with ends, if it does.
type ending uint8

const (
	endNever       ending = iota // it cannot
	endCancel                    // is cancelled without a cause
	endCause                     // with one
	endDeadline                  // passes its deadline
	endSilently                  // and tells nobody: as if the goroutine with the news came late
	beforeCancel                 // has been cancelled before the run begins
	beforeDeadline               // has passed its deadline by then
)

func (e ending) String() string {
	return [...]string{"cannot end", "cancelled", "cancelled with a cause", "deadline", "silent deadline", "cancelled before", "deadline before"}[e]
}

func (e ending) isBefore() bool { return e >= beforeCancel }

var (
	beginnings = []ending{endNever, endCancel, endCause} // of contexts that nobody ends
	endings    = []ending{endCancel, endCause, endDeadline, endSilently}
)

// A script is what goes wrong in one run.
type script struct {
	faults []fault // of different tasks
	ending ending
}

type fault struct {
	task int
	kind kind
	sub  script // of the run that the task begins
}

func (f fault) String() string {
	if f.kind.nests() {
		return fmt.Sprintf("task %d %v {%v}", f.task, f.kind, f.sub)
	}
	return fmt.Sprintf("task %d %v", f.task, f.kind)
}

func (s script) String() string { return fmt.Sprintf("context %v, faults %v", s.ending, s.faults) }

var (
	errCancelled = errors.New("a task cancelled the run")
	errEnded     = errors.New("the caller's context was ended")
)

// misbehave is the rest of a task with a fault.
func (h *history) misbehave(ctx context.Context, e *entry) error {
	e.ctx = ctx
	switch k := e.fault.kind; k {
	case cancels:
		h.cancelRun(e, errCancelled)
	case cancelsNil:
		h.cancelRun(e, nil)
	case cancelsFails:
		h.cancelRun(e, errCancelled)
		return h.fails(e, errTask)
	case cancelsEchoes:
		h.cancelRun(e, errCancelled)
		return h.fails(e, ctx.Err())
	case endsContext:
		h.endContext(false)
	case endsContextFails:
		h.endContext(false)
		return h.fails(e, errTask)
	case endsContextEchoes:
		h.endContext(false)
		return h.fails(e, ctx.Err())
	case echoes:
		return h.fails(e, ctx.Err())
	case causes:
		return h.fails(e, context.Cause(ctx))
	case fails:
		return h.fails(e, errTask)
	case failsCanceled:
		return h.fails(e, context.Canceled)
	case failsDeadline:
		return h.fails(e, context.DeadlineExceeded)
	case panics:
		return h.panics(e, e)
	case panicsErr:
		return h.panics(e, errTask)
	case panicsCanceled:
		return h.panics(e, context.Canceled)
	case panicsNil:
		return h.panics(e, nil)
	case exits:
		h.ends(e, exited)
		runtime.Goexit()
	case exitsPanicking:
		h.ends(e, panickedOrExited)
		defer explode(errTask)
		runtime.Goexit()
	case panicsExiting:
		h.ends(e, exited)
		defer runtime.Goexit()
		explode(errTask)
	case nests, nestsDeaf:
		if err := h.nest(ctx, e); err != nil && k == nests {
			return h.fails(e, err)
		}
	}
	return h.ends(e, well)
}

// fails notes that the task is about to return an error around err, which is told from those of all others. It returns
// nil if err is nil.
func (h *history) fails(e *entry, err error) error {
	if err == nil {
		return h.ends(e, well)
	}
	e.err = fmt.Errorf("task %d: %w", e.fault.task, err)
	h.ends(e, erred)
	return e.err
}

func (h *history) panics(e *entry, value any) error {
	e.thrown = value
	h.ends(e, panicked)
	return explode(value)
}

// nest runs the model's other graph as the fault says.
func (h *history) nest(ctx context.Context, e *entry) error {
	inner := h.m.nests.newHistory(h.ex, e.fault.sub)
	inner.outer = ctx
	h.mu.Lock()
	h.inner = append(h.inner, inner)
	h.mu.Unlock()
	h.ends(e, exited) // if a task of the inner run calls Goexit on this stack
	inner.start(ctx)
	err := inner.run.Wait()
	inner.outerErr, inner.outerCause = ctx.Err(), context.Cause(ctx)
	inner.outer = nil
	return err
}

// cancelRun cancels the run from one of its tasks.
func (h *history) cancelRun(e *entry, cause error) {
	<-h.begun
	s := stop{begin: h.clock.Add(1), err: context.Canceled, cause: cause, told: true}
	if cause == nil {
		s.cause = context.Canceled
	}
	e.halted = true
	h.run.Cancel(cause)
	h.stopped(s)
}

// endContext ends the context that the run was begun with.
func (h *history) endContext(outside bool) {
	s := stop{begin: h.clock.Add(1), err: context.Canceled, cause: context.Canceled, outside: outside}
	switch h.script.ending {
	case endCause:
		s.cause = errEnded
	case endSilently:
		s.silent = true
		fallthrough
	case endDeadline:
		s.err, s.cause = context.DeadlineExceeded, context.DeadlineExceeded
	}
	h.end()
	h.stopped(s)
}

func (h *history) stopped(s stop) {
	s.end = h.clock.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stops = append(h.stops, s)
}

// start begins the run. Its tasks find the history in the context, unless the model has it.
func (h *history) start(parent context.Context) {
	if h.m.log == nil {
		parent = context.WithValue(parent, historyKey{h.m}, h)
	}
	ctx := parent
	end, release := func() {}, func() {}
	switch h.script.ending {
	case endCancel:
		c, cancel := context.WithCancel(parent)
		ctx, end, release = c, cancel, cancel
	case endCause:
		c, cancel := context.WithCancelCause(parent)
		ctx, end, release = c, func() { cancel(errEnded) }, func() { cancel(nil) }
	case endDeadline, endSilently:
		// Cut off from its parent: what context.Cause says of a context of others' making is else the parent's.
		c := newManualContext(context.WithoutCancel(parent))
		ctx, end = c, sync.OnceFunc(c.expire)
		release = end
		if h.script.ending == endSilently {
			ctx, release = silentContext{c}, func() {}
		}
	case beforeCancel:
		c, cancel := context.WithCancelCause(parent)
		cancel(errEnded)
		ctx = c
		h.stops = append(h.stops, stop{err: context.Canceled, cause: errEnded, told: true})
	case beforeDeadline:
		c, cancel := context.WithDeadlineCause(parent, time.Unix(0, 0), errEnded)
		ctx, release = c, cancel
		h.stops = append(h.stops, stop{err: context.DeadlineExceeded, cause: errEnded, told: true})
	}
	h.end, h.release = end, release
	h.begun = make(chan struct{})
	h.run = h.ex.Start(ctx, h.m.g)
	close(h.begun)
}

// A silentContext is past its deadline when the test says so, and nobody hears of it who does not ask for Err.
type silentContext struct{ *manualContext }

// AfterFunc is what package context looks for in a context of others' making.
func (silentContext) AfterFunc(func()) func() bool { return func() bool { return true } }

// finish waits for the run, and those that its tasks began, and checks them.
func (h *history) finish(t testing.TB) {
	t.Helper()
	err := h.run.Wait()
	h.release()
	for _, inner := range h.inner {
		if outer := inner.outer; outer != nil { // Goexit has unwound the task that waited for it
			<-inner.begun
			_ = inner.run.Wait()
			inner.outerErr, inner.outerCause = outer.Err(), context.Cause(outer)
		}
		inner.finish(t)
	}
	h.check(t, err)
}

// injected is how many faults took effect.
func (h *history) injected() (n int) {
	if h.script.ending.isBefore() {
		n++
	}
	for _, f := range h.script.faults {
		if h.tasks[f.task].fate != unbegun {
			n++
		}
	}
	for _, inner := range h.inner {
		n += inner.injected()
	}
	return n
}

// singles are the faults that stop a run on their own, each with every ending that makes a difference to it.
var singles = func() (all []script) {
	for k := range echoes {
		if !k.ends() {
			all = append(all, script{faults: []fault{{kind: k}}})
			continue
		}
		for _, e := range endings {
			all = append(all, script{faults: []fault{{kind: k}}, ending: e})
		}
	}
	return all
}()

// single is the script number i of singles, at a task.
func (m *model) single(rng *rand.Rand, i, task int) script {
	s := singles[i]
	s.faults = []fault{m.fault(rng, task, s.faults[0].kind)}
	if !s.faults[0].kind.ends() {
		s.ending = beginnings[rng.IntN(len(beginnings))]
	}
	return s
}

// fault is a fault of that kind. What a nested run does is drawn.
func (m *model) fault(rng *rand.Rand, task int, k kind) fault {
	f := fault{task: task, kind: k}
	if !k.nests() {
		return f
	}
	if m.nests == nil {
		m.nests = randomModel(rng, 1+rng.IntN(12))
	}
	if rng.IntN(4) != 0 {
		f.sub = m.nests.single(rng, rng.IntN(len(singles)), rng.IntN(len(m.nests.preds)))
	}
	return f
}

// drawFaults draws a fault for each task with the given probability.
func (m *model) drawFaults(rng *rand.Rand, probability float64) script {
	s := script{ending: endings[rng.IntN(len(endings))]}
	for task := range m.preds {
		if rng.Float64() < probability {
			s.faults = append(s.faults, m.fault(rng, task, kind(rng.IntN(int(kinds)))))
		}
	}
	return s
}

// drawScript draws what one run is to suffer: mostly one fault, sometimes two or many, or a context that is over.
func (m *model) drawScript(rng *rand.Rand) script {
	n := len(m.preds)
	switch rng.IntN(8) {
	case 0:
		return m.drawFaults(rng, 0.3)
	case 1, 2:
		if n < 2 {
			break
		}
		s := m.single(rng, rng.IntN(len(singles)), rng.IntN(n))
		second := m.single(rng, rng.IntN(len(singles)), (s.faults[0].task+1+rng.IntN(n-1))%n)
		s.faults = append(s.faults, second.faults[0])
		if second.faults[0].kind.ends() && !s.faults[0].kind.ends() {
			s.ending = second.ending
		}
		return s
	case 3:
		if rng.IntN(4) == 0 {
			return script{ending: beforeCancel + ending(rng.IntN(2))}
		}
	}
	return m.single(rng, rng.IntN(len(singles)), rng.IntN(n))
}

// A site is an executor that many graphs are run on, one after the other.
type site struct {
	name string
	ex   *executor.Executor
}

func newSites(t *testing.T, workers ...int) (sites []*site) {
	for _, policy := range executor.Policies() {
		for _, w := range workers {
			s := &site{name: fmt.Sprintf("%v/W=%d", policy, w), ex: newExecutor(t, executor.Config{Workers: w, Policy: policy})}
			sites = append(sites, s)
		}
	}
	return sites
}

// muster checks that there are as many workers as ever: whoever calls Goexit is replaced, by one.
func (s *site) muster(t testing.TB) {
	t.Helper()
	w := s.ex.Workers()
	b := newBarrier(w)
	threads := make([]int64, w)
	g := graph.New("muster")
	for i := range w {
		g.Task(func(context.Context) error {
			threads[i] = osthread.ID()
			b.meet()
			return nil
		})
	}
	require.NoError(t, s.ex.Run(context.Background(), g))
	slices.Sort(threads)
	require.Len(t, slices.Compact(threads), w)
}

// everyFault is how large a graph may be to be run with every fault at every task.
const everyFault = 4

// examine runs m on the site without a fault, then with many, and after each without.
func (s *site) examine(t testing.TB, rng *rand.Rand, m *model) (injected int) {
	m.oracle(t)
	m.complete(t, s.ex)
	suffer := func(sc script) {
		injected += m.once(t, s.ex, sc).injected()
		m.complete(t, s.ex)
	}
	switch n := len(m.preds); {
	case n <= everyFault && rng.IntN(16) == 0:
		suffer(script{ending: beforeCancel})
		suffer(script{ending: beforeDeadline})
		for task := range n {
			for i := range singles {
				suffer(m.single(rng, i, task))
			}
		}
	case rng.IntN(8) == 0:
		injected += s.overlap(t, rng, m)
	default:
		for range 1 + rng.IntN(3) {
			suffer(m.drawScript(rng))
		}
	}
	return injected
}

// overlap runs m several times at once, each with faults of its own, and once more without.
func (s *site) overlap(t testing.TB, rng *rand.Rand, m *model) (injected int) {
	before := s.ex.Stats().Total.Tasks
	runs := make([]*history, 2+rng.IntN(4))
	for i := range runs {
		runs[i] = m.newHistory(s.ex, script{})
		if i > 0 {
			runs[i] = m.newHistory(s.ex, m.drawScript(rng))
		}
	}
	for _, h := range runs {
		h.start(context.Background())
	}
	least, most := 0, 0
	for _, h := range runs {
		h.finish(t)
		injected += h.injected()
		l, u := h.counted()
		least, most = least+l, most+u
	}
	runs[0].checkValues(t)
	tasks := int(s.ex.Stats().Total.Tasks - before)
	require.GreaterOrEqual(t, tasks, least)
	require.LessOrEqual(t, tasks, most)
	m.complete(t, s.ex)
	return injected
}

// TestRandomGraphs runs random graphs with faults of every kind at every position, and demands of each run what is
// promised of it: see history.verdict. MAGPIE_SEED is the seed of the first graph.
func TestRandomGraphs(t *testing.T) {
	seed, graphs := testkit.Seed(t), testkit.Count(t, 2000)
	sites := newSites(t, 1, 2, 4, 16)
	injected := 0
	for i := range graphs {
		own := seed + uint64(i)*0x9E3779B97F4A7C15
		s := sites[own%uint64(len(sites))]
		rng := rand.New(rand.NewPCG(own, 0))
		var n int
		switch rng.IntN(16) {
		case 0:
			n = 1 + rng.IntN(400)
		case 1, 2, 3, 4, 5:
			n = 1 + rng.IntN(60)
		default:
			n = 1 + rng.IntN(12)
		}
		m := randomModel(rng, n)
		tell := func() string {
			return fmt.Sprintf("graph %d on %s; to run only this one: MAGPIE_SEED=%d MAGPIE_COUNT=1\n%s", i, s.name, own, m.edges())
		}
		testkit.Within(t, testkit.Patience, func() {
			injected += s.examine(telling{t, tell}, rng, m)
			if i%256 < len(sites) {
				s.muster(telling{t, tell})
			}
		}, dumpOf(s.ex), tell)
	}
	for _, s := range sites {
		within(t, s.ex, func() { s.muster(t) })
	}
	testkit.Proved(t, graphs, "random graphs against the oracle")
	testkit.Proved(t, injected, "faults injected")
}

// telling is a test that tells more of its failures.
type telling struct {
	testing.TB
	tell func() string
}

func (t telling) Errorf(format string, args ...any) {
	t.TB.Helper()
	t.TB.Errorf("%s\n%s", fmt.Sprintf(format, args...), t.tell())
}
