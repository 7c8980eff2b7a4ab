package executor

import "github.com/magpie-go/magpie/internal/xatomic"

// An Item is one unit of work. A layer, such as package graph, embeds it in the type that it wants to run.
//
// Exec runs the item on a worker and returns the item to run next on that worker, or nil. A chain of items that are
// returned touches no queue: the returned item is the cache slot of document 000 (Algorithm 3). In most cases Exec may
// run the next item itself, see [Worker.Continue]. Items that other workers may run meanwhile go to [Worker.Push]. If
// Exec panics or calls [runtime.Goexit], [Hooks.Fail] of the item's body is called.
//
// An item needs an Exec, and a Body that [NewBody] has made. If the first item of a job lacks one of these, Start
// panics. A later item without an Exec fails as one whose Exec panics.
//
// An item is in one place at a time: pushed, returned, or being run. An item whose Exec allows it may be in several
// places, and be run by several workers at once. To the executor it then counts as so many items.
type Item struct {
	Exec func(*Worker, *Item) *Item
	Body *Body
}

// A Body holds what the executor reads of the state that the items of one run share. The layer embeds it in its run
// state, and may use it for one run after another. What belongs to a single run is in the [JobRun].
type Body struct {
	hooks   Hooks
	stopper Stopper                // the hooks, if they implement it
	run     xatomic.Plain[*JobRun] // set before a worker sees the first item, constant until the run has finished
	flags   xatomic.Uint32         // stopped, watched
	single  bool                   // constant: the hooks are a singler
	alone   bool                   // constant: the hooks are a Loner
	memo    xatomic.Uint64         // what a feature remembers of the runs that the body has served
}

// NewBody returns a body with the hooks h.
func NewBody(h Hooks) Body {
	stopper, _ := h.(Stopper)
	_, alone := h.(Loner)
	_, single := h.(singler)
	return Body{hooks: h, stopper: stopper, alone: alone, single: single}
}

// Stopped reports whether the run in progress was cancelled or has failed. Items should then do nothing but count
// themselves done. It is a load of a word that hardly ever changes, cheap enough for every item. Any thread.
func (b *Body) Stopped() bool { return b.flags.Load()&stopped != 0 }

// owner returns the run in progress or, of asyncs, their common run. It is nil if there is none.
func (b *Body) owner() *Run { return b.run.Get().asRun() }

// Run returns the run in progress. It is valid between the job's Begin and [JobRun.Finish].
func (b *Body) Run() *JobRun { return b.run.Get() }

// Hooks tells a layer about events that its items cannot see. All methods but Release are called on a worker.
type Hooks interface {
	// Enter is called when worker w turns to items of the body. Enters and Leaves alternate on a worker. A run must not
	// finish between the two: the worker's counts would be missing.
	Enter(w *Worker)
	// Leave is called when worker w has no more items of the body for now, or turns to those of another.
	Leave(w *Worker)
	// Flush is called after every thousand items or so that worker w has run, when the item that w was to run next goes
	// to the end of a queue, and when the item being run is about to wait, in [Blocking] or for work on the executor.
	// The layer should now make visible what w has counted, and push what w holds back.
	Flush(w *Worker)
	// Fail accounts for an item whose Exec did not return, because of err: a [*PanicError] or [ErrGoexit]. It returns
	// the item to run next on this worker, or nil, as Exec would have.
	Fail(w *Worker, it *Item, err error) *Item
	// Release is called by [JobRun.Finish] when the run no longer needs the body, which may then serve another.
	Release()
}

// A Stopper is Hooks of a layer that holds items back, and must know at once when a run is cancelled or has failed.
type Stopper interface {
	// OnStop is called once for such a run, after [Body.Stopped] has become true, on any thread. The run may be over by
	// then, and the body serve another run. Items of that one which OnStop makes available too early must be held back
	// again.
	OnStop()
}

// A Loner is Hooks of a layer whose tasks do not wait for each other's effects by a channel, a lock or the like, unless
// they say so by [Blocking]. As long as an executor with one worker runs only such items, no other thread sees them,
// and a push and a pop cost no locked instruction.
type Loner interface {
	// Alone reports whether only workers make items of the run in progress available, and only by [Worker.Push] or by
	// returning them. It is called on a worker that turns to the run's items.
	Alone() bool
}

// A singler is Hooks of a layer whose tasks wait for single items, not for the end of a run.
type singler interface {
	// isOlder reports whether item it, which worker w has taken from its lane, was there before the lane had this mark,
	// or comes from another worker.
	isOlder(it *Item, w *Worker, mark uint64) bool
}

// A Job is work that an executor can run: a *graph.Graph, a *pipeline.Pipeline, or what [Func] returns. The executor
// calls its methods.
type Job interface {
	// Begin prepares one execution of the job and returns its first item, or nil if there is nothing to do. It is
	// called by [Executor.Start] on the calling goroutine. If Begin returns an item and no error, the job must call
	// [JobRun.Finish] exactly once, when its last item is done.
	Begin(r *JobRun) (*Item, error)
	// Name returns the job's name for dumps and error messages.
	Name() string
}
