package pool

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/left"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A run is one run of a pool. It implements executor.Hooks.
type run struct {
	executor.Body
	pool    *Pool
	opts    Options
	ctx     context.Context
	tasks   []task
	root    executor.Item      // deals the tasks
	watched *executor.TaskInfo // with observers: what stands for each task

	// Set by the root, constant while drainers exist.
	drainers []drainer
	queue    queue

	_ pad.Line
	// left counts the root, the drainers that have not ended, and the workers between Enter and Leave.
	left left.Count
	// waiting counts the drainers for which a task may be left, or runs. At 0 all tasks have ended.
	waiting xatomic.Int32
	found   xatomic.Uint32
	_       pad.Line

	mu       xsync.Mutex
	failures []*TaskError
}

// A drainer is the item that takes tasks and runs them. Each call of its Exec runs one. Its fields are plain: the
// executor hands the item from worker to worker.
type drainer struct {
	executor.Item
	run    *run
	index  int
	task   Task
	begun  time.Time // of the task, if the run is timed
	idle   bool      // take has returned none
	random rand.PCG
	stats  DrainerStats
	_      pad.Line
}

// Begin implements executor.Job.
func (p *Pool) Begin(r *executor.JobRun) (*executor.Item, error) {
	p.mustBe()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.tasks) == 0 {
		p.last = Stats{}
		return nil, nil
	}
	s := &run{pool: p, opts: p.opts, ctx: r.Context(), tasks: p.tasks}
	s.Body.Init(s)
	s.root = executor.Item{Exec: s.start, Body: &s.Body}
	if r.Observed() {
		s.watched = &p.tasksOf().Tasks[0]
	}
	s.left.Start(1)
	return &s.root, nil
}

// start deals the tasks and makes the drainers available. The root's place in left goes to the first drainer.
func (s *run) start(w *executor.Worker, _ *executor.Item) *executor.Item {
	r := s.Run()
	r.Uncount(w)
	s.drainers = make([]drainer, min(cmp.Or(s.opts.Drainers, r.Workers()), len(s.tasks)))
	for i := range s.drainers {
		d := &s.drainers[i]
		d.run, d.index = s, i
		d.task.run = s
		d.random = *rand.NewPCG(s.opts.Seed, uint64(i))
		d.Body = &s.Body
		d.Exec = func(w *executor.Worker, _ *executor.Item) *executor.Item { return s.step(w, d) }
	}
	s.queue = queues[s.opts.Queue].make(s)
	others := s.drainers[1:]
	s.waiting.Store(int32(len(s.drainers)))
	if len(others) > 0 {
		s.left.In(int64(len(others)))
	}
	for i := range others {
		// Not pushed: some kinds of deque would hide the drainers, or give them to thieves only between two tasks.
		if r.Shuffled() {
			w.Push(&others[i].Item)
		} else {
			r.Inject(&others[i].Item)
		}
	}
	return &s.drainers[0].Item
}

// step runs the next task of drainer d. It returns the drainer until no task is left for it.
func (s *run) step(w *executor.Worker, d *drainer) *executor.Item {
	number, got := s.queue.take(d)
	// The stop is looked at after take, which may wait for a lock.
	switch {
	case s.Stopped():
		return s.end(w)
	case got == taken:
		s.call(w, d, number)
		return &d.Item
	case got == none:
		if !d.idle {
			d.idle = true
			s.waiting.Add(-1) // the last task that d took has ended
		}
		if s.opts.Idle == Leave || s.waiting.Load() == 0 {
			return s.end(w)
		}
	}
	d.stats.Looks++
	s.Run().Uncount(w)
	pause()
	if d.stats.Looks%looksInARow == 0 && !s.Run().Shuffled() {
		s.Run().Inject(&d.Item) // d may run elsewhere at once
		return nil
	}
	return &d.Item
}

// call calls the function of a task.
func (s *run) call(w *executor.Worker, d *drainer, number int) {
	d.task.number = number
	d.stats.Tasks++
	if s.opts.Timed {
		d.begun = time.Now()
	}
	var err error
	if fn := s.tasks[number].fn; s.watched == nil {
		err = fn(&d.task)
	} else {
		err = s.callObserved(w, d, fn)
	}
	d.called()
	if err != nil {
		s.fail(number, err)
	}
}

// called accounts for the time of a task that has ended.
func (d *drainer) called() {
	if d.run.opts.Timed {
		d.stats.Busy += time.Since(d.begun)
	}
}

// end counts out a drainer that has not run a task in this step.
func (s *run) end(w *executor.Worker) *executor.Item {
	s.Run().Uncount(w)
	s.left.Out(1) // the worker is counted too, so the count does not come to 0
	return nil
}

// lock locks the lock of a queue.
func (d *drainer) lock(mu *xsync.Mutex) {
	if mu.TryLock() {
		return
	}
	d.stats.LockWaits++
	if !d.run.opts.Timed {
		mu.Lock()
		return
	}
	begun := time.Now()
	mu.Lock()
	d.stats.LockWait += time.Since(begun)
}

// fail records a task's error and stops the run.
func (s *run) fail(number int, err error) {
	failed := &TaskError{s.pool.name, number, err}
	if s.keep(failed, err) {
		s.Run().Abort(failed) // without the lock: it calls OnStop of other layers
	}
}

// keep records failed, the failure with err of a task, unless it only says why the run was stopped.
func (s *run) keep(failed *TaskError, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Run().Repeats(err) {
		return false
	}
	s.failures = append(s.failures, failed)
	return true
}

// Fail implements executor.Hooks.
func (s *run) Fail(_ *executor.Worker, it *executor.Item, err error) *executor.Item {
	for i := range s.drainers {
		if d := &s.drainers[i]; &d.Item == it {
			d.called()
			s.fail(d.task.number, err)
		}
	}
	s.left.Out(1)
	return nil
}

// Enter implements executor.Hooks.
func (s *run) Enter(*executor.Worker) { s.left.In(1) }

// Leave implements executor.Hooks.
func (s *run) Leave(*executor.Worker) {
	if !s.left.Out(1) {
		return
	}
	stats := Stats{Drainers: make([]DrainerStats, len(s.drainers)), Found: s.found.Load() != 0}
	for i := range s.drainers {
		stats.Drainers[i] = s.drainers[i].stats
		stats.Total.add(&stats.Drainers[i])
	}
	s.pool.mu.Lock()
	s.pool.last = stats
	s.pool.mu.Unlock()
	slices.SortFunc(s.failures, func(a, b *TaskError) int { return cmp.Compare(a.Task, b.Task) })
	errs := make([]error, len(s.failures))
	for i, f := range s.failures {
		errs[i] = f
	}
	s.Run().Finish(errs...)
}

// Flush implements executor.Hooks.
func (s *run) Flush(*executor.Worker) {}

// Release implements executor.Hooks.
func (s *run) Release() {}
