package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// What futures keep. The files that work with it stand on each other in this order: dependents, asyncs, enlisted with
// futureend, futurewait, async, promise. Each names only those before it.

// A future is the part of a Future that does not depend on the type of its result.
type future struct {
	Item         // first: see futureOf
	call  caller // the Future around it, which has the function and the result
	ex    *Executor
	ctx   taskContext
	joins xatomic.JoinCount // futures to wait for, and init until the future has a place with each

	claimed xatomic.Uint32              // 1 after the future was begun or cancelled
	err     xatomic.Plain[error]        // P1: published by ends
	ends    xatomic.Pointer[onEnd]      // the waiters for the end, newest first; &ended after the end
	after   xatomic.Pointer[comesAfter] // what it starts after; nil after the end, to keep no chain alive

	dependents xatomic.Pointer[dependents] // nil: no future comes after this one

	told  xatomic.Pointer[onEnd]        // the entry of ends with the channel of Done
	since int64                         // when Async was called, if site is set
	site  xatomic.Pointer[site[future]] // where the time is to be noted, see withhold; or nil

	subscription xatomic.Pointer[subscription] // to the end of the caller's context; nil if the future need not be told
}

// Bits of the marks of a future's context, see oneLevel.
const (
	isListed = 1 << iota // the future was enlisted by subscribe
	hasRoom              // the future counts against Config.MaxRuns; set before it is submitted
	hasDone              // future.ends may have entries with channels
	isQuiet              // the future is of a burst that is withheld; set before a waiter knows of it
)

// A caller is the part of a Future that depends on the type of its result. A Future implements it.
type caller interface {
	make(*Worker, context.Context) error // calls the function and keeps the result
	drop()                               // drops the reference to the function
}

// An onEnd is a waiter for a future's end.
type onEnd struct {
	next   *onEnd
	teller any // a *Worker to wake, a chan struct{} to close, a func(error) to call, or the future if it is enlisted
}

var ended onEnd

// A subscription has a future cancelled when the caller's context ends, until stop is called.
type subscription struct{ stop func() bool }

// dependents are the futures that are to start after a future, and have not ended. One that ends before, because it is
// cancelled, leaves: a future that lives for ever keeps nothing alive that comes after it.
type dependents struct {
	mu     xsync.Mutex
	newest *dependence
	closed bool // the future has ended
	n      int
	swept  int // n after the last sweep
}

// A dependence is a place among the dependents of a future.
type dependence struct {
	future *future     // that is to start
	of     *dependents // written before it is linked

	// Guarded by of.mu.
	linked       bool
	older, newer *dependence
}

// A comesAfter holds the futures that a future comes after, and its places among their dependents.
type comesAfter struct {
	before []*future
	places []dependence
}

// An endOfRun is the caller of a future that ends when a run does.
type endOfRun struct{ run *Run }

func (endOfRun) make(*Worker, context.Context) error { return nil } // the future is claimed from the start
func (endOfRun) drop()                               {}

// mustBeMade panics if f is of a zero Future.
func (f *future) mustBeMade() {
	if f == nil || f.ex == nil {
		panic("executor: a Future is made by Async, Timer or a Promise")
	}
}

// isPromise reports whether f is the future of a Promise. No worker runs it, and it is not counted in asyncs.left.
func (f *future) isPromise() bool { return f.Exec == nil }

// claim reports whether the caller is the one to begin or cancel f. The item stays where it is: a worker that takes it
// later finds nothing to do.
func (f *future) claim() bool { return f.claimed.Load() == 0 && f.claimed.CompareAndSwap(0, 1) }

// isOver reports whether f has ended. Its err and result are constant from then on.
func (f *future) isOver() bool { return f.ends.Load() == &ended }

// hasEnded reports whether any thread may know that f has ended. The channel of Done may be closed a moment before
// isOver returns true.
func (f *future) hasEnded() bool {
	if t := f.told.Load(); t != nil && xsync.IsClosed(t.teller.(chan struct{})) {
		return true
	}
	return f.isOver()
}

// publishEnd publishes the end of f and returns its waiters, the newest first. What sees the end finds the channels of
// Done closed.
func (f *future) publishEnd() *onEnd {
	var past *onEnd // the channels of this entry and of those behind it are closed
	for {
		first := f.ends.Load()
		if first != nil && f.ctx.marks.Load()&hasDone != 0 {
			for e := first; e != past; e = e.next {
				if done, ok := e.teller.(chan struct{}); ok {
					xsync.Close(done) // P1: publishes err to those that see this first
				}
			}
			past = first
		}
		if f.ends.CompareAndSwap(first, &ended) {
			return first
		}
	}
}

// tell adds e to the waiters for the end. It returns false if f has ended.
func (f *future) tell(e *onEnd) bool {
	if f.hasEnded() {
		return false
	}
	for {
		first := f.ends.Load()
		if first == &ended {
			return false
		}
		e.next = first
		if f.ends.CompareAndSwap(first, e) { // P1: publishes e
			return true
		}
	}
}

// Names in the errors of futures that were cancelled.
const (
	asyncName   = "async"
	promiseName = "promise"
)
