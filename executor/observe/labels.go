package observe

import (
	"context"
	"runtime/pprof"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/internal/names"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xsync"
)

// Labels returns an observer that gives tasks the profiler labels "job" and "task", so that a CPU profile can be read
// by task:
//
//	go tool pprof -tagroot job,task cpu.prof
//
// A task whose run has another name than its job has the label "run" too: [executor.RunOptions] gives runs names, and
// the tasks of a subflow are in the run of the graph around it. Each worker keeps the labels that it has made for up to
// 64 jobs and names of runs, so a new name for each run costs each task an allocation.
//
// The labels of the context that a run was started with are kept. Those of the context of an [executor.Async] are not:
// it has no run. Between two tasks of a run a worker has the labels of the first. A task that sets labels of its own
// and then restores those of its context, as [pprof.Do] does, no longer has those of this observer until the worker's
// next task.
//
// The observer is for one executor of [executor.New] at a time. On one of [executor.NewInline] the labels would stay
// with the caller's goroutine.
func Labels() *executor.Observer {
	l := &labelled{runs: make(map[*executor.Run]*labelBase)}
	return &executor.Observer{
		Attach:    l.attach,
		Detach:    l.detach,
		RunBegin:  l.runBegin,
		RunEnd:    l.runEnd,
		TaskBegin: l.taskBegin,
		TaskEnd:   l.taskEnd,
		Park:      l.park,
		Relabel:   l.relabel,
	}
}

// labelled is the state of a Labels.
type labelled struct {
	single
	workers slots[labeller]

	mu   xsync.Mutex
	runs map[*executor.Run]*labelBase // in progress, those whose contexts have labels
}

// A labelBase has the labels of a run's context. Runs without any have noLabels.
type labelBase struct{ ctx context.Context }

var noLabels = &labelBase{context.Background()}

// A labeller sets the labels of one worker's goroutine. The worker only.
type labeller struct {
	_     pad.Line
	begun []*labelSet // of the tasks on the worker's stack

	table labelTable // of the last task's set and run
	run   *executor.Run
	base  *labelBase // of run
	set   *executor.TaskSet
	name  string // of run, if it is another than the job's

	tables map[labelKey]labelTable // of runs without labels
	_      pad.Line
}

// A labelTable has the labels of the tasks of a set, made when they are first needed.
type labelTable []*labelSet

type labelKey struct {
	set  weak.Pointer[executor.TaskSet]
	name string // of the run, if it is another than the job's
}

// maxTables is the number of tables that a worker keeps. It is arbitrary.
const maxTables = 64

func (l *labelled) runBegin(e *executor.Event) {
	ctx := e.Run.Context()
	found := false
	pprof.ForLabels(ctx, func(string, string) bool { found = true; return false })
	if !found {
		return
	}
	// Not ctx itself, which keeps the run alive.
	base := &labelBase{newLabelSet(ctx)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[e.Run] = base
}

func (l *labelled) runEnd(e *executor.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.runs, e.Run)
}

func (l *labelled) baseOf(run *executor.Run) *labelBase {
	l.mu.Lock()
	defer l.mu.Unlock()
	if base := l.runs[run]; base != nil {
		return base
	}
	return noLabels
}

func (l *labelled) taskBegin(e *executor.Event) {
	w, task := l.workers.of(e.Worker), e.Task
	if w == nil {
		w = &labeller{base: noLabels}
		l.workers.set(e.Worker, w)
	}
	if e.Run != w.run || task.Set != w.set {
		w.turnTo(l, e.Run, task.Set)
	}
	labels := w.table[task.Index]
	if labels == nil {
		labels = w.base.with(task, w.name)
		w.table[task.Index] = labels
	}
	w.begun = append(w.begun, labels)
	pprof.SetGoroutineLabels(labels)
}

func (l *labelled) taskEnd(e *executor.Event) {
	w := l.workers.of(e.Worker)
	if w == nil || len(w.begun) == 0 {
		return // the task was begun before the observer was switched on
	}
	n := len(w.begun) - 1
	w.begun = w.begun[:n]
	if n > 0 {
		pprof.SetGoroutineLabels(w.begun[n-1])
	}
}

// relabel gives the goroutine the labels of the innermost task again.
func (l *labelled) relabel(e *executor.Event) {
	if w := l.workers.of(e.Worker); w != nil && len(w.begun) > 0 {
		pprof.SetGoroutineLabels(w.begun[len(w.begun)-1])
	}
}

// park makes the worker forget its last run, which it would keep alive.
func (l *labelled) park(e *executor.Event) {
	if w := l.workers.of(e.Worker); w != nil {
		w.run, w.set, w.table, w.base, w.name = nil, nil, nil, noLabels, ""
	}
}

// turnTo finds the table of a set in a run.
func (w *labeller) turnTo(l *labelled, run *executor.Run, set *executor.TaskSet) {
	base := w.base
	if run != w.run {
		base = noLabels
		if run != nil {
			base = l.baseOf(run)
		}
		w.run = run
	}
	name := names.Run(run, set.Job)
	if base == w.base && set == w.set && name == w.name {
		return
	}
	w.base, w.set, w.name = base, set, name
	if base != noLabels {
		w.table = make(labelTable, len(set.Tasks))
		return
	}
	key := labelKey{weak.Make(set), name}
	if w.table = w.tables[key]; w.table != nil {
		return
	}
	if len(w.tables) >= maxTables {
		clear(w.tables)
	}
	if w.tables == nil {
		w.tables = make(map[labelKey]labelTable)
	}
	w.table = make(labelTable, len(set.Tasks))
	w.tables[key] = w.table
}

// with returns the labels of b and those of a task, in a run of that name if it is not "".
func (b *labelBase) with(task *executor.TaskInfo, run string) *labelSet {
	labels := []string{"job", names.Job(task.Set.Job), "task", names.Task(task)}
	if run != "" {
		labels = append(labels, "run", run)
	}
	return newLabelSet(pprof.WithLabels(b.ctx, pprof.Labels(labels...)))
}

// A labelSet is a context that has profiler labels and nothing else. [pprof.SetGoroutineLabels] takes them from it in
// half the time that it takes with a context of the standard library.
type labelSet struct {
	context.Context
	labels any
}

// newLabelSet returns the labels of ctx.
func newLabelSet(ctx context.Context) *labelSet {
	s := &labelSet{Context: context.Background()}
	pprof.ForLabels(taker{ctx, &s.labels}, func(string, string) bool { return false })
	return s
}

// Value returns the labels, whatever the key: package pprof asks for nothing else.
func (s *labelSet) Value(any) any { return s.labels }

// A taker is a context that notes the last value that was asked of it.
type taker struct {
	context.Context
	value *any
}

func (t taker) Value(key any) any {
	*t.value = t.Context.Value(key)
	return *t.value
}
