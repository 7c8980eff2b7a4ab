//go:build modelcheck

package graph

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A net is a graph whose runs are checked: every task runs once, after those before it, and sees what they wrote.
type net struct {
	*Graph
	preds [][]int
	now   *pass // the run in progress, for nets of which one run is in progress at a time
}

// A pass records one run of a net. Tasks write their mark plainly and read those of their predecessors, so a missing
// order is a data race.
type pass struct {
	marks []xatomic.Slot[int]
	act   func(task int) error // what tasks do besides, if anything
}

// newNet makes a net of so many tasks, and of edges from the first to each other of a list.
func newNet(tasks int, edges ...[]int) *net {
	n := &net{Graph: New("net"), preds: make([][]int, tasks)}
	model.Calm(func() {
		all := make([]Task, tasks)
		for i := range tasks {
			all[i] = n.Task(func(ctx context.Context) error { return n.pass(ctx).run(n, i) })
		}
		for _, list := range edges {
			for _, to := range list[1:] {
				all[list[0]].Precede(all[to])
				n.preds[to] = append(n.preds[to], list[0])
			}
		}
		err := n.Validate()
		model.Assert(err == nil, "Validate: %v", err)
	})
	return n
}

// passKey is the context's key for the pass of a net of which several are in progress.
type passKey struct{}

func (n *net) pass(ctx context.Context) *pass {
	if n.now != nil {
		return n.now
	}
	return ctx.Value(passKey{}).(*pass)
}

func (n *net) newPass() *pass { return &pass{marks: make([]xatomic.Slot[int], len(n.preds))} }

func (p *pass) run(n *net, task int) error {
	model.Assert(p.marks[task].Peek() == nil, "task %d ran twice", task)
	for _, before := range n.preds[task] {
		model.Assert(p.marks[before].Peek() != nil, "task %d ran before task %d", task, before)
	}
	p.marks[task].Put(&task)
	if p.act != nil {
		return p.act(task)
	}
	return nil
}

func (p *pass) has(task int) bool { return p.marks[task].Peek() != nil }

// count returns the number of tasks that ran.
func (p *pass) count() (n int) {
	for i := range p.marks {
		if p.has(i) {
			n++
		}
	}
	return n
}

// ended checks the end of a run that was not stopped.
func (p *pass) ended(err error) {
	model.Assert(err == nil, "the run failed: %v", err)
	model.Assert(p.count() == len(p.marks), "of %d tasks %d ran", len(p.marks), p.count())
}

// once runs the net, whose tasks call act.
func (n *net) once(ex *executor.Executor, act func(task int) error) (*pass, error) {
	n.now = n.newPass()
	n.now.act = act
	return n.now, ex.Run(context.Background(), n)
}

// again runs the net without faults.
func (n *net) again(ex *executor.Executor) {
	p, err := n.once(ex, nil)
	p.ended(err)
}

// A meeting makes n tasks wait until all of them run at once.
type meeting struct {
	n       int32
	arrived xatomic.Int32
}

func (m *meeting) meet() {
	m.arrived.Add(1)
	m.arrived.Await(func(n int32) bool { return n >= m.n })
}

// onExecutors checks a program with each policy, if it is drawn, and number of workers, which sleep when it begins.
func onExecutors(t *testing.T, workers []int, program func(ex *executor.Executor)) {
	onExecutorsWith(t, executor.Config{
		Host: host.Options{KeepGOMAXPROCS: true}, Callers: executor.IdleCallers,
	}, workers, program)
}

// onDefaults is onExecutors for long programs of which no property depends on the policy. Unless a bound is asked for,
// it checks them with the default policy only.
func onDefaults(t *testing.T, workers []int, program func(ex *executor.Executor)) {
	if model.IsBoundSet() {
		onExecutors(t, workers, program)
		return
	}
	for _, n := range workers {
		onExecutor(t, executor.Config{
			Host: host.Options{KeepGOMAXPROCS: true}, Callers: executor.IdleCallers, Workers: n,
		}, program)
	}
}

