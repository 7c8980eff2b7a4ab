package graph

import (
	"fmt"
	"strings"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/errfmt"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// KeepGoing returns a job that runs g and goes on after a failure, as make -k does: the tasks that come after a task
// that has failed are skipped, and all others run. A run of g itself skips all tasks that have not begun.
//
// If a task has failed, the error of the run is a [*Report], which [errors.As] finds also if the run was cancelled
// besides. A run that is cancelled skips all tasks that have not begun, as always.
//
// What is inside a subflow, or inside a module that is run as a whole, goes on too: the subflow's task fails when all
// that can run there has run, and its successors are skipped. Tasks inside that were skipped are in no report.
//
// A task that is skipped does not wait for the permits of its [Task.Hold]. It acquires those of its [Task.Acquire] and
// releases those of its [Task.Release], because other tasks count on that. In a graph with conditions it does not:
// there nothing after a failed task becomes ready, as after a condition that chooses nothing. The run keeps the permits
// until its end, and a task of it that waits for them waits for ever.
//
// KeepGoing panics if g is nil.
func KeepGoing(g *Graph) executor.Job {
	g.mustBe()
	return keepGoing{g}
}

type keepGoing struct{ *Graph }

// Begin implements executor.Job.
func (k keepGoing) Begin(run *executor.JobRun) (*executor.Item, error) {
	k.checkSealed()
	return k.begin(run, nil, true)
}

// keeping is what a run that keeps going knows of its failures, besides their errors.
type keeping struct {
	// causes has, by task, one more than the number of the failed task for which the task is skipped, or 0. Before a
	// predecessor of a task counts it down, it has stored there, and disturbed the run: so the thread that finds the
	// task ready looks there. nil: no task has failed.
	causes xatomic.Pointer[[]xatomic.Uint32]
}

func (k *keeping) make(tasks int) []xatomic.Uint32 {
	if made := k.causes.Load(); made != nil {
		return *made
	}
	made := make([]xatomic.Uint32, tasks)
	if k.causes.CompareAndSwap(nil, &made) {
		return made
	}
	return *k.causes.Load()
}

// causeOf returns one more than the number of the failed task for which task i, which is ready, is skipped, or 0.
func (r *runState) causeOf(i uint32) uint32 {
	if r.keeping == nil {
		return 0
	}
	made := r.keeping.causes.Load()
	if made == nil {
		return 0
	}
	return (*made)[i].Load()
}

// isSkipped reports whether task i, which is ready, is to be skipped because of an earlier failure. So are then its
// successors, which it has not counted down yet.
func (r *runState) isSkipped(i uint32) bool {
	cause := r.causeOf(i)
	if cause == 0 {
		return false
	}
	r.skipAfter(i, cause-1)
	return true
}

// skipsOn reports whether the successors of a task that has failed or was skipped become ready, and are skipped. With
// choices they do not become ready, because it is not known what would.
func (r *runState) skipsOn() bool { return r.keeping != nil && r.plan.Chooses == nil }

// skipAfter has the successors of task i skipped because of a failed task, if they become ready.
func (r *runState) skipAfter(i, failed uint32) {
	if !r.skipsOn() {
		return
	}
	causes := r.keeping.make(r.plan.Len())
	for _, s := range r.plan.Successors(i) {
		causes[s].CompareAndSwap(0, failed+1)
	}
	r.Disturb()
}

// A Report is the error of a run of [KeepGoing] in which tasks have failed. Its text begins with the numbers of
// failures and of skipped tasks, and has a line for each failure. The failures are the errors that it wraps, for
// [errors.Is] and [errors.As].
type Report struct {
	Run   string // the run's name
	Graph string // the graph's name

	// Failed has each failure. A task has several if it runs several times, or if several detached subflows that belong
	// to it fail.
	Failed []TaskReport
	// Skipped has the tasks that were skipped because of a failure, and not those that only a cancellation has kept from
	// running. It is empty for a graph with conditions, which may start a task in several ways.
	Skipped []TaskReport
}

// A TaskReport says of a task that it has failed, or was skipped. Reports have them in the order of [Graph.Tasks], and
// the tasks of modules behind, as an [executor.TaskSet] has.
type TaskReport struct {
	Index int        // as [Task.Index] returns it; of a task of a module that in the executor.TaskSet
	Name  string     // as [Task.Name] returns it; of a task of a module as [Graph.Module] says
	Cause *TaskError // the task's failure or, if it was skipped, the first that kept it from running
}

func (e *Report) Error() string { return e.say("%v") }

// Format implements [fmt.Formatter]: %+v adds the details of the failures, such as the stacks of panics.
func (e *Report) Format(s fmt.State, verb rune) { errfmt.Format(s, verb, e.say) }

func (e *Report) say(verb string) string {
	var b strings.Builder
	if e.Run != e.Graph {
		fmt.Fprintf(&b, "run of %q: ", e.Run)
	}
	fmt.Fprintf(&b, "graph %q: failed: %d, skipped for that: %d", e.Graph, len(e.Failed), len(e.Skipped))
	for _, f := range e.Failed {
		fmt.Fprintf(&b, "\n"+verb, f.Cause)
	}
	return b.String()
}

// Unwrap returns the failures.
func (e *Report) Unwrap() []error {
	all := make([]error, len(e.Failed))
	for i, f := range e.Failed {
		all[i] = f.Cause
	}
	return all
}

// report makes the report of a run in which these tasks have failed, in their order. No task is in progress.
func (r *runState) report(failures []failure) *Report {
	run := r.Run().Name()
	e := &Report{Run: run, Graph: r.graph.name}
	first := make(map[uint32]*TaskError, len(failures))
	for _, f := range failures {
		if first[f.task] == nil {
			first[f.task] = f.err
		}
		e.Failed = append(e.Failed, TaskReport{int(f.task), r.graph.taskName(f.task), f.err})
	}
	if made := r.keeping.causes.Load(); made != nil {
		for i := range *made {
			if cause := (*made)[i].Load(); cause != 0 && !r.graph.isEnd(uint32(i)) {
				e.Skipped = append(e.Skipped, TaskReport{i, r.graph.taskName(uint32(i)), first[cause-1]})
			}
		}
	}
	return e
}
