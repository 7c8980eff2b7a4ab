package executor

import (
	"weak"

	"github.com/magpie-go/magpie/executor/internal/lane"
	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/executor/internal/spares"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
	"github.com/magpie-go/magpie/notifier"
)

// An Executor is a number of workers, each locked to an OS thread of its own, that run tasks and steal from each other.
// Spare workers stand in for those that wait in [Blocking]. All methods may be called from any goroutine. There may be
// several executors in one process. An Executor is made by [New] or [NewInline]: all methods of a nil or zero Executor
// panic.
//
// If an Executor becomes unreachable and is not closed, the garbage collector closes it some time later, with a line in
// the log of package log. Its runs in progress, and the Runs and Futures that a program keeps, refer to it.
type Executor struct {
	*core
	_ noCopy
}

// mustBeMade panics if ex is nil or zero.
func (ex *Executor) mustBeMade() {
	if ex == nil || ex.core == nil {
		panic("executor: an Executor is made by New or NewInline")
	}
}

// noCopy makes go vet report copies: a reference to a copy does not keep the executor open.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// core is the state of an executor. Two Executors share it: that of New, to which programs, runs and futures refer, and
// another, to which the workers refer. So the first can become unreachable while there are workers.
type core struct {
	// Constant.
	cfg       Config
	roster    []*Worker // the configured workers, then room for the spares; see workers
	notifier  *notifier.Notifier
	policy    policy.Policy
	lanes     *lane.Maker[Item]
	release   func()     // gives the reserved Ps back
	leave     func()     // ends its being known to internal/living
	inline    *inline    // set if there are no threads
	sharing   *sharing   // set with Config.Share or Config.HostShare
	observers *observers // set with Config.Observers
	intake    *intake    // set with Config.MaxRuns
	guests    *guests    // set if callers take part
	byThread  byThread   // finds the workers by their threads
	attached  attachments
	made      xatomic.Int32 // the number of workers in roster; it seldom changes

	_ pad.Line
	// Read at every push, written when a worker goes to sleep or is woken.
	sleepingHelpers xatomic.Int32 // workers asleep in a wait for a run or a fork
	stop            xatomic.Bool  // the workers' threads are to end
	_               pad.Line
	injector        injector
	_               pad.Line
	asyncs          asyncs
	_               pad.Line
	spares          spares.Ledger
	_               pad.Line
	groupTasks      groupTaskStore
	_               pad.Line
	silence         silence
	_               pad.Line

	schedule schedule
	hooks    threadHooks
	up       xatomic.Bool           // New has succeeded, as far as the workers' threads go
	unnamed  xatomic.Pointer[error] // why the system refused to name a thread, if it did

	mu     xsync.Mutex          // guards what follows
	runs   xatomic.Pointer[Run] // in progress, newest first; written under mu
	closed xatomic.Bool         // set under mu: no further runs from outside
	// inProgress is the length of runs.
	inProgress int

	running xsync.WaitGroup // one for each run in progress, and one while there are futures in progress
	alive   xsync.WaitGroup // one for each worker with a thread
	close   xsync.Once
	leaving threadList
	life    life

	nowhere Body // of a worker that calls functions of AfterEnd; constant, of no run

	public weak.Pointer[Executor] // the Executor that New has returned; constant from before any run
}

// workers returns the workers made so far. A worker is added before its thread starts; none is ever removed.
//
// P1: made publishes the new worker. If another worker, on its last look at all lanes before it sleeps, does not see
// the new one, it has announced its sleep before any item could be in the new one's lane: D1(push) then finds the
// sleeper.
func (ex *core) workers() []*Worker { return ex.roster[:ex.made.Load()] }

// isRunning reports whether a run or a future is in progress. Any thread.
func (ex *core) isRunning() bool { return ex.runs.Load() != nil || ex.asyncs.left.Load() != 0 }
