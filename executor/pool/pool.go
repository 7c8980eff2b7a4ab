package pool

import (
	"errors"
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xsync"
)

// Options are the choices of a [Pool]. The zero value is one queue for all workers.
type Options struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// Queue is how the tasks are kept.
	Queue Queue
	// Stealing is what a worker without a task takes from others. It is for the queues PerThread and PerThreadFIFO.
	Stealing Stealing
	// Drainers is the number of drainers, and of the queues PerThread and PerThreadFIFO. 0 means the number of the
	// executor's workers. A run never has more of them than tasks.
	Drainers int
	// Idle is what a worker without a task does. The zero value is right outside experiments.
	Idle Idle
	// Timed measures the times in [DrainerStats]. It costs two readings of the clock a task.
	Timed bool
	// Seed is that of random victims.
	Seed uint64
}

// check reports every bad option at once.
func (o Options) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	known := int(o.Queue) < len(queues)
	if !known {
		bad("Options.Queue is %d: use one of %v", uint8(o.Queue), Queues())
	}
	switch {
	case int(o.Stealing) >= len(stealings):
		bad("Options.Stealing is %d: use one of %v", uint8(o.Stealing), Stealings())
	case o.Stealing != NoStealing && known && !o.Queue.Steals():
		stealing := slices.DeleteFunc(Queues(), func(q Queue) bool { return !q.Steals() })
		bad("Options.Stealing is %v, but all workers share the queue %v: set Stealing to %v, or Queue to one of %v",
			o.Stealing, o.Queue, NoStealing, stealing)
	}
	if o.Drainers < 0 || o.Drainers > executor.MaxWorkers {
		bad("Options.Drainers is %d: give 1 to %d, or 0 for the number of workers", o.Drainers, executor.MaxWorkers)
	}
	if int(o.Idle) >= len(idles) {
		bad("Options.Idle is %d: use one of %v", uint8(o.Idle), Idles())
	}
	return errors.Join(errs...)
}

// A Pool is a list of tasks and the way to run them: a job for [executor.Executor.Run]. It may be run any number of
// times, also at the same time if its tasks allow it.
type Pool struct {
	name string
	opts Options

	mu    xsync.Mutex
	tasks []task // only appended to, so runs share it
	last  Stats
	set   *executor.TaskSet // for observers; nil if none was needed yet
}

type task struct {
	fn       func(*Task) error
	priority int
}

// New returns a pool without tasks. It reports every bad option at once.
func New(name string, o Options) (*Pool, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("pool %q: %w", name, err)
	}
	return &Pool{name: name, opts: o}, nil
}

// Name returns the name given to New.
func (p *Pool) Name() string {
	p.mustBe()
	return p.name
}

// mustBe panics if p is nil.
func (p *Pool) mustBe() {
	if p == nil {
		panic("pool: a nil Pool is used: make one with New")
	}
}

// Options returns the options given to New.
func (p *Pool) Options() Options { return p.opts }

// Add adds a task with priority 0. The runs that start afterwards run it, and those in progress do not. Add may be
// called from any goroutine, also while the pool runs, and from its tasks. If fn returns an error, panics, or calls
// [runtime.Goexit], the run fails and no further task begins. Add panics if fn is nil.
func (p *Pool) Add(fn func(*Task) error) { p.AddPriority(0, fn) }

// AddPriority is [Pool.Add] with a priority, for the queue ByPriority: a task with a larger one begins earlier. Other
// queues ignore it.
func (p *Pool) AddPriority(priority int, fn func(*Task) error) {
	if fn == nil {
		panic(fmt.Sprintf("pool %q: a task needs a function, got nil", p.name))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tasks = append(p.tasks, task{fn, priority})
}

// Len returns the number of tasks.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.tasks)
}

// Stats returns the counters of the run that ended last, failed and cancelled ones included, of those that have begun:
// one that could not start, or was cancelled before, has none. After [executor.Run.Wait] they are those of that run,
// unless another run has ended since or at about that time.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

var _ executor.Job = (*Pool)(nil)
