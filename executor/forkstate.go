package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// What forks, children and scopes keep. The files that work with it stand on each other in this order: scope, forks,
// publish, scopefail, leapfrog, outerforks, join, unjoined, taken, callpool, fork, children, scopejob. Each names only
// those before it.

// forks is a worker's fork-join state: the forks that the worker has made and not joined, the scopes in use, and free
// lists. Owner only, plain.
type forks struct {
	w      *Worker       // the owner; constant
	pushes bool          // forks are pushed at once; constant
	rests  *xatomic.Bool // the word of sharer.isWanted or, without a sharer, never; constant
	never  xatomic.Bool  // never true

	// There is a fork in use at each level above the worker's first one and below that of the top of scope or, if that
	// is nil, of under. Those up to public have been pushed to the lane, in the order of their levels; the others are
	// private.
	public   uint64
	base     uint64       // the level when the innermost scope began; outside scopes, the worker's first level
	scope    *Scope       // of the running function; no other may be used
	under    uintptr      // the top's address if scope is nil
	ground   fork         // what under is when there are no forks
	pools    []pool       // the newest first, also those that were replaced and that a scope in use may go on in
	children *child       // free list
	scopes   *Scope       // free list
	stack    stack        // the stack on which the worker runs
	begun    uint64       // the number of scopes that have begun
	takes    uint64       // the number of forks taken that belong to another worker or to none
	early    int          // the number of forks in use that were joined before newer ones
	thrown   thrown       // the failure of a call that was joined
	outer    []outerForks // of the items that wait on the worker's stack, the innermost last
}

// forksOf returns the forks of worker w.
func forksOf(w *Worker) *forks { return &partsOf(w).forks }

// A fork is the part of a forked call, a child or a root that does not depend on its types.
type fork struct {
	Item // first: see forkOf

	mark   uint64  // of the owner's lane before the push
	from   uint64  // the number of the scope for which setOrigin was called last; 0 for none
	parent *fork   // the fork in whose call this one was made; nil for a root
	owner  *Worker // the worker that makes and joins it
	err    error   // the failure, if the call did not return
	// state is 0, or forkWaited, until another worker takes the fork from a lane. That worker, the taker, adds its
	// number and its count of takes. At the end it stores forkDone, and the state is the owner's again.
	state   xatomic.Uint64
	depth   uint32 // the number of ancestors; set with parent
	kind    forkKind
	skipped bool // a child that was not begun, or a call that has joined one
	joined  bool // joined out of order: the fork stays in use until newer ones have been joined
	own     bool // the owner itself has run it; no other worker waits for it, and state does not change

	// A fork that is not taken uses only the following fields and those of the call: one cache line if A and R are
	// small.
	generation uint64  // how many calls the fork has been used for, see Forked; perhaps with checkedBit or pushedBit
	level      uint64  // the position among the worker's forks in use, see forks; constant, and 0 for a child
	frame      uintptr // the stack frame that has made the fork, see frameOf; 0 for a fork that is out of use
}

type forkKind uint8

const (
	isCall forkKind = iota
	isChild
	isRoot
)

// checkedBit is set in the generation of a private fork that has been pushed, of a fork that has been joined before a
// newer one, of one that is just above such a one, and of one that was the newest of a lane without private forks when
// its worker began to wait. A Forked has the generation without these bits. So the fast path of Join, which compares
// the generations, is for the other forks only.
//
// pushedBit is set in that of a fork that was pushed when it was made. Without checkedBit it has a fast path of its
// own.
const (
	checkedBit = 1 << 63
	pushedBit  = 1 << 62
	forkBits   = checkedBit | pushedBit
)

const (
	forkTaker  = 1<<32 - 1 // mask: the taker's ID plus 1
	forkWaited = 1 << 32   // the owner sleeps until the fork is done
	forkDone   = 1 << 33
	forkTakes  = 34 // shift: the taker's forks.takes, this fork included
)

// A call is a forked call. Calls are reused.
type call[A, R any] struct {
	fork   // first: see callOf
	fn     func(*Scope, A) R
	arg    A
	result R
}

// A child is a function started by Go or Spawn.
type child struct {
	fork // first: see childOf
	fn   func(context.Context) error
	sfn  func(*Scope) error
	next *child // in Scope.children, or in forks.children
}

// A pool is a callPool to code that does not know the types of its calls.
type pool interface {
	at(place) *fork      // the fork in use, or nil
	drop(place)          // puts the fork in use out of use
	forget(p place) bool // drops the references of the call out of use, and reports whether it had any
	isReplaced() bool    // whether only scopes that are in use may fork in the pool
}

// A place is the index of a level's call in a pool.
type place uint32

// placeOf returns the place of a level: the upper bits of a level are the worker's.
func placeOf(level uint64) place { return place(level) }

// outerForks is what suspend saves and resume restores of the forks of an item on top of which a worker runs others.
type outerForks struct {
	scope    *Scope
	lo       uintptr // of scope
	thrown   thrown
	joins    uint32
	waitsFor *Run
}

// A scopeRun is one run of a job of NewJob. It implements Hooks.
type scopeRun struct {
	Body
	fn   func(*Scope) error
	ctx  context.Context // of an observer, for the root and what it starts; nil if there is none
	root fork

	// sparing says that Goexit in a child does not fail the run: the maker of the job accounts for it. The root writes
	// it before it starts a child.
	sparing bool

	skipped bool // the root was not begun; written by it

	counted // the root until it is done, too

	tasks []TaskInfo // of the set of the job, with observers

	mu       xsync.Mutex // guards what follows
	failures []failure   // in the order in which they came
	stopper  error       // the failure that stopped the run, if one did
}

// The tasks of a job of NewJob, as observers see them.
const (
	rootTask = iota
	childTask
	forkTask
)

// A failure is an error of a function of the run.
type failure struct {
	err error
	in  *fork // the call that has failed with err, or the call in progress that has joined that one; nil if none will
}
