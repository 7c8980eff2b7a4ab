package bench

import (
	"context"
	"sync"

	"github.com/magpie-go/magpie/executor"
)

// A team runs the calls of a fork-join program: one after the other, at the same time, or measured. Programs written
// for teams are written once. Each fork costs a closure, so programs whose tasks take nanoseconds have code of their
// own for each engine besides.
type team interface {
	// each calls f(t, i) for i from 0 to n-1 and returns when all calls have returned. The calls may be at the same
	// time. t is for the call only.
	each(n int, f func(t team, i int))
	// did says that the caller has done so many units of work. The program chooses the unit.
	did(units int)
}

// A teamwork is a [Program] that a team can run. It is to be run between a Reset and a Verify, as by an engine.
type teamwork interface {
	run(t team)
}

// inTurn is a team that makes one call after the other.
type inTurn struct{}

func (t inTurn) each(n int, f func(team, int)) {
	for i := range n {
		f(t, i)
	}
}

func (inTurn) did(int) {}

// onGoroutines is a team that has a goroutine for each call but the first.
type onGoroutines struct{ *spawner }

func (t onGoroutines) each(n int, f func(team, int)) {
	var wg sync.WaitGroup
	for i := n - 1; i > 0; i-- {
		t.start(&wg, func() { f(t, i) })
	}
	f(t, 0)
	wg.Wait()
}

func (onGoroutines) did(int) {}

// onExecutor is a team that forks all calls but the first. A worker from which nobody steals makes them in turn. If
// muster is not nil, the workers that begin a call are noted there.
type onExecutor struct {
	scope  *executor.Scope
	muster *muster
}

// fewForks is the number of forks for which each needs no memory. It is arbitrary.
const fewForks = 7

func (t *onExecutor) each(n int, f func(team, int)) {
	var few [fewForks]executor.Forked[teamCall, struct{}]
	forks := few[:]
	if n-1 > len(few) {
		forks = make([]executor.Forked[teamCall, struct{}], n-1)
	}
	forks = forks[:n-1]
	for i := range forks { // the call that Join makes first is forked last
		forks[i] = executor.Fork(t.scope, callTeam, teamCall{f, n - 1 - i, t.muster})
	}
	f(t, 0)
	for i := len(forks) - 1; i >= 0; i-- {
		forks[i].Join(t.scope)
	}
}

func (*onExecutor) did(int) {}

// A teamCall is one call of each on an executor.
type teamCall struct {
	f      func(t team, i int)
	i      int
	muster *muster
}

func callTeam(s *executor.Scope, c teamCall) (none struct{}) {
	c.muster.here()
	c.f(&onExecutor{s, c.muster}, c.i)
	return none
}

// runOn runs p on ex.
func runOn(ex *executor.Executor, p teamwork, m *muster) error {
	_, err := executor.Call(context.Background(), ex, callTeam, teamCall{func(t team, _ int) { p.run(t) }, 0, m})
	return err
}
