package graph

import (
	"context"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/hugepage"
	"github.com/magpie-go/magpie/internal/left"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/plan"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A runState is the state of one run of a graph. Runs that follow each other reuse it. It implements executor.Hooks.
type runState struct {
	executor.Body // first: see stateOf

	// Constant while a run is in progress, and read with every task.
	ctx      xatomic.Plain[context.Context]
	records  []record                 // one per task, and a sentinel
	succ     []uint32                 // the plan's
	locals   []xatomic.Pointer[local] // by worker; nil for spares that were not needed, see haveLocals
	graph    *Graph
	plan     *plan.Plan
	special  specials            // the layout's
	values   []madeValue         // results of value tasks, by task; nil if there are none
	limited  map[uint32]limited  // tasks that need permits
	held     *held               // permits that the run has; nil if no task acquires or releases any
	ranks    *ranks              // of the tasks that are ready; nil if all have the same priority
	root     executor.Item       // submitted in place of the sources if there are several, unless Verbatim
	form     form                // of the records
	keeping  *keeping            // nil unless the run goes on after failures
	borrows  bool                // locals are those of the run around this one
	alone    bool                // only workers make tasks available, see Alone
	observed []executor.TaskInfo // told to observers, by task; nil unless form.observed

	_ pad.Line
	// left counts the tasks and spans that are not yet counted done, and the workers between Enter and Leave. A worker
	// counts in its local and adds that to left now and then.
	left left.Count

	// The fields behind left are used seldom. So they take the place of padding, and a run state has 512 bytes.
	part     partOf        // if the run is that of a subflow, or of a module that is run as a whole
	later    xatomic.Int64 // tasks that end later
	failed   xatomic.Int32 // tasks that have failed
	skipped  xatomic.Int32 // tasks that were skipped, as far as the workers have told
	mu       xsync.Mutex
	failures xatomic.Plain[*failures] // under mu while the run is in progress; nil before the first

	outside outsideList

	// semaphores are those of which tasks need permits. OnStop may read it at any time, also after the run is over.
	semaphores xatomic.Pointer[[]*Semaphore]
}

// A record is all the memory that a worker needs to run one task: 32 bytes, half a cache line. Separate arrays take 1.5
// times as long.
type record struct {
	executor.Item // first: see recordOf
	fn            plan.Func
	join          xatomic.JoinCount // armed between runs; with one predecessor it stays at 1 and is never written
	succ          uint32            // index in runState.succ of the first successor, and the number of successors
}

// The upper three bits of a record's succ are the number of successors, or one of two other values. For these, the end
// of the successors is the beginning of those of the next record.
const (
	succShift = 29
	succMask  = 1<<succShift - 1
	succMany  = 6 // more than five successors; in model programs, more than minSpan
	succSpan  = 7 // at least minSpan successors, all with no other predecessor: they are released as one span
)

const _ = uint(succMask - plan.Max) // every offset fits

// A local is the part of a run's state that only one worker uses.
type local struct {
	done   int64          // tasks and spans finished, not yet in left
	skips  int32          // tasks among them that were skipped
	ran    uint64         // tasks of a dynamic run begun in this run
	told   xatomic.Tell64 // a copy of ran
	span   *spanItem      // the span that the worker claims from; its item is in some deque
	owed   uint32         // finished predecessors of owedTo that are not yet counted down
	pooled uint32         // the number of spans in pool
	owedTo *record
	pool   *spanItem // free spans, maxPooled at most
	ready  []uint32  // tasks that a task of a dynamic run has made ready
	named  []bool    // by task: whether a choice has named it already; all false outside choose
	begun  []uint32  // tasks begun by tickets and not ended, the innermost last

	// leaving is an item that has ended and is giving back its permits, and next is the item to run after it; see
	// leave.
	leaving, next *executor.Item
	later         bool // the limited task that has just run ends later

	_ [pad.Size - 24]byte // 256 bytes in all, so that an index is a shift
}

// Begin implements executor.Job: it freezes and validates the graph, unless that is done, and takes a run state.
func (g *Graph) Begin(run *executor.JobRun) (*executor.Item, error) {
	g.mustBe()
	g.checkSealed()
	return g.begin(run, nil, false)
}

// Light implements executor.Job: tasks look at the caller's context.
func (g *Graph) Light() bool { return true }

// begin is Begin of a run that is a part of a run of around, or of no other if around is nil. keepsGoing says that it
// goes on after failures.
func (g *Graph) begin(run *executor.JobRun, around *runState, keepsGoing bool) (*executor.Item, error) {
	first, err := g.beginLocking(run, around, keepsGoing)
	if first != nil && !stateOf(first.Body).alone {
		run.Follow() // OnStop ends tasks that wait. Without the lock: it calls methods of the caller's context
	}
	return first, err
}

func (g *Graph) beginLocking(run *executor.JobRun, around *runState, keepsGoing bool) (*executor.Item, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holdLocked()
	p, err := g.freezeLocked()
	if err != nil || p.Tasks() == 0 {
		g.releaseLocked()
		return nil, err
	}
	form := form{spans: !run.Verbatim(), observed: run.Observed()}
	var r *runState
	if last := len(g.states) - 1; last >= 0 {
		r, g.states = g.states[last], g.states[:last]
	} else {
		r = newRunState(g, p, form)
	}
	r.haveLocals(run, around)
	r.ctx.Set(run.Context())
	if keepsGoing {
		r.keeping = new(keeping)
	}
	r.setForm(form)
	if r.isDynamic() {
		r.rearm()
	}
	switch {
	case run.Verbatim():
		return r.beginWithSources(run), nil
	case r.isDynamic():
		r.left.Start(1)
		return &r.root, nil
	case len(p.Sources) == 1:
		r.left.Start(int64(p.Tasks()))
		return &r.records[p.Sources[0]].Item, nil
	}
	r.left.Start(int64(p.Tasks()) + 1) // the root counts
	return &r.root, nil
}

func newRunState(g *Graph, p *plan.Plan, form form) *runState {
	r := &runState{graph: g, records: hugepage.Make[record](p.Len() + 1)}
	r.Body.Init(r)
	r.fit(p, form)
	return r
}

// fit makes r a state of runs of p. There are as many records, and fields for kinds of tasks are zero.
func (r *runState) fit(p *plan.Plan, form form) {
	g, n := r.graph, p.Len()
	r.plan, r.succ = p, p.Succ
	r.root = executor.Item{Exec: execRoot, Body: &r.Body}
	if g.levels != nil {
		r.ranks = newRanks(r, g.levels)
	}
	if r.isDynamic() {
		r.root.Exec = execDynamicRoot
	}
	if r.special = g.layout.special; r.special.anyMakes() {
		r.values = make([]madeValue, n)
	}
	r.alone = len(g.layout.limits) == 0 && !r.special.anyEndsLater()
	if len(g.layout.limits) > 0 {
		r.limited = make(map[uint32]limited)
	}
	var semaphores []*Semaphore
	var seen map[*Semaphore]bool
	if len(g.layout.limits) > 0 {
		seen = make(map[*Semaphore]bool)
	}
	for _, limits := range g.layout.limits {
		for _, l := range limits {
			if !seen[l.Semaphore] {
				seen[l.Semaphore] = true
				semaphores = append(semaphores, l.Semaphore)
			}
		}
		if r.held == nil && isAcross(limits) {
			r.held = newHeld()
		}
	}
	if semaphores != nil || r.semaphores.Load() != nil {
		published := semaphores // semaphores itself would be on the heap in each graph
		r.semaphores.Store(&published)
	}
	r.setUp(form)
	for i := range n {
		r.fitTask(uint32(i))
	}
	r.records[n].succ = p.Off[n]
	r.limit()
}

// fitTask sets the record of task i.
func (r *runState) fitTask(i uint32) {
	t := &r.records[i]
	t.Exec, t.succ = r.formOf(i)
	t.Body = &r.Body
	t.fn = r.plan.Funcs[i]
	t.join.Arm(max(1, r.plan.Join[i])) // sources are submitted, not counted down: their counters are never read
}

// beginWithSources begins a run in which each source is an item of its own from the beginning (JobRun.Verbatim). It
// returns the first.
func (r *runState) beginWithSources(run *executor.JobRun) *executor.Item {
	sources := r.plan.Sources
	count := r.plan.Tasks()
	if r.isDynamic() {
		count = len(sources) // of the tasks that are ready
	}
	r.left.Start(int64(count))
	item := func(i uint32) *executor.Item { return &r.records[i].Item }
	if r.ranks != nil {
		r.ranks.add(sources...)
		item = func(uint32) *executor.Item { return &r.ranks.ticket }
	}
	if len(sources) > 1 {
		run.BeginWith(func(yield func(*executor.Item) bool) {
			for _, i := range sources[1:] {
				if !yield(item(i)) {
					return
				}
			}
		})
	}
	return item(sources[0])
}

// Fail implements executor.Hooks.
func (r *runState) Fail(w *executor.Worker, it *executor.Item, err error) *executor.Item {
	l := r.local(w)
	if l.leaving != nil && l.leaving == it { // not a ticket's; perhaps a lateEnd's
		return l.finishLeave()
	}
	t := recordOf(it) // roots and spans run no code of the user
	if r.ranks != nil {
		t = r.endTicket(w) // it is a ticket
	}
	if l.leaving == &t.Item {
		return l.finishLeave()
	}
	r.fail(t, err)
	if r.isDynamic() {
		return r.endWithout(w, l, r.index(t))
	}
	l.done++
	return r.release(w, l, t)
}

// Enter implements executor.Hooks.
func (r *runState) Enter(w *executor.Worker) {
	r.left.In(oneWorker)
	r.haveLocal(w)
}

// Alone implements executor.Hooks. Any thread may make a task available that waits for permits, or the end of a task
// that ends later.
func (r *runState) Alone() bool { return r.alone }

// Leave implements executor.Hooks.
func (r *runState) Leave(w *executor.Worker) { r.flush(w, oneWorker) }

// Flush implements executor.Hooks.
func (r *runState) Flush(w *executor.Worker) { r.flush(w, 0) }

// flush subtracts the count of worker w, and more, from left. The worker no longer claims from a span nor owes a count.
func (r *runState) flush(w *executor.Worker, more int64) {
	l := r.local(w)
	l.detach()
	if s := l.settle(); s != nil {
		w.Push(&s.Item)
	}
	n := l.done + more
	l.done = 0
	r.tellSkips(l)
	l.told.Store(l.ran)
	if n != 0 && r.left.Out(n) {
		r.finish(w)
	}
}

// finish ends the run. No other thread touches r until it serves another run.
func (r *runState) finish(w *executor.Worker) {
	var errs []error
	if failures := r.failures.Get(); failures != nil {
		errs = r.errors(failures.all)
	}
	r.failures.Set(nil)
	r.keeping = nil
	clear(r.values)
	r.ctx.Set(nil)
	run, around := r.Run(), r.part
	r.part = partOf{}
	if r.held != nil {
		defer finishRun(w, run, around, errs)
		r.held.giveAll()
		return
	}
	finishRun(w, run, around, errs)
}

func finishRun(w *executor.Worker, run *executor.JobRun, around partOf, errs []error) {
	if around.of != nil {
		defer func() { around.ended(w, run.Wait()) }() // also if an observer, or a function of OnEnd, calls Goexit
	}
	run.Finish(errs...)
}

// Release implements executor.Hooks.
func (r *runState) Release() {
	r.returnLocals()
	r.failed.Store(0)
	r.skipped.Store(0)
	g := r.graph
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.states) < maxIdleStates && !g.sealed {
		g.states = append(g.states, r)
	}
	g.releaseLocked()
}
