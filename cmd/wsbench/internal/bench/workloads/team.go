package workloads

import (
	"context"
	"sync"

	"github.com/magpie-go/magpie/executor"
)

// A team runs the calls of a fork-join program: one after the other, at the same time, or measured. Programs written
// for teams are written once. Each fork costs a closure, so programs whose tasks take nanoseconds have code of their
// own for each engine besides.
type Team interface {
	// Each calls f(t, i) for i from 0 to n-1 and returns when all calls have returned. The calls may be at the same
	// time. t is for the call only.
	Each(n int, f func(t Team, i int))
	// Did says that the caller has done so many units of work. The program chooses the unit.
	Did(units int)
}

// A Teamwork is a [Program] that a team can run. It is to be run between a Reset and a Verify, as by an engine.
type Teamwork interface {
	// RunOn does the work on t.
	RunOn(t Team)
}

// inTurn is a team that makes one call after the other.
type inTurn struct{}

func (t inTurn) Each(n int, f func(Team, int)) {
	for i := range n {
		f(t, i)
	}
}

func (inTurn) Did(int) {}

// onGoroutines is a team that has a goroutine for each call but the first.
type onGoroutines struct{ *spawner }

func (t onGoroutines) Each(n int, f func(Team, int)) {
	var wg sync.WaitGroup
	for i := n - 1; i > 0; i-- {
		t.start(&wg, func() { f(t, i) })
	}
	f(t, 0)
	wg.Wait()
}

func (onGoroutines) Did(int) {}

// onExecutor is a team that forks all calls but the first. A worker from which nobody steals makes them in turn. If
// begun is not nil, each call begins with it.
type onExecutor struct {
	scope *executor.Scope
	begun func()
}

// fewForks is the number of forks for which each needs no memory. It is arbitrary.
const fewForks = 7

func (t *onExecutor) Each(n int, f func(Team, int)) {
	var few [fewForks]executor.Forked[teamCall, struct{}]
	forks := few[:]
	if n-1 > len(few) {
		forks = make([]executor.Forked[teamCall, struct{}], n-1)
	}
	forks = forks[:n-1]
	for i := range forks { // the call that Join makes first is forked last
		forks[i] = executor.Fork(t.scope, callTeam, teamCall{f, n - 1 - i, t.begun})
	}
	f(t, 0)
	for i := len(forks) - 1; i >= 0; i-- {
		forks[i].Join(t.scope)
	}
}

func (*onExecutor) Did(int) {}

// A teamCall is one call of each on an executor.
type teamCall struct {
	f     func(t Team, i int)
	i     int
	begun func()
}

func callTeam(s *executor.Scope, c teamCall) (none struct{}) {
	if c.begun != nil {
		c.begun()
	}
	c.f(&onExecutor{s, c.begun}, c.i)
	return none
}

// RunOn runs p on ex. If begun is not nil, each call begins with it, on the worker that makes the call.
func RunOn(ex *executor.Executor, p Teamwork, begun func()) error {
	_, err := executor.Call(context.Background(), ex, callTeam, teamCall{func(t Team, _ int) { p.RunOn(t) }, 0, begun})
	return err
}
