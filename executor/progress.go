package executor

// Progress says how far a run is, see [Run.Progress].
//
// It has no number of the tasks that are ready and wait for a worker. Of a graph with a known Total nothing counts
// them: a task with one predecessor has no counter that changes, a task that becomes ready is often the one that its
// worker runs next, and one item in a deque may stand for many ready tasks. A counter would cost each task an atomic
// operation. [Gauges.Pending] tells how many items wait for a worker, as far as they can be seen, for all runs of the
// executor together. If Total is 0, Left − Running − Waiting is about the number of ready tasks.
type Progress struct {
	// Total is the number of tasks of the run. It is 0 if the job does not know it in advance, as a graph with
	// conditions and a pipeline do not. A run of [Func] is one task. Of [Times] and [Until] each run counts as one.
	Total int64
	// Done is the number of tasks that have ended, including those skipped after a failure or cancellation. Of a
	// pipeline it is the number of tokens that have come through. [Until] skips none: it does not know how many there
	// would be.
	Done int64
	// Left is Total − Done: tasks that wait for others are among them. If Total is 0, Left is the number of tasks that
	// are ready or run. It then rises and falls, and tells nothing of the tasks to come: a bar of Done/(Done+Left)
	// would go back.
	Left int64
	// Running is the number of workers that have turned to the run. They run its tasks, wait inside them, or look
	// whether there are more. Workers that run only items of nested runs are not counted.
	Running int
	// Waiting is the number of tasks of a graph that have begun and hold no worker: external tasks that wait for their
	// end, subflows, and modules that are run as a whole. Left includes them.
	Waiting int64
	// Over says that the run has ended, with an error or without.
	Over bool
}

// A Progresser is Hooks of a layer that can tell how far a run is.
type Progresser interface {
	// Progress returns all but Over. It is called on any thread while the run is in progress, and once at its end,
	// before Release, when Running and Waiting do not matter. It is called under a lock of the run and must not call
	// methods of the run.
	Progress() Progress
}

// Progress returns how far the run is, for a progress bar, say. The run of a job whose layer is no [Progresser] tells
// no more than Over. Nested runs have a progress of their own.
//
// Before the first call, workers tell what they have done when they leave the run and after every thousand items or so.
// From then on they tell it before each task: that costs some tens of nanoseconds a task, and Done does not miss more
// than the last task of each worker. Calls a tenth of a second apart cost no more.
func (r *Run) Progress() Progress {
	r.mustBeMade()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.body == nil {
		return Progress{
			Total: r.last.total, Done: r.last.done, Left: r.last.left, Over: r.over.Load() || r.ended,
		}
	}
	p := r.body.progresser()
	if p == nil {
		return Progress{}
	}
	r.body.flags.Or(watched)
	return p.Progress()
}

// waiting returns the number of tasks that hold no worker, and has no effect on the run.
func (r *Run) waiting() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.body.progresser(); p != nil {
		return p.Progress().Waiting
	}
	return 0
}

// progresser returns the hooks of b, which may be nil, if they implement Progresser.
func (b *Body) progresser() Progresser {
	if b == nil {
		return nil
	}
	p, _ := b.hooks.(Progresser)
	return p
}

// Values of Body.flags.
const (
	stopped = 1 << iota // the run was cancelled or has failed
	watched             // Run.Progress was called
)

// Disturbed reports whether Stopped or Watched does. It costs as much as one of them. Any thread.
func (b *Body) Disturbed() bool { return b.flags.Load() != 0 }

// Watched reports whether [Run.Progress] was called in the run in progress. Items should then make visible what the
// worker has counted, as at [Hooks].Flush, before they begin. Any thread.
func (b *Body) Watched() bool { return b.flags.Load()&watched != 0 }

// tellProgress notes how far the run has come, at its end. The caller holds mu.
func (r *Run) tellProgress() {
	if progresser := r.body.progresser(); progresser != nil {
		p := progresser.Progress()
		r.last.total, r.last.done, r.last.left = p.Total, p.Done, p.Left
	}
}