// onExecutorsWith is onExecutors for an otherwise complete configuration.
func onExecutorsWith(t *testing.T, cfg executor.Config, workers []int, program func(ex *executor.Executor)) {
	for _, policy := range []string{"adaptive", "adaptive-published"} {
		if policy == "adaptive-published" && !model.IsDrawn() {
			continue
		}
		for _, n := range workers {
			cfg := cfg
			cfg.Workers, cfg.Experiment.Policy = n, policy
			onExecutor(t, cfg, program)
		}
	}
}

func onExecutor(t *testing.T, cfg executor.Config, program func(ex *executor.Executor)) {
	t.Run(fmt.Sprintf("%v/W=%d", cfg.Experiment.Policy, cfg.Workers), func(t *testing.T) {
		model.Check(t, func() {
			var ex *executor.Executor
			model.Calm(func() {
				var err error
				ex, err = executor.New(cfg)
				model.Assert(err == nil, "New: %v", err)
				for int(ex.Stats().Total.Parks) < cfg.Workers {
					model.Spin()
				}
			})
			program(ex)
			model.Calm(func() {
				err := ex.Close()
				model.Assert(err == nil, "Close: %v", err)
			})
		})
	})
}

var both = []int{1, 2}

// diamond is 0 before 1 and 2 before 3.
func diamond() *net { return newNet(4, []int{0, 1, 2}, []int{1, 3}, []int{2, 3}) }

// TestModelJoin: a task with two predecessors runs once, after both, in the first run and in the next, for which its
// counter was armed while it ran.
func TestModelJoin(t *testing.T) {
	onExecutors(t, both, func(ex *executor.Executor) {
		n := diamond()
		n.again(ex)
		n.again(ex)
	})
}

// TestModelJoinOnTwo: the same when the predecessors need a worker each.
func TestModelJoinOnTwo(t *testing.T) {
	onExecutors(t, []int{2}, func(ex *executor.Executor) {
		n := diamond()
		m := meeting{n: 2}
		p, err := n.once(ex, func(task int) error {
			if task == 1 || task == 2 {
				m.meet()
			}
			return nil
		})
		p.ended(err)
		n.again(ex)
	})
}

// TestModelCrossing: tasks that different workers may run come before the same two, and count them down together.
func TestModelCrossing(t *testing.T) {
	onExecutors(t, []int{2}, func(ex *executor.Executor) { newNet(4, []int{0, 2, 3}, []int{1, 2, 3}).again(ex) })
}

// TestModelCrossingInSpan: the same for the tasks of a span.
func TestModelCrossingInSpan(t *testing.T) {
	onExecutors(t, []int{2}, func(ex *executor.Executor) {
		newNet(6, []int{0, 1, 2, 3}, []int{1, 4, 5}, []int{2, 4, 5}, []int{3, 4, 5}).again(ex)
	})
}

// fan is 0 before several that all come before the last, and with at least minSpan of those a span.
func fan(width int) *net {
	first, edges := []int{0}, [][]int{}
	for i := 1; i <= width; i++ {
		first = append(first, i)
		edges = append(edges, []int{i, width + 1})
	}
	return newNet(width+2, append(edges, first)...)
}

// TestModelSpan: of the tasks of a span each is claimed once, by its owner or by thieves that halve it, and their join
// fires once though they count it down together.
func TestModelSpan(t *testing.T) {
	onExecutors(t, both, func(ex *executor.Executor) {
		n := fan(minSpan + 1)
		n.again(ex)
		n.again(ex)
	})
}

// TestModelSpanHalved: a thief's half of a span is a span, from which others take halves in turn.
func TestModelSpanHalved(t *testing.T) {
	onExecutors(t, []int{2}, func(ex *executor.Executor) {
		n := fan(minSpan + 2)
		n.again(ex)
	})
}

// TestModelSpanProgress: a span counts as left before another worker can find it empty. Otherwise the other worker
// would count out more than is left, and Progress would report that no task has ended.
func TestModelSpanProgress(t *testing.T) {
	onExecutors(t, []int{2}, func(ex *executor.Executor) {
		n := fan(minSpan + 2)
		begun := meeting{n: 1}
		n.now = n.newPass()
		n.now.act = func(task int) error {
			if task == 0 {
				begun.meet()
			}
			return nil
		}
		run := ex.Start(context.Background(), n)
		begun.arrived.Await(func(n int32) bool { return n > 0 })
		p := run.Progress()
		model.Assert(p.Running > 0 || p.Left < p.Total, "nobody is in the run, and no task has ended: %+v", p)
		n.now.ended(run.Wait())
	})
}

