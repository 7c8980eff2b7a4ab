package executor

import "github.com/magpie-go/magpie/internal/xatomic"

// An Item is one unit of work. The layer above embeds it in whatever it wants to run, as package graph does.
//
// Exec runs the item on a worker and returns the item to run next on that worker, or nil. Returning it is how a chain
// of items touches no queue: it is the cache slot of the paper (document 000, Algorithm 3). Items that others may run
// meanwhile go to [Worker.Push]. An Exec may panic or call [runtime.Goexit]: the item's body is told.
//
// An item is in one place at a time: pushed, returned, or being run. One whose Exec is made for that may be in several, also
// run by several workers at once: to the executor it is as many items.
type Item struct {
	Exec func(*Worker, *Item) *Item
	Body *Body
}

// A Body is what the items of one run have in common, as far as the executor reads it. The layer above embeds it in its
// run state and may use it for one run after another; what belongs to one run only is in its [JobRun].
type Body struct {
	hooks   Hooks
	stopper Stopper                // the hooks, if they are one
	run     xatomic.Plain[*JobRun] // set before the first item is seen by a worker, constant until the run has finished
	stop    xatomic.Bool
	forks   bool // constant: the items are forks
}

// NewBody returns a body whose events go to h.
func NewBody(h Hooks) Body {
	stopper, _ := h.(Stopper)
	return Body{hooks: h, stopper: stopper}
}

// Stopped reports whether the run in progress was cancelled or has failed. Items should then do nothing but count
// themselves done. It is a plain load of a word that hardly ever changes: cheap enough for every item. Any thread.
func (b *Body) Stopped() bool { return b.stop.Load() }

// owner is the run in progress, or of a body that serves one after the other the last.
func (b *Body) owner() *Run { return b.run.Get().asRun() }

// Run is the run in progress. Only between the Begin of its job and its Finish.
func (b *Body) Run() *JobRun { return b.run.Get() }

// Hooks is how the executor tells the layer above what items cannot see. All methods are called on a worker.
type Hooks interface {
	// Enter says that worker w turns to items of the body. Enters and Leaves alternate on a worker. A run must not finish
	// between the two: what the worker has counted would be missing.
	Enter(w *Worker)
	// Leave says that worker w has run out of items of the body for now, or turns to those of another.
	Leave(w *Worker)
	// Flush says that worker w is still at it after about a thousand items, that the item it was to run next goes behind
	// others, or that the item being run is about to wait in [Blocking]. What it has counted should now be made visible to
	// others, and what it holds back be pushed.
	Flush(w *Worker)
	// Fail accounts for an item whose Exec did not return, because of err: a [*PanicError] or [ErrGoexit]. It returns
	// the item to run next on this worker, or nil, as Exec would have.
	Fail(w *Worker, it *Item, err error) *Item
	// Release says that the run is over for the body, which may now serve another. [JobRun.Finish] calls it.
	Release()
}

// A Stopper is Hooks that want to know at once when a run is cancelled or has failed, because they hold items back.
type Stopper interface {
	// OnStop is called once for such a run, after [Body.Stopped] has become true, on any thread. The run may be over by then,
	// and the body serve another: what it then makes available too early has to be put aside again.
	OnStop()
}

// A Job is work that an executor can run: a *graph.Graph, a *pipeline.Pipeline, what [Func] returns. Its methods
// are for the executor to call.
type Job interface {
	// Begin prepares one execution of the job and returns its first item, or nil if there is nothing to do. It is called
	// by [Executor.Start] on the calling goroutine. From then on the job owns r's end: [JobRun.Finish] must be called
	// exactly once, when the last item is done, unless Begin returned a nil item or an error.
	Begin(r *JobRun) (*Item, error)
	// Name is for dumps and error messages.
	Name() string
}
