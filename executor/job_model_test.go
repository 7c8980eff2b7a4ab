//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A tally counts calls that are ordered: two that nothing orders are a data race, and so is a look at the tally that
// does not come after all of them.
type tally struct{ n xatomic.Plain[int] }

func (c *tally) add() int {
	c.n.Set(c.n.Get() + 1)
	return c.n.Get()
}

func (c *tally) get() int { return c.n.Get() }

// A job is the smallest layer above the executor: functions that may push others. Each must run exactly once. It is run
// once.
type job struct {
	Body
	first func(*Worker)
	r     *JobRun // of its one run; set by Begin

	// The items that exist and are not done, and the workers between Enter and Leave: 0 is the end.
	left xatomic.Int32

	// Told at the end; plain, as no operations for the model.
	items, ran, failures int
	over                 xatomic.Plain[bool]
	done                 []*xatomic.Plain[bool] // by item
}

func newJob(first func(*Worker)) *job {
	j := &job{first: first}
	j.Body.Init(j)
	return j
}

func (j *job) Name() string { return "job" }

func (j *job) Begin(r *JobRun) (*Item, error) {
	j.r = r
	return j.item(j.first), nil
}

func (j *job) Enter(*Worker) { j.left.Add(1) }

func (j *job) Flush(*Worker) {}

func (j *job) Release() {}

// Leave ends the run when nothing is left.
func (j *job) Leave(*Worker) {
	if j.left.Add(-1) != 0 {
		return
	}
	model.Assert(!j.over.Get(), "the run ended twice")
	j.over.Set(true)
	var err error
	if j.failures > 0 {
		err = ErrGoexit
	}
	j.Run().Finish(err)
}

func (j *job) Fail(_ *Worker, _ *Item, err error) *Item {
	model.Assert(errors.Is(err, ErrGoexit), "an item failed: %v", err)
	j.failures++
	j.left.Add(-1)
	return nil
}

func (j *job) item(f func(*Worker)) *Item {
	j.left.Add(1)
	j.items++
	done := new(xatomic.Plain[bool])
	j.done = append(j.done, done)
	return &Item{Body: &j.Body, Exec: func(w *Worker, _ *Item) *Item {
		model.Assert(!done.Get(), "an item ran twice")
		done.Set(true)
		j.ran++
		f(w)
		j.left.Add(-1)
		return nil
	}}
}

// push makes an item of f available to everybody.
func (j *job) push(w *Worker, f func(*Worker)) { w.Push(j.item(f)) }

// ended checks the end of a run that nothing stopped.
func (j *job) ended(err error) {
	model.Assert(err == nil, "the run failed: %v", err)
	j.ranAll(err)
}

// ranAll checks that the run is over and all items ran.
func (j *job) ranAll(err error) {
	model.Assert(j.over.Get() && j.ran == j.items, "of %d items %d ran, error %v", j.items, j.ran, err)
	for i, done := range j.done {
		model.Assert(done.Get(), "item %d has not ended", i)
	}
}

// runJob has ex run a job that begins with first, and checks its end.
func runJob(ex *Executor, first func(*job, *Worker)) { newJob(nil).run(ex, first) }

func (j *job) run(ex *Executor, first func(*job, *Worker)) {
	j.first = func(w *Worker) { first(j, w) }
	j.ended(ex.Run(context.Background(), j))
}

// pushes is the first item of a job that pushes n others.
func pushes(n int) func(*job, *Worker) {
	return func(j *job, w *Worker) {
		for range n {
			j.push(w, nothing)
		}
	}
}

// A barrier is met by n items, all of which have to be running at once.
type barrier struct {
	n       int32
	arrived xatomic.Int32
}

func (b *barrier) meet(*Worker) {
	b.arrived.Add(1)
	b.arrived.Await(func(n int32) bool { return n >= b.n })
}

func nothing(*Worker) {}

// birth makes an executor of n workers. It must be closed, or threads are left over at the end: a deadlock.
func birth(n int, p string) *Executor {
	ex, err := New(Config{
		Workers: n, Experiment: experiment.Options{Policy: p}, Callers: IdleCallers, Host: host.Options{KeepGOMAXPROCS: true},
	})
	model.Assert(err == nil, "New: %v", err)
	return ex
}

// start makes an executor whose workers sleep. It does not explore how they come to sleep: TestModelLife does.
func start(n int, p string) *Executor {
	return started(Config{Workers: n, Experiment: experiment.Options{Policy: p}})
}

// started is start for any configuration. Spares have no threads yet. Callers are idle, see receiving.
func started(cfg Config) (ex *Executor) {
	cfg.Callers = IdleCallers
	return receiving(cfg)
}

// receiving is started with callers that take part, if cfg says so.
func receiving(cfg Config) (ex *Executor) {
	model.Calm(func() {
		cfg.Host.KeepGOMAXPROCS = true
		var err error
		ex, err = New(cfg)
		model.Assert(err == nil, "New: %v", err)
		for ex.Parked() < cfg.Workers {
			model.Spin()
		}
	})
	return ex
}

// stop closes an executor, without exploring how.
func stop(ex *Executor) { model.Calm(func() { death(ex) }) }

// death closes an executor and checks what it leaves behind.
func death(ex *Executor) {
	err := ex.Close()
	model.Assert(err == nil, "Close: %v", err)
	// The item of a future that was cancelled may come into the injector after the end of the future: there is nothing
	// to do for it, and no worker looks any more.
	for it, _ := ex.injector.steal(0); it != nil; it, _ = ex.injector.steal(0) {
		model.Assert(it.Body == &ex.asyncs.Body && futureOf(it).isOver(), "an item is left in the injector")
	}
	model.Assert(!ex.anyItem(), "an item is left")
	model.Assert(ex.sleepingHelpers.Load() == 0 && ex.Actives() == 0, "%d helpers, %d actives at the end",
		ex.sleepingHelpers.Load(), ex.Actives())
}

// oneOf chooses one of a list.
func oneOf[T any](list []T) T { return list[model.Choose(len(list))] }

// explored are the policies under which a program is explored: one that wakes workers when items are pushed, and one
// that keeps a thief awake. The programs of package policy explore what is special to each policy. TestModelRandom runs
// all policies.
var explored = []string{"adaptive", "adaptive-published"}

// onEach checks a program for each policy that is explored, if it is drawn, and number of workers.
func onEach(t *testing.T, workers []int, program func(n int, p string)) {
	on(t, explored, workers, program)
}

// onDefault is onEach for long programs of which no property depends on the policy. Unless a bound is asked for, it
// checks them for the default policy only.
func onDefault(t *testing.T, workers []int, program func(n int, p string)) {
	if model.IsBoundSet() {
		on(t, explored, workers, program)
	} else {
		on(t, explored[:1], workers, program)
	}
}

func on(t *testing.T, policies []string, workers []int, program func(n int, p string)) {
	for _, p := range policies {
		if p == "adaptive-published" && !model.IsDrawn() {
			continue
		}
		for _, n := range workers {
			t.Run(fmt.Sprintf("%v/W=%d", p, n), func(t *testing.T) {
				model.Check(t, func() { program(n, p) })
			})
		}
	}
}
