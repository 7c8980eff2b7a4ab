package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// What groups keep, with groupqueue. The files that work with it stand on each other in this order: groupsite,
// grouptasks, groupbatch, groupinbox, groupturn, grouprun, groupgo. Each names only those before it.

// A Group is a number of functions that run on the executor, of which the first error counts. It has the methods of an
// errgroup.Group of golang.org/x/sync. A program that has one changes in a line:
//
//	g, ctx := errgroup.WithContext(ctx)           // before
//	g, ctx := executor.GroupWithContext(ctx, ex)  // after
//
// These differences matter most. MIGRATING.md lists all of them.
//
//   - A function runs on a worker, not on a goroutine of its own. If it waits for I/O, a lock or a channel, a spare
//     worker stands in for its worker, see [Blocking]. Functions that were short so far run in Wait, one after the
//     other, or on workers after up to 10 ms.
//   - So next of an iter.Pull must not be called by several functions, even one at a time: the runtime then ends the
//     process.
//   - A panic becomes a *[PanicError], and [runtime.Goexit] becomes [ErrGoexit].
//   - If the caller's context ends before the last function has returned, and before any failure, Wait returns an
//     error, even if all functions return nil. It is not [context.Canceled] itself: [errors.Is] finds that.
//   - With a limit, [Group.Go] called from a task seldom waits, and may call the function itself.
//   - The group is a run of the executor from its first function, or from GroupWithContext, until Wait, and counts
//     against [Config.MaxRuns]. It is nested in the run of the task that has called Go first, but only the context that
//     GroupWithContext was given cancels it. Close waits for its functions, but not for Wait.
//
// Go and Wait are safe for concurrent use; SetLimit and KeepGoing are not, and panic between the first function and the
// return of Wait. A zero Group is one of NewGroup on the executor of [Default], from its first call on. A Group must
// not be copied after that.
type Group struct {
	made xatomic.Uint32 // 1 from the first call on; P1: publishes what follows
	ex   *Executor
	ctx  context.Context // the caller's

	run   xatomic.Pointer[groupRun] // the newest; nil before the first
	cause xatomic.Pointer[error]    // of the first Cancel; nil before it
	start xsync.Mutex               // held by a goroutine, not by a worker, to start a run
	keeps bool                      // KeepGoing was called; constant while the group is used

	groupQueue
}

// NewGroup returns a group whose functions run on ex, or on [Default] if ex is nil. The group's context, which
// functions of [Group.GoContext] are given, follows no other context. In a task GroupWithContext with the context of
// the task is the better choice: it is cancelled with the task's run.
func NewGroup(ex *Executor) *Group {
	if ex == nil {
		ex = Default()
	}
	ex.mustBeMade()
	g := &Group{}
	g.init(ex, context.Background())
	return g
}

// init makes a zero group one whose functions run on ex.
func (g *Group) init(ex *Executor, ctx context.Context) {
	g.ex, g.ctx, g.limit = ex, ctx, -1
	g.made.Store(1)
}

// SetLimit limits the number of functions that run at a time. A negative number, the default, means no limit. With 0
// there can be no functions. A function does not count while its Go calls another, which has its place.
func (g *Group) SetLimit(n int) {
	g.mustBeIdle("SetLimit")
	g.limit = max(n, -1)
}

// KeepGoing has the group go on after a failure: the group's context is not cancelled, functions of GoContext are
// called all the same, and Wait returns all failures, also those of before, joined in the order in which they came.
// Only what comes after a failed function, see [Group.GoAfter], is not called.
func (g *Group) KeepGoing() {
	g.mustBeIdle("KeepGoing")
	g.keeps = true
}

// mustBeIdle panics if functions of the group may run, or if g is nil.
func (g *Group) mustBeIdle(method string) {
	g.mustBeMade()
	if r := g.run.Load(); r != nil && r.used.Load() && !r.of.over.Load() {
		panic("executor: Group." + method + " while functions of the group may run: " +
			"call it before the first Go or after Wait")
	}
}

// mustBeMade makes a zero group one of the default executor, and panics if g is nil.
func (g *Group) mustBeMade() {
	if g == nil || g.made.Load() == 0 {
		g.make()
	}
}

func (g *Group) make() {
	if g == nil {
		panic("executor: a method of a nil Group")
	}
	ex := Default()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.made.Load() == 0 {
		g.init(ex, context.Background())
	}
}

// check panics if the limit allows no function.
func (g *Group) check() {
	if g.limit == 0 {
		panic("executor: a function for a Group whose limit is 0: it would never run")
	}
}

// A GroupTask is a function that was given to [Group.GoAfter]. It has no name, so Wait does not list those that were
// not called; graph.KeepGoing does.
type GroupTask struct {
	task groupTask
	g    *Group

	// Guarded by g.mu; err is constant once ended is set.
	waits int          // tasks to wait for
	then  []*GroupTask // that wait for it
	ended bool
	err   error // why it has failed or was not called
}

// A groupRun is a run of a Group, from the first function until the functions in progress at Wait have ended. It
// implements Job and Hooks.
type groupRun struct {
	Body
	group *Group
	of    *Run
	inbox Item                       // in a lane, in the injector or withheld while Group.calls is set
	exec  func(*Worker, *Item) *Item // of the functions

	before error          // the result of the run before
	stops  bool           // it is stopped from the start, because of before
	quits  bool           // it is, and before tells a cancellation and no failure; a later failure does not count
	used   xatomic.Bool   // it has got a function
	open   xatomic.Uint32 // 1 until Wait or Close

	asked bool                            // withhold was called; guarded by groupQueue.mu
	site  xatomic.Pointer[site[groupRun]] // where the time is to be noted, see withhold; or nil
	trial trial                           // from the first function from outside on

	// Guarded by groupQueue.mu; of functions of the group that call Go while many are queued, see waitsInGo.
	inGo      int  // how many wait in Go
	callsInGo bool // Go calls the function that it was given
	gaveUp    bool // one has waited in vain

	// Besides workers, left counts the functions that have not ended, and one while the run is open. A worker counts the
	// functions that it ends in workerParts.futures, until it leaves the body. So threads outside write to it much oftener
	// than workers.
	_ pad.Line
	counted
	_ pad.Line

	mu   xsync.Mutex
	errs []error // the first failure, or all if the group keeps going; guarded by mu
}

// out counts n units out, and ends the run after the last.
func (r *groupRun) out(n int64) {
	if r.left.Out(n) {
		r.Run().Finish(r.errs...)
	}
}

// A groupTask is a function of a group.
type groupTask struct {
	Item // first: see groupTaskOf
	groupFunction
	handle *GroupTask // that it is part of, or nil
	next   *groupTask // in Group.first or in a list of tasks out of use
	turn   groupTurn
}

// A groupFunction is a function of a group: fn, or cfn if that is nil.
type groupFunction struct {
	fn  func() error
	cfn func(context.Context) error
}

// A groupTurn says how a function gets its turn.
type groupTurn struct {
	comes chan struct{} // closed when it comes; nil if no caller of Go waits for that
	ofOwn bool          // a function of the group waits for comes, and is counted in groupRun.inGo
	lent  bool          // it is that of the function whose Go calls this one, see callInGo
}
