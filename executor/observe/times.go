package observe

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/internal/names"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// Times counts the tasks of jobs and adds up how long they take. All methods may be called from any goroutine, at any
// time.
//
// Each worker has counters of its own for the tasks of a [executor.TaskSet]: 32 bytes a task, from the first time that
// it runs a task of the set. The sets are kept, up to MaxSets of them. Tasks of further sets are counted together,
// under the name "others".
//
// The names that [executor.RunOptions] gives to runs are left out: runs of one graph under several names are added up.
// A name may be that of a request, and counters for each would use up memory without end. To tell tenants apart, give
// each an executor of its own, or a graph. The tasks of a function have the name of the run for that of their job, and
// so are counted by it.
type Times struct {
	start time.Time

	mu      xsync.Mutex // guards what follows, not the fields of the clocks
	clocks  []*clock
	sets    map[*executor.TaskSet]bool
	maxSets int
}

// MaxSets is the number of [executor.TaskSet]s that a [Times] keeps apart. A graph has one from its first run until it
// is changed, and functions have one for each name.
const MaxSets = 1024

// NewTimes returns a Times without any tasks.
func NewTimes() *Times {
	return &Times{start: time.Now(), sets: make(map[*executor.TaskSet]bool), maxSets: MaxSets}
}

// A clock has the counters of one worker.
type clock struct {
	_ pad.Line

	// The worker only.
	times *Times
	begun []began
	set   *executor.TaskSet // the last one; its cells
	cells []cell
	last  int64

	mu  xsync.Mutex // guards all, not the cells
	all map[*executor.TaskSet][]cell
	_   pad.Line
}

// began is a task on a worker's stack.
type began struct {
	at     int64
	inside int64 // how long tasks on top of it took
}

// A cell has the counters of one task on one worker, which writes them. The words are for statistics: a reader may see
// some of them before others.
type cell struct {
	count, total, inside, max xatomic.Tell64
}

// others is the set of the tasks that belong to no set of their own.
var others = func() *executor.TaskSet {
	set := &executor.TaskSet{Tasks: make([]executor.TaskInfo, 1)}
	set.Tasks[0] = executor.TaskInfo{Set: set, Name: "others"}
	return set
}()

// Observer returns an observer for the Config of one executor at a time. Executors that run at the same time need an
// observer each.
func (t *Times) Observer() *executor.Observer {
	one, workers := new(single), new(slots[clock])
	clockOf := func(worker int) *clock {
		c := workers.of(worker)
		if c == nil {
			c = t.newClock()
			workers.set(worker, c)
		}
		return c
	}
	return &executor.Observer{
		Attach: one.attach,
		Detach: one.detach,
		TaskBegin: func(e *executor.Event) {
			c := clockOf(e.Worker)
			c.begun = append(c.begun, began{at: c.now()})
		},
		TaskEnd: func(e *executor.Event) { clockOf(e.Worker).end(e.Task) },
	}
}

func (t *Times) newClock() *clock {
	c := &clock{times: t, all: make(map[*executor.TaskSet][]cell)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clocks = append(t.clocks, c)
	return c
}

func (c *clock) now() int64 { return int64(time.Since(c.times.start)) }

func (c *clock) end(task *executor.TaskInfo) {
	n := len(c.begun) - 1
	if n < 0 {
		return // the task was begun before the observer was switched on
	}
	b := c.begun[n]
	c.begun = c.begun[:n]
	took := c.now() - b.at
	if n > 0 {
		c.begun[n-1].inside += took
	}
	if task.Set != c.set {
		c.turnTo(task.Set)
	}
	at := &c.cells[0]
	if len(c.cells) > 1 {
		at = &c.cells[task.Index]
	}
	// One writer: a Store is as good as an Add.
	at.count.Store(at.count.Load() + 1)
	at.total.Store(at.total.Load() + uint64(took))
	if b.inside != 0 {
		at.inside.Store(at.inside.Load() + uint64(b.inside))
	}
	if uint64(took) > at.max.Load() {
		at.max.Store(uint64(took))
	}
}

// turnTo makes the cells of a set the current ones.
func (c *clock) turnTo(set *executor.TaskSet) {
	c.set = set
	if c.cells = c.all[set]; c.cells != nil {
		return // without the lock: only the worker changes the map
	}
	counted := c.times.admit(set)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cells = c.all[counted]; c.cells == nil {
		c.cells = make([]cell, len(counted.Tasks))
		c.all[counted] = c.cells
	}
}

// admit returns the set under which the tasks of a set are counted.
func (t *Times) admit(set *executor.TaskSet) *executor.TaskSet {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.sets[set] {
		if len(t.sets) >= t.maxSets {
			return others
		}
		t.sets[set] = true
	}
	return set
}

// A TaskTime says how often a task has run, and how long it took. Times are on the clock: they include the time in
// which the worker's thread was not run by the system.
type TaskTime struct {
	Task  *executor.TaskInfo
	Count uint64        // how often it has ended
	Total time.Duration // from begin to end, of all times together
	Self  time.Duration // Total without the tasks that ran on the same worker while the task waited
	Max   time.Duration // the longest from begin to end
}

// Mean is Total divided by Count, 0 if the task has not run.
func (t TaskTime) Mean() time.Duration {
	if t.Count == 0 {
		return 0
	}
	return t.Total / time.Duration(t.Count)
}

// add adds the counters of a cell.
func (t *TaskTime) add(c *cell) {
	t.Count += c.count.Load()
	total, inside := c.total.Load(), c.inside.Load()
	t.Total += time.Duration(total)
	t.Self += time.Duration(total - min(inside, total))
	t.Max = max(t.Max, time.Duration(c.max.Load()))
}

// join adds the times of another task.
func (t *TaskTime) join(other TaskTime) {
	t.Count += other.Count
	t.Total += other.Total
	t.Self += other.Self
	t.Max = max(t.Max, other.Max)
}

// Snapshot returns the tasks that have run so far, the one with the greatest Total first. Tasks that end meanwhile may
// be counted in part.
func (t *Times) Snapshot() []TaskTime {
	var all []TaskTime
	for _, tasks := range t.bySet() {
		for _, task := range tasks {
			if task.Count > 0 {
				all = append(all, task)
			}
		}
	}
	sortTimes(all)
	return all
}

// sortTimes puts the greatest Total first.
func sortTimes(all []TaskTime) {
	slices.SortFunc(all, func(a, b TaskTime) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Task.Set.Job, b.Task.Set.Job),
			cmp.Compare(a.Task.Index, b.Task.Index))
	})
}

