//go:build modelcheck

package pool

import (
	"context"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelTake: drainers, each on a thread, take from the queues alone, without an executor. Each task comes out once,
// and a drainer that has been told that no task is left finds no queue with one.
func TestModelTake(t *testing.T) {
	for _, o := range everyOptions() {
		for _, drainers := range []int{2, 3} {
			tasks := drainers + 1 // one drainer has two
			t.Run(fmt.Sprintf("queue=%v/stealing=%v/drainers=%d", o.Queue, o.Stealing, drainers), func(t *testing.T) {
				model.Check(t, func() { takeWith(o, drainers, tasks) })
			})
		}
	}
}

// TestModelSteal: one drainer has all tasks, and the others steal from it and from each other.
func TestModelSteal(t *testing.T) {
	for _, s := range Stealings()[1:] {
		for _, drainers := range []int{2, 3} {
			t.Run(fmt.Sprintf("stealing=%v/drainers=%d", s, drainers), func(t *testing.T) {
				model.Check(t, func() {
					const has = 3
					q, ds := newQueue(Options{Queue: PerThread, Stealing: s}, drainers, make([]int, has*drainers)...)
					want := make([]bool, has*drainers)
					for i := range want {
						want[i] = i%drainers == 0
					}
					for i := 1; i < drainers; i++ { // their tasks are not part of the program
						own := &q.(*stolen).queues[i]
						own.first, own.end = 0, 0
						own.left = xatomic.Int64{}
					}
					takeOnThreads(q, ds, want, has)
				})
			})
		}
	}
}

func takeWith(o Options, drainers, tasks int) {
	q, ds := newQueue(o, drainers, make([]int, tasks)...)
	want := make([]bool, tasks)
	for i := range want {
		want[i] = true
	}
	takeOnThreads(q, ds, want, tasks)
}

// takeOnThreads has each drainer take its tasks on a thread. Those in want come out; there are as many as tasks.
func takeOnThreads(q queue, ds []drainer, want []bool, tasks int) {
	came := make([]xatomic.Plain[bool], len(want)) // plain: a task that came out twice is a race
	var left xatomic.Int32
	left.Store(int32(tasks))
	take := func(d *drainer) {
		for {
			number, got := q.take(d)
			switch got {
			case taken:
				left.Add(-1)
				model.Assert(!came[number].Get(), "task %d came out twice", number)
				came[number].Set(true)
			case again:
				model.GiveWay()
			case none:
				if _, isPrivate := q.(*private); !isPrivate {
					// Each of the others may have taken one that it has not counted yet.
					model.Assert(int(left.Load()) < len(ds),
						"drainer %d leaves, and %d tasks are left", d.index, left.Load())
				}
				return
			}
		}
	}
	var joins []func()
	for i := 1; i < len(ds); i++ {
		joins = append(joins, model.Go(func() { take(&ds[i]) }))
	}
	take(&ds[0])
	for _, join := range joins {
		join()
	}
	for i := range came {
		model.Assert(came[i].Get() == want[i], "task %d: came out is %v", i, came[i].Get())
	}
}

// TestModelEnd: the last tasks against the end of the run, on an executor with two workers, whose drainers leave or
// spin. What a task has written is visible after the run.
func TestModelEnd(t *testing.T) {
	for _, o := range []Options{
		{}, {Idle: Spin}, {Queue: PerThread, Idle: Spin}, {Queue: PerThread, Stealing: NeighbourAll},
	} {
		t.Run(fmt.Sprintf("queue=%v/stealing=%v/idle=%v", o.Queue, o.Stealing, o.Idle), func(t *testing.T) {
			model.Check(t, func() {
				onTwoWorkers(func(ex *executor.Executor) {
					const tasks = 2
					p, err := New("p", o)
					model.Assert(err == nil, "New: %v", err)
					var ran [tasks]xatomic.Plain[int]
					for range tasks {
						p.Add(func(t *Task) error { ran[t.Number()].Set(ran[t.Number()].Get() + 1); return nil })
					}
					err = ex.Run(context.Background(), p)
					model.Assert(err == nil, "Run: %v", err)
					for i := range ran {
						model.Assert(ran[i].Get() == 1, "task %d ran %d times", i, ran[i].Get())
					}
					model.Assert(p.Stats().Total.Tasks == tasks, "the statistics have %d tasks", p.Stats().Total.Tasks)
				})
			})
		})
	}
}

// TestModelFound: two of four tasks find a result. One call is the first, and what its task has written is visible
// after the run. After it each drainer begins at most the task that it had taken.
func TestModelFound(t *testing.T) {
	for _, o := range []Options{{Queue: ByPriority}, {Queue: PerThread}} {
		t.Run(fmt.Sprintf("queue=%v", o.Queue), func(t *testing.T) {
			model.Check(t, func() { findTwo(o) })
		})
	}
}

func findTwo(o Options) {
	onTwoWorkers(func(ex *executor.Executor) {
		p, err := New("p", o)
		model.Assert(err == nil, "New: %v", err)
		var result xatomic.Plain[int]
		var over xatomic.Bool
		var late xatomic.Int32
		for range 4 {
			p.Add(func(t *Task) error {
				if over.Load() {
					late.Add(1)
				}
				if t.Number() < 2 && t.Found() {
					result.Set(t.Number() + 1)
					over.Store(true)
				}
				return nil
			})
		}
		err = ex.Run(context.Background(), p)
		model.Assert(err == nil, "Run: %v", err)
		model.Assert(result.Get() != 0, "no result")
		model.Assert(late.Load() <= 1, "%d tasks begin after the result was found", late.Load())
		model.Assert(p.Stats().Found, "the statistics do not know of the result")
	})
}

// TestModelSpinAlone: one worker, which helps in a wait, has two drainers. The first that is idle spins, and the other
// must come to run.
func TestModelSpinAlone(t *testing.T) {
	model.Check(t, func() {
		onWorkers(1, func(ex *executor.Executor) {
			p, err := New("p", Options{Queue: PerThread, Idle: Spin, Drainers: 2})
			model.Assert(err == nil, "New: %v", err)
			for range 3 {
				p.Add(func(*Task) error { return nil })
			}
			outer, err := New("outer", Options{})
			model.Assert(err == nil, "New: %v", err)
			outer.Add(func(*Task) error { return ex.Run(context.Background(), p) })
			err = ex.Run(context.Background(), outer)
			model.Assert(err == nil, "Run: %v", err)
			model.Assert(p.Stats().Total.Tasks == 3, "%d tasks ran", p.Stats().Total.Tasks)
		})
	})
}

func onTwoWorkers(f func(*executor.Executor)) { onWorkers(2, f) }

func onWorkers(workers int, f func(*executor.Executor)) {
	var ex *executor.Executor
	model.Calm(func() {
		var err error
		ex, err = executor.New(executor.Config{
			Workers: workers, Host: host.Options{KeepGOMAXPROCS: true}, Callers: executor.IdleCallers,
		})
		model.Assert(err == nil, "New: %v", err)
		for int(ex.Stats().Total.Parks) < workers {
			model.GiveWay()
		}
	})
	f(ex)
	model.Calm(func() {
		err := ex.Close()
		model.Assert(err == nil, "Close: %v", err)
	})
}
