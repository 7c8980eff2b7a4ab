package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/dag"
)

// A form has the predecessors of each task at hand.
type form struct {
	*dag.Form
	before [][]uint32
}

func newForm(f *dag.Form) *form { return &form{f, f.Before()} }

// A lane is a graph with a cell for each task, in which the task notes that it ran. One run at a time uses it.
//
// Cells are plain words: a task reads those of its predecessors, so the race detector checks every edge.
type lane struct {
	*form
	soak  *soak
	home  *spares // the spares to which it is returned
	graph *graph.Graph

	turn  uint32   // of the run in progress, or the last
	cells []uint32 // the turn in which each task ran last; with the mark, it has an act to perform in the next turn

	trip
	began  bool
	run    *executor.Run // for tasks: from Begin
	handle *executor.Run // for the goroutine that waits: from Start

	mu      sync.Mutex // guards the fields below; tasks lock it
	failed  []error    // the errors of tasks
	causes  []error    // the causes for which the run was cancelled, or may have been
	orphans []*lane    // runs that tasks have left behind
}

// A trip has the settings of one run.
type trip struct {
	life    *life
	pulse   *atomic.Int64 // of the driver
	depth   int           // the number of runs around it
	lenient bool          // it may be cancelled for causes that are not in causes
	plan    []planned
}

// mark in a cell says that the task has an act in the plan.
const mark = 1 << 31

// pulseEvery is the number of tasks between two pulses of a run, which show the watchdog that it progresses.
const pulseEvery = 1024

// newLane builds f's graph. find returns the lane of a task's run; nil means that it is always this one.
func newLane(s *soak, f *form, find func(context.Context) *lane) *lane {
	l := &lane{form: f, soak: s, cells: make([]uint32, f.Tasks)}
	l.graph = graph.New(fmt.Sprintf("%s.%d", f.Shape, s.built.Add(1))) // a name of its own, for errors
	l.graph.Reserve(f.Tasks, len(f.Edges))
	tasks := make([]graph.Task, f.Tasks)
	for i := range uint32(f.Tasks) {
		if find == nil {
			tasks[i] = l.graph.Task(func(ctx context.Context) error { return l.visit(ctx, i) })
		} else {
			tasks[i] = l.graph.Task(func(ctx context.Context) error { return find(ctx).visit(ctx, i) })
		}
		for _, p := range f.before[i] {
			tasks[i].Succeed(tasks[p])
		}
	}
	return l
}

// sibling returns another lane for runs of the same graph.
func (l *lane) sibling() *lane {
	return &lane{form: l.form, soak: l.soak, graph: l.graph, cells: make([]uint32, l.Tasks)}
}

// visit is the body of every task.
func (l *lane) visit(ctx context.Context, i uint32) error {
	if i%pulseEvery == 0 {
		l.pulse.Add(1)
	}
	cell := &l.cells[i]
	was := *cell
	*cell = l.turn
	for _, p := range l.before[i] {
		if l.cells[p] != l.turn {
			l.wrong("task %d ran before task %d, which precedes it", i, p)
		}
	}
	if was == l.turn-1 {
		return nil
	}
	if was != l.turn-1|mark {
		l.wrong("task %d ran twice", i)
		return nil
	}
	return l.perform(ctx, i)
}

func (l *lane) wrong(format string, args ...any) {
	l.soak.fail(fmt.Errorf("%s of %d tasks, on %v: %s", l.Shape, l.Tasks, l.life, fmt.Sprintf(format, args...)))
}

// Begin implements executor.Job. It adds to the number of tasks that Stats must report.
func (l *lane) Begin(r *executor.JobRun) (*executor.Item, error) {
	l.run = &r.Run
	it, err := l.graph.Begin(r)
	if it != nil {
		l.began = true
		l.life.expected.Add(int64(l.Tasks))
	}
	return it, err
}

// Name implements executor.Job.
func (l *lane) Name() string { return l.graph.Name() }

// prepare makes the lane ready for a run.
func (l *lane) prepare(t trip) {
	l.trip = t
	l.began, l.run, l.handle = false, nil, nil
	l.failed, l.causes, l.orphans = l.failed[:0], l.causes[:0], nil // check has returned the orphans
	for _, p := range l.plan {
		l.cells[p.task] = l.turn | mark
	}
	l.turn++
}

// mayBeCancelledBy notes the cause of a cancellation that is about to come.
func (l *lane) mayBeCancelledBy(cause error) {
	l.mu.Lock()
	l.causes = append(l.causes, cause)
	l.mu.Unlock()
}

// start starts the run.
func (l *lane) start(ctx context.Context) { l.handle = l.life.ex.Start(ctx, l) }

// finish waits for the run that was started and checks it, with every run that its tasks have left behind. Then the
// lane may serve another run. Not in a task.
func (l *lane) finish() {
	<-l.handle.Done() // a task that calls Goexit must not run here
	left := l.check(l.handle.Wait())
	for len(left) > 0 {
		o := left[0]
		<-o.handle.Done()
		left = append(left[1:], o.check(o.handle.Wait())...)
		l.soak.pool.put(o)
	}
}

// check checks a run that is over, with its result. It returns the runs that tasks have left behind.
func (l *lane) check(err error) (orphans []*lane) {
	ran := 0
	for i, c := range l.cells {
		if c == l.turn {
			ran++
			continue
		}
		if c&^mark != l.turn-1 {
			l.wrong("the cell of task %d has %#x in turn %d", i, c, l.turn)
		}
		l.cells[i] = l.turn
	}
	if wrong := l.explain(ran, err); wrong != "" {
		l.wrong("%s: %d tasks ran, %d failed, the run began: %v, its result: %+v",
			wrong, ran, len(l.failed), l.began, err)
	}
	l.soak.noteRun(l, ran, err)
	return l.orphans
}