// All yields the same as Snapshot. It takes the snapshot when the iteration begins.
func (t *Times) All() iter.Seq[TaskTime] {
	return func(yield func(TaskTime) bool) {
		for _, task := range t.Snapshot() {
			if !yield(task) {
				return
			}
		}
	}
}

// bySet adds up the cells of all workers.
func (t *Times) bySet() map[*executor.TaskSet][]TaskTime {
	t.mu.Lock()
	clocks := t.clocks
	t.mu.Unlock()
	sum := make(map[*executor.TaskSet][]TaskTime)
	for _, c := range clocks {
		c.mu.Lock()
		for set, cells := range c.all {
			tasks := sum[set]
			if tasks == nil {
				tasks = make([]TaskTime, len(set.Tasks))
				sum[set] = tasks
			}
			for i := range cells {
				tasks[i].Task = &set.Tasks[i]
				tasks[i].add(&cells[i])
			}
		}
		c.mu.Unlock()
	}
	return sum
}

// WriteTable writes the times so far as a table for people, the greatest total first, in at most rows lines after the
// heading; all if rows is 0 or less. Tasks of the same name, of jobs of the same name, are on one line: a program may
// make a graph again for each request. The error is that of out.
func (t *Times) WriteTable(out io.Writer, rows int) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	var all []TaskTime
	lines := make(map[string]int) // by name, in all
	for task := range t.All() {
		name := fullName(task.Task)
		if i, ok := lines[name]; ok {
			all[i].join(task)
			continue
		}
		lines[name] = len(all)
		all = append(all, task)
	}
	sortTimes(all)
	if rows > 0 && rows < len(all) {
		all = all[:rows]
	}
	fmt.Fprint(w, "total\tself\tmax\tmean\tcount\t  job and task\n")
	for _, task := range all {
		fmt.Fprintf(w, "%v\t%v\t%v\t%v\t%d\t  %s\n", shown(task.Total), shown(task.Self), shown(task.Max),
			shown(task.Mean()), task.Count, fullName(task.Task))
	}
	return w.Flush()
}

// fullName is a task's name with that of its job.
func fullName(t *executor.TaskInfo) string {
	if t.Set == others {
		return t.Name
	}
	return names.Full(t)
}

// shown rounds a duration to three or four digits.
func shown(d time.Duration) time.Duration {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 1000*unit || unit > time.Hour {
			return d.Round(unit)
		}
	}
}

// Shades returns the attributes by which WriteDOTWith of package graph colours the drawing of a graph of that name by
// the times so far. A task is the redder, the greater its Self compared with that of the others. A task that has not
// run is white. The tooltip of each task has its times. Graphs of the same name are taken together.
func (t *Times) Shades(job string) func(index int) [][2]string {
	var tasks []TaskTime
	for set, times := range t.bySet() {
		if set.Job != job {
			continue
		}
		for i := range times {
			if i == len(tasks) {
				tasks = append(tasks, TaskTime{})
			}
			tasks[i].join(times[i])
		}
	}
	most := time.Duration(1)
	for _, task := range tasks {
		most = max(most, task.Self)
	}
	return func(index int) [][2]string {
		if index < 0 || index >= len(tasks) || tasks[index].Count == 0 {
			return [][2]string{{"style", "filled"}, {"fillcolor", "white"}, {"tooltip", "did not run"}}
		}
		task := tasks[index]
		share := float64(task.Self) / float64(most)
		return [][2]string{
			{"style", "filled"},
			// From light yellow to red, as hue, saturation and value.
			{"fillcolor", fmt.Sprintf("%.3f %.3f 1.000", (1-share)/6, 0.1+0.8*share)},
			{"tooltip", fmt.Sprintf("%d times, total %v, self %v, max %v, mean %v", task.Count, shown(task.Total),
				shown(task.Self), shown(task.Max), shown(task.Mean()))},
		}
	}
}
