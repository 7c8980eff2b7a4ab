package executor

import "fmt"

// RunOptions say how a run behaves beside other runs of its executor, see [With]. The zero value changes nothing.
type RunOptions struct {
	// Name takes the place of the job's name in [Run.Name], dumps and the errors of a run that was cancelled. "" keeps
	// the job's. Tasks of [Func] and [Call] have it for the name of their [TaskSet]'s job. Other tasks belong to the
	// job, whatever the run's name, and an [Observer] finds that in their run: packages observe and watch tell both
	// names, but Times of package observe adds up the runs of a job.
	Name string
	// Priority decides which run the workers turn to first. The zero value is [Normal]. It is not a priority of
	// threads: a Low run keeps the processors busy if no other work is there.
	//
	// It has two effects. Of the runs that have been started and not begun, a worker begins one with the highest
	// priority. And a worker that is busy with a run looks, after every 64 items, for items of other runs: it turns to
	// one of a higher priority, submitted or in another worker's deque, and also to one of its own priority that was
	// submitted. Its own item waits meanwhile. An item that has begun is not interrupted. So a run of High gets the
	// workers of a Low run after 64 items of that run at most, if the High run has as many items to give away.
	//
	// No run waits for ever: one of 16 such looks prefers runs of lower priority. A worker that has run out of items
	// takes any that it finds in the deques of others. With [Config.Verbatim] a busy worker does not look.
	//
	// A nested run has the priority of the run around it, whatever its own options say. Futures of [Async] are Normal.
	Priority Priority
	// Limit is the largest number of workers that run tasks of the run, and of the runs nested in it, at a time. 0
	// means no limit. A nested run may have a limit of its own besides. Futures that a task starts with [Async] are not
	// counted.
	//
	// A worker that waits inside a task, in a Wait, a Join or [Blocking], counts as one that runs the task. So tasks
	// that wait for each other in Blocking need a Limit of as many as wait at a time. Waits for work of this module
	// need no more than 1.
	Limit int
}

// With returns a job that does what j does, in a run with the given options. j may have options from With already: of
// each option that is set in both, o counts. With panics if j is nil, the priority is none of the three or the limit is
// negative.
//
// The options hold for runs that are started with the job that With returns. A Job that calls the Begin of another is
// run without that one's options.
func With(j Job, o RunOptions) Job {
	switch {
	case j == nil:
		panic("executor: With of a nil job")
	case !o.Priority.isKnown():
		panic(fmt.Sprintf("executor: With of %v: there are Low, Normal and High", o.Priority))
	case o.Limit < 0:
		panic(fmt.Sprintf("executor: With of Limit %d: give a number of workers, or 0 for no limit", o.Limit))
	}
	if inner, ok := j.(*optioned); ok {
		j = inner.Job
		if o.Name == "" {
			o.Name = inner.options.Name
		}
		if o.Priority == Normal {
			o.Priority = inner.options.Priority
		}
		if o.Limit == 0 {
			o.Limit = inner.options.Limit
		}
	}
	return &optioned{j, o}
}

// An optioned is a job with options.
type optioned struct {
	Job
	options RunOptions
}

// Name implements Job.
func (j *optioned) Name() string {
	if j.options.Name != "" {
		return j.options.Name
	}
	return j.Job.Name()
}

// A Priority is one of [High], [Normal] and [Low].
type Priority int8

const (
	Low    Priority = iota - 1 // after all others
	Normal                     // the default
	High                       // before all others
)

// String returns "low", "normal" or "high". Any other value is written as Priority(9).
func (p Priority) String() string {
	switch p {
	case Low:
		return "low"
	case Normal:
		return "normal"
	case High:
		return "high"
	}
	return fmt.Sprintf("Priority(%d)", int8(p))
}

func (p Priority) isKnown() bool { return Low <= p && p <= High }

// optionsOf returns the options of j.
func optionsOf(j Job) (o RunOptions) {
	if j, ok := j.(*optioned); ok {
		o = j.options
	}
	return o
}

// priorityOf returns the priority of a run of j nested in parent, or in none if parent is nil.
func priorityOf(j Job, parent *Run) Priority {
	if parent != nil {
		return parent.priority
	}
	return optionsOf(j).Priority
}

// level returns the priority of the run whose items b has; Normal if b is nil.
func (b *Body) level() Priority {
	if b == nil {
		return Normal
	}
	if r := b.owner(); r != nil {
		return r.priority
	}
	return Normal
}