// TestModelSpanPutOff: a worker leaves its span for tasks that one of the span's releases, and comes back to it; spans
// that are used up serve again.
func TestModelSpanPutOff(t *testing.T) {
	onExecutors(t, both, func(ex *executor.Executor) {
		n := newNet(9, []int{0, 1, 2, 3}, []int{1, 4, 6}, []int{2, 5, 6}, []int{3, 7, 8}, []int{4, 6})
		n.again(ex)
	})
}

// TestModelSpanOnTwo: a span's last task is not hidden behind one that waits for it.
func TestModelSpanOnTwo(t *testing.T) {
	onExecutors(t, []int{2}, func(ex *executor.Executor) {
		n := fan(minSpan)
		m := meeting{n: 2}
		p, err := n.once(ex, func(task int) error {
			if task == 1 || task == minSpan {
				m.meet()
			}
			return nil
		})
		p.ended(err)
	})
}

// TestModelFew: a task with few successors that makes two ready pushes one of them and runs the other.
func TestModelFew(t *testing.T) {
	onExecutors(t, both, func(ex *executor.Executor) {
		n := newNet(4, []int{3, 2}, []int{0, 1, 2})
		n.again(ex)
		n.again(ex)
	})
}

// TestModelPieces: a task releases a single successor and a span of others, with one between them that may not be ready
// because it has another predecessor.
func TestModelPieces(t *testing.T) {
	onExecutors(t, both, func(ex *executor.Executor) {
		n := newNet(8, []int{0, 3, 4, 5, 2, 1}, []int{6, 2}, []int{1, 7}, []int{3, 7})
		n.again(ex)
	})
}

// TestModelPiecesHalved: of neighbours that are more than one span, thieves take halves, and empty spans.
func TestModelPiecesHalved(t *testing.T) {
	onExecutors(t, []int{2}, func(ex *executor.Executor) {
		n := newNet(6, []int{0, 5, 1, 2, 3, 4}, []int{1, 5})
		n.again(ex)
	})
}

// TestModelSources: tasks without predecessors, which are a span under the root.
func TestModelSources(t *testing.T) {
	onExecutors(t, both, func(ex *executor.Executor) {
		n := newNet(3)
		n.again(ex)
		n.again(ex)
	})
}

var verbatim = executor.Config{
	Experiment: experiment.Options{Verbatim: true}, Host: host.Options{KeepGOMAXPROCS: true},
}

// TestModelVerbatimSources: sources that are items of their own are submitted with one notification, and run at once.
func TestModelVerbatimSources(t *testing.T) {
	onExecutorsWith(t, verbatim, []int{2}, func(ex *executor.Executor) {
		m := meeting{n: 2}
		p, err := newNet(2).once(ex, func(int) error {
			m.meet()
			return nil
		})
		p.ended(err)
	})
}

// TestModelVerbatimFan: successors that are items of their own run at once.
func TestModelVerbatimFan(t *testing.T) {
	onExecutorsWith(t, verbatim, []int{2}, func(ex *executor.Executor) {
		m := meeting{n: 2}
		p, err := fan(minSpan).once(ex, func(task int) error {
			if task == 1 || task == minSpan {
				m.meet()
			}
			return nil
		})
		p.ended(err)
	})
}

// TestModelVerbatimJoin is TestModelJoin, also for one worker with a deque as any other has.
func TestModelVerbatimJoin(t *testing.T) {
	onExecutorsWith(t, verbatim, both, func(ex *executor.Executor) {
		n := diamond()
		n.again(ex)
		n.again(ex)
	})
}

// TestModelConcurrentRuns: two runs of one graph at once share no state, and their states are kept for the next, which
// is not explored: TestModelJoin explores a run after another.
func TestModelConcurrentRuns(t *testing.T) {
	onExecutors(t, both, func(ex *executor.Executor) {
		n := newNet(3, []int{0, 1, 2})
		start := func() (*executor.Run, *pass) {
			p := n.newPass()
			return ex.Start(context.WithValue(context.Background(), passKey{}, p), n), p
		}
		r1, p1 := start()
		r2, p2 := start()
		p1.ended(r1.Wait())
		p2.ended(r2.Wait())
		model.Calm(func() { n.again(ex) })
	})
}

