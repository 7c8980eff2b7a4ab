//go:build modelcheck

package graph

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
)

var errWhim = errors.New("whim")

// TestModelRandom: runs of a random graph with a random fault, several at once and one after the other. Every run ends.
// Without a fault all tasks run. With one no later task runs, and the error reports the fault.
func TestModelRandom(t *testing.T) {
	count := testkit.Count(t, 10_000)
	policies := testkit.Usable(experiment.Policies(), experiment.Available)
	model.CheckRandom(t, count, testkit.Seed(t), func() {
		cfg := executor.Config{
			Workers:    1 + model.Choose(3),
			Experiment: experiment.Options{Policy: policies[model.Choose(len(policies))]},
			Host:       host.Options{KeepGOMAXPROCS: true},
		}
		exits := 2 // goroutines that may end: the model has room for so many more
		if model.Choose(2) == 0 {
			cfg.Callers = executor.IdleCallers
		} else {
			exits = 0 // a task that runs on the waiting goroutine must not end it
		}
		ex, err := executor.New(cfg)
		model.Assert(err == nil, "New: %v", err)
		n := drawNet()
		for range 2 {
			n.runTogether(ex, 1+model.Choose(2), &exits)
		}
		err = ex.Close()
		model.Assert(err == nil, "Close: %v", err)
	})
	testkit.Proved(t, count, "PCT runs of a whole executor with graphs")
}

// drawNet draws a graph of up to seven tasks: any edges, or one task before most of the others, for spans.
func drawNet() *net {
	tasks := 1 + model.Choose(7)
	var edges [][]int
	wide := model.Choose(3) == 0
	for from := range tasks {
		list := []int{from}
		for to := from + 1; to < tasks; to++ {
			if wide && (from == 0 || to == tasks-1) || !wide && model.Choose(3) == 0 {
				list = append(list, to)
			}
		}
		edges = append(edges, list)
	}
	return newNet(tasks, edges...)
}

// runTogether starts some runs and waits for them.
func (n *net) runTogether(ex *executor.Executor, runs int, exits *int) {
	for range runs {
		p := n.newPass()
		faulty := -1
		if model.Choose(2) == 0 {
			faulty = model.Choose(len(n.preds))
		}
		kind := model.Choose(4)
		var r *executor.Run
		var started xatomic.Bool // publishes r
		p.act = func(task int) error {
			if task != faulty {
				return nil
			}
			switch {
			case kind == 0:
				panic(errWhim)
			case kind == 1:
				started.Await()
				r.Cancel(errWhim)
				return nil
			case kind == 2 && *exits > 0:
				*exits--
				runtime.Goexit()
			}
			return errWhim
		}
		r = ex.Start(context.WithValue(context.Background(), passKey{}, p), n)
		started.Store(true)
		defer func() {
			err := r.Wait()
			if faulty < 0 {
				p.ended(err)
				return
			}
			model.Assert(p.has(faulty), "the task with a fault did not run")
			model.Assert(errors.Is(err, errWhim) || errors.Is(err, executor.ErrGoexit), "task %d of %v, fault %d: %v",
				faulty, n.preds, kind, err)
			for task, preds := range n.preds {
				for _, before := range preds {
					model.Assert(before != faulty || !p.has(task), "task %d ran after task %d, which has a fault",
						task, faulty)
				}
			}
		}()
	}
}
