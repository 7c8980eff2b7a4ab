package executor_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// forkingPrograms wait, by calling wait, for what only they know of: what they have forked or started and not joined.
// send lets one wait go on.
var forkingPrograms = map[string]func(wait, send func()) executor.Job{
	"the newest of many forks": func(wait, send func()) executor.Job { return forksThenWaits(49, wait, send) },
	"one in the middle":        func(wait, send func()) executor.Job { return forksThenWaits(25, wait, send) },
	"forks of functions below": func(wait, send func()) executor.Job {
		var nest func(s *executor.Scope, depth int) int
		nest = func(s *executor.Scope, depth int) int {
			if depth == 0 {
				wait()
				return 0
			}
			f := executor.Fork(s, func(_ *executor.Scope, depth int) int {
				if depth == 1 {
					send()
				}
				return 1
			}, depth)
			return nest(s, depth-1) + f.Join(s)
		}
		return executor.NewJob("nest", func(s *executor.Scope) error { nest(s, 50); return nil })
	},
	"a child": func(wait, send func()) executor.Job {
		return executor.NewJob("child", func(s *executor.Scope) error {
			s.Spawn(func(*executor.Scope) error { send(); return nil })
			wait()
			return s.Wait()
		})
	},
	"tasks of a graph": func(wait, send func()) executor.Job {
		g := graph.New("graph")
		waits := func(context.Context) error { wait(); return nil }
		sends := func(context.Context) error { send(); return nil }
		g.Task(nothing).Precede(g.Task(waits), g.Task(sends), g.Task(sends), g.Task(waits))
		return g
	},
}

// forksThenWaits forks 50 calls, of which one sends, and waits before it joins them.
func forksThenWaits(sender int, wait, send func()) executor.Job {
	return executor.NewJob("forks", func(s *executor.Scope) error {
		var forks [50]executor.Forked[int, int]
		for i := range forks {
			forks[i] = executor.Fork(s, func(_ *executor.Scope, i int) int {
				if i == sender {
					send()
				}
				return i
			}, i)
		}
		wait()
		for i := range forks {
			forks[len(forks)-1-i].Join(s)
		}
		return nil
	})
}

// Blocking brings forward what only its worker knows of: a task may wait in it for its own private forks, for items
// that its deque hides, and for other tasks of its graph, with any number of workers.
func TestBlockingForOwnForks(t *testing.T) {
	for _, kind := range testkit.Thorough(t, deque.Kinds()) {
		for name, program := range forkingPrograms {
			if kind.FIFO() && name != "tasks of a graph" {
				continue // there are no scopes
			}
			for _, workers := range []int{1, 2, 4} {
				t.Run(fmt.Sprintf("%v/%s/W=%d", kind, name, workers), func(t *testing.T) {
					ex := newExecutor(t, executor.Config{Workers: workers, Experiment: experiment.Options{Deque: kind}})
					c := make(chan struct{}, 2)
					wait := func() { executor.Blocking(func() { <-c }) }
					within(t, ex, func() {
						require.NoError(t, ex.Run(t.Context(), program(wait, func() { c <- struct{}{} })))
					})
				})
			}
		}
	}
}
