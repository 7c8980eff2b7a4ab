package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A Scope lets a function start other work on the same executor and wait for it. Everything that the function starts
// ends before the function does. Only the function that is given the Scope, and functions that it calls, may use it, on
// its own goroutine and until it returns. Any other use panics, but for one mistake that may not be noticed: a forked
// call that uses the Scope of the function around it. The race detector may report a misuse first. A function that
// waits for what its children or forked calls do, other than by Join or Wait, does so in [Blocking]: otherwise it may
// wait for ever.
//
// A Scope does not limit the children that run at a time: see RECIPES.md.
type Scope struct {
	top      top              // first, with slack and lo: what Fork and Join use
	slack    *xatomic.Uintptr // of the worker's lane; constant
	lo       uintptr          // forks.stack.lo; noStack while s is not in use, not yet checked, or below a wait
	w        *Worker
	body     *Body
	run      *scopeRun
	fork     *fork   // whose call the function is
	number   uint64  // of the scopes that have begun on the worker, from 1 on
	children *child  // not joined, newest first
	level    uint64  // that of the newest fork when the scope began; the scope's forks are above it
	base     uint64  // forks.base before the scope
	under    uintptr // forks.under before the scope
	next     *Scope  // in forks.scopes
	skipped  bool    // the function has joined a child that was not begun, see fork
}

// isHome reports whether s is in use and here, an address on the caller's stack, is on the stack of its worker. If it
// returns false, that is not known, and check tells.
func (s *Scope) isHome(here uintptr) bool { return forksOf(s.w).stack.has(s.lo, here) }

// check panics if s is not the scope of the function that runs on its worker w, or if the caller is on another
// goroutine. here is an address on the caller's stack. check reports whether the stack may have moved since s was used
// last: then it is not known which frame made the newest fork.
//
// Fork and Join do not call it where isHome is true: they are called every few nanoseconds.
func (f *forks) check(s *Scope, here uintptr) (moved bool) {
	w := f.w
	if f.scope != s {
		misused()
	}
	st := &f.stack
	if s.lo == noStack {
		*st = stack{} // it may have moved since another scope was used
	}
	if !st.has(st.lo, here) {
		if !w.thread.is(osthread.Self()) {
			misused()
		}
		moved = st.note(here)
		w.lane.SetSlack(st.slack())
	}
	s.lo = st.lo
	return moved
}

func misused() {
	panic("executor: a Scope is used outside the function that it was given to: " +
		"a function that forks, or starts children, needs the Scope that Fork, Spawn, NewJob or Call gives it, " +
		"not one that it has captured, and only while it runs")
}

// mustBeGiven panics if s is nil or zero.
func (s *Scope) mustBeGiven() {
	if s == nil || s.w == nil {
		misused()
	}
}

// Context returns the run's context: it is cancelled when the caller's is, when a child fails, and when the run ends.
func (s *Scope) Context() context.Context {
	if s == nil || s.run == nil {
		misused()
	}
	return s.run.context()
}

// context returns the context for the functions of the run. It is not inlined: the hooks of a model in it would change
// what is inlined into a child.
//
//go:noinline
func (r *scopeRun) context() context.Context {
	if r.ctx != nil {
		return r.ctx
	}
	return r.Run().Context()
}

// Executor returns the executor that runs the function.
func (s *Scope) Executor() *Executor {
	if s == nil || s.run == nil {
		misused()
	}
	return s.run.Run().of.(*Executor)
}

// WorkerIndex is [Executor.WorkerIndex] for the function. It costs three loads.
func (s *Scope) WorkerIndex() int {
	if s == nil || s.body == nil {
		misused()
	}
	return s.w.id
}

// Stopped reports whether the run was cancelled or failed. It costs two loads, and in a new run a look at its context.
func (s *Scope) Stopped() bool {
	if s == nil || s.body == nil {
		misused()
	}
	if s.w.inline != nil {
		s.w.core.noticeContexts()
	}
	return s.body.Look()
}

// Demand reports whether other workers need work: they find nothing to take from the caller's worker, or have asked it.
// A call that is forked then is available to them at once. So a function that can split its work needs to fork only
// while there is demand. With [host.Options].Share the worker may rest in it. Without demand it costs two loads.
func (s *Scope) Demand() bool {
	return (s == nil || s.slack == nil || s.slack.Load() == 0) && s.lookForDemand()
}

// lookForDemand goes on with Demand if there may be demand. The worker rests first if it is to.
func (s *Scope) lookForDemand() bool {
	s.mustBeGiven()
	w := s.w
	if partsOf(w).share.isWanted() {
		partsOf(w).share.Rest()
	}
	return w.lane.IsWanted()
}
