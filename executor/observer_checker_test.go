package executor_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// A checker is an observer that checks the order in which it is told events, and counts tasks.
type checker struct {
	mu       sync.Mutex
	wrong    []string
	attached *executor.Executor
	detached bool
	stacks   map[int][]begun // by worker: the tasks that have begun and not ended
	parked   map[int]bool
	runs     map[*executor.Run]bool // false: over
	told     map[string]int         // by the task's name or, without one, number
	stolen   int
	parks    int
}

type begun struct {
	run  *executor.Run
	task *executor.TaskInfo
}

func newChecker() *checker {
	return &checker{
		stacks: map[int][]begun{}, parked: map[int]bool{}, runs: map[*executor.Run]bool{}, told: map[string]int{},
	}
}

func (c *checker) must(ok bool, format string, args ...any) {
	if !ok && len(c.wrong) < 10 {
		c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
	}
}

// lock locks c for an event.
func (c *checker) lock() func() {
	c.mu.Lock()
	c.must(c.attached != nil && !c.detached, "an event before Attach or after Detach")
	return c.mu.Unlock
}

func nameOf(task *executor.TaskInfo) string {
	if task.Name == "" {
		return fmt.Sprint(task.Set.Job, "#", task.Index)
	}
	return task.Name
}

func (c *checker) observer() *executor.Observer {
	return &executor.Observer{
		Attach: func(ex *executor.Executor) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.must(c.attached == nil, "a second Attach")
			c.attached = ex
		},
		Detach: func() {
			defer c.lock()()
			c.detached = true
			for run, open := range c.runs {
				c.must(!open, "run %q has no end", run.Name())
			}
			for w, p := range c.parked {
				c.must(!p, "worker %d has parked and not unparked", w)
			}
		},
		RunBegin: func(e *executor.Event) {
			run := e.Run
			defer c.lock()()
			_, known := c.runs[run]
			c.must(!known, "run %q begins twice", run.Name())
			c.runs[run] = true
		},
		RunEnd: func(e *executor.Event) {
			run := e.Run
			defer c.lock()()
			c.must(c.runs[run], "run %q ends and has not begun, or twice", run.Name())
			c.runs[run] = false
			select {
			case <-run.Done():
			default:
				c.must(false, "run %q is not over", run.Name())
			}
			for w, stack := range c.stacks {
				for _, b := range stack {
					c.must(b.run != run, "run %q ends before its task on worker %d", run.Name(), w)
				}
			}
		},
		TaskBegin: func(e *executor.Event) {
			w, run, task := e.Worker, e.Run, e.Task
			defer c.lock()()
			c.must(&task.Set.Tasks[task.Index] == task, "a task that is not in its set")
			c.must(!c.parked[w], "a task on a parked worker")
			if run == nil {
				c.must(task.Set.Job == "async", "no run of a task of %q", task.Set.Job)
			} else {
				c.must(c.runs[run], "a task of run %q, which is not in progress", run.Name())
				c.must(run.Name() == task.Set.Job, "a task of %q in a run of %q", task.Set.Job, run.Name())
			}
			c.stacks[w] = append(c.stacks[w], begun{run, task})
			c.told[nameOf(task)]++
		},
		TaskEnd: func(e *executor.Event) {
			w, run, task := e.Worker, e.Run, e.Task
			defer c.lock()()
			last := len(c.stacks[w]) - 1
			if last < 0 || c.stacks[w][last] != (begun{run, task}) {
				c.must(false, "task %q ends on worker %d and is not the last that has begun there", nameOf(task), w)
				return
			}
			c.stacks[w] = c.stacks[w][:last]
		},
		Steal: func(e *executor.Event) {
			thief, victim, n := e.Worker, e.Victim, e.Items
			defer c.lock()()
			c.must(thief != victim && n > 0, "worker %d steals %d items from worker %d", thief, n, victim)
			c.stolen += n
		},
		Park: func(e *executor.Event) {
			w := e.Worker
			defer c.lock()()
			c.must(!c.parked[w], "worker %d parks twice", w)
			c.parked[w] = true
			c.parks++
		},
		Unpark: func(e *executor.Event) {
			w := e.Worker
			defer c.lock()()
			c.must(c.parked[w], "worker %d unparks and has not parked", w)
			c.parked[w] = false
		},
	}
}

func (c *checker) parkings() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.parks
}

// counts returns how often each task was told since the last call.
func (c *checker) counts(t *testing.T) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Empty(t, c.wrong)
	for w, stack := range c.stacks {
		require.Empty(t, stack, "tasks of worker %d have not ended", w)
	}
	told := c.told
	c.told = map[string]int{}
	return told
}
