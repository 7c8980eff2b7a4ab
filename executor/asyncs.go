package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/left"
	"github.com/magpie-go/magpie/internal/xsync"
)

// asyncs is the state that all futures of an executor share: the body of their items, which behaves as that of one run
// that never ends. It implements Hooks.
type asyncs struct {
	Body
	ex  *executor
	all runParts

	// left counts the futures that have not ended. A worker counts those that it ends in workerParts.futures, and
	// subtracts them when it leaves the body, or at a Flush. While left is not 0, core.running counts all futures as
	// one run. After left has come to 0 the next future starts it anew, under core.mu.
	left left.Count

	over runCalls // left has come to 0; constant

	enlisted enlisted
}

// enlisted holds the futures of an executor that abort cancels one by one: those whose functions have asked their
// context for more than Err, those that come after a future of another executor, and promises with a waiter. Any other
// future that has not begun sees Body.Stopped when a worker takes it.
type enlisted struct {
	mu    xsync.Mutex
	all   map[*future]struct{}
	cause error
	err   error // constant after Body.Stopped is true
}

// allAsyncs is the job of the run of all futures.
type allAsyncs struct{}

func (allAsyncs) Name() string                 { return asyncName }
func (allAsyncs) Begin(*JobRun) (*Item, error) { panic("executor: the run of all futures has begun") }

func (a *asyncs) init(ex *executor) {
	a.ex = ex
	a.Body.Init(a)
	a.all.standFor(&ex.core, allAsyncs{})
	a.run.Set(&a.all.JobRun)
}

// attachTo has the kernel know that futures are in progress.
func (a *asyncs) attachTo(on *attachments) {
	on.works = append(on.works, func() bool { return a.left.Load() != 0 })
	if g := a.ex.guests; g != nil {
		a.ex.asyncSites = &sites[future]{}
		g.quiets.ticked = append(g.quiets.ticked, showLateFutures)
		// D1(close): close, then look for what is withheld. Pairs with D1(keep).
		on.refused = append(on.refused, func() { a.ex.asyncSites.takeIf(all, showFuture) })
	}
}

// countIn counts a future in. It returns false if the executor is closed and w, the calling worker, is nil.
func (a *asyncs) countIn(w *Worker) bool {
	ex := a.ex
	if (w != nil || !ex.closed.Load()) && a.left.TryIn() {
		return true
	}
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.closed.Load() && w == nil {
		return false
	}
	if !a.left.TryIn() {
		ex.running.Add(1)
		ex.attached.busy.make()
		a.left.Start(1)
	}
	return true
}

// countOut counts a future out that worker w has ended, or another thread if w is nil.
func (a *asyncs) countOut(w *Worker) {
	if w != nil && w.body == &a.Body {
		partsOf(w).futures++
		return
	}
	a.leave(1)
}

func (a *asyncs) leave(n int64) {
	if n > 0 && a.left.Out(n) {
		a.over.make(&a.all.Run)
		a.ex.attached.idle.make()
		a.ex.running.Done()
	}
}

// Enter implements Hooks.
func (a *asyncs) Enter(*Worker) {}

// Leave implements Hooks.
func (a *asyncs) Leave(w *Worker) {
	n := partsOf(w).futures
	partsOf(w).futures = 0
	a.leave(n)
}

// Flush implements Hooks.
func (a *asyncs) Flush(w *Worker) { a.Leave(w) }

// Release implements Hooks.
func (a *asyncs) Release() {}

// standFor makes r, which is zero, the run that stands for work of a feature of ex.
func (r *JobRun) standFor(ex *core, j Job) {
	r.core, r.endless, r.job = ex, true, j
	r.ctx = &r.own
	r.own.owner, r.own.parent = r, context.Background() // for Yield
}