// TestModelTwoRunsOnOneWorker: a worker that turns to another run has added its counts to the first, in whichever order
// the two end.
func TestModelTwoRunsOnOneWorker(t *testing.T) {
	onDefaults(t, both, func(ex *executor.Executor) {
		a, b := diamond(), fan(minSpan)
		a.now, b.now = a.newPass(), b.newPass()
		ra, rb := ex.Start(context.Background(), a), ex.Start(context.Background(), b)
		a.now.ended(ra.Wait())
		b.now.ended(rb.Wait())
	})
}

// TestModelNewcomer: a worker that turns to another run in the middle of a span owes no count to the join after the
// span, for which that run's task may wait.
func TestModelNewcomer(t *testing.T) {
	onExecutors(t, []int{2}, func(ex *executor.Executor) {
		a, b := fan(minSpan+1), newNet(1)
		a.now, b.now = a.newPass(), b.newPass()
		var joined xatomic.Bool
		a.now.act = func(task int) error {
			if task == minSpan+2 {
				joined.Store(true)
			}
			return nil
		}
		b.now.act = func(int) error { joined.Await(); return nil }
		ra, rb := ex.Start(context.Background(), a), ex.Start(context.Background(), b)
		a.now.ended(ra.Wait())
		b.now.ended(rb.Wait())
	})
}

// TestModelCancel: a run that is cancelled at any moment ends, with the cause unless all its tasks ran, and leaves
// nothing behind for the next.
func TestModelCancel(t *testing.T) {
	cause := errors.New("cause")
	onExecutors(t, both, func(ex *executor.Executor) {
		n := diamond()
		n.now = n.newPass()
		r := ex.Start(context.Background(), n)
		r.Cancel(cause)
		if err := r.Wait(); n.now.count() < len(n.preds) || err != nil {
			model.Assert(errors.Is(err, cause), "of a cancelled run: %v", err)
		}
		n.again(ex)
	})
}

// breaks checks that a task's failure is the run's, that no successor runs, and that the next run is complete. The task
// that fails is a predecessor or the successor of a join. The next run is in next.
func breaks(t *testing.T, fail func() error, isIt func(error) bool, next func(run func())) {
	onExecutors(t, both, func(ex *executor.Executor) {
		n := diamond()
		faulty := []int{1, 3}[model.Choose(2)]
		p, err := n.once(ex, func(task int) error {
			if task == faulty {
				return fail()
			}
			return nil
		})
		model.Assert(isIt(err), "the run's error: %v", err)
		model.Assert(p.has(3) == (faulty == 3), "a task ran after one that failed, or did not run")
		next(func() { n.again(ex) })
	})
}

// TestModelFail: a task returns an error while its neighbour runs.
func TestModelFail(t *testing.T) {
	failure := errors.New("failure")
	breaks(t, func() error { return failure }, func(err error) bool { return errors.Is(err, failure) },
		func(run func()) { run() })
}

// TestModelPanic: a task panics while its neighbour runs. What a failed run leaves to the next, TestModelFail explores.
func TestModelPanic(t *testing.T) {
	breaks(t, func() error { panic("oh") }, func(err error) bool {
		var p *executor.PanicError
		return errors.As(err, &p) && p.Value == "oh"
	}, model.Calm)
}

// TestModelGoexit: a task ends its worker's goroutine while its neighbour runs. The executor's test of the same name
// explores the next run.
func TestModelGoexit(t *testing.T) {
	breaks(t, func() error { runtime.Goexit(); return nil },
		func(err error) bool { return errors.Is(err, executor.ErrGoexit) }, model.Calm)
}

// TestModelNested: a task runs another graph and waits for it.
func TestModelNested(t *testing.T) {
	onExecutors(t, both, func(ex *executor.Executor) {
		outer, inner := newNet(3, []int{0, 1, 2}), newNet(3, []int{0, 1, 2})
		p, err := outer.once(ex, func(task int) error {
			if task == 1 {
				inner.again(ex)
			}
			return nil
		})
		p.ended(err)
	})
}
