package executor

import (
	"unsafe"

	"github.com/magpie-go/magpie/executor/internal/pace"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// The features keep what they know of an executor, a worker or a run behind the kernel's own part, in one allocation.
// The kernel names none of them: it passes the part that it knows, from which a feature finds its own.

// An executor is a core with the state of the features. The Executor of the program refers to it, and so do the
// workers, but not to that Executor, which can thus become unreachable.
type executor struct {
	core // first: see executorOf

	// Constant.
	cfg       *settings  // constant
	leave     func()     // ends its being known to internal/living
	sharing   sharing    // set with Host.Share
	observers *observers // set with Config.Observers
	intake    *intake    // set with Config.MaxRuns
	guests    *guests    // set if callers take part

	_            pad.Line
	kept         runStore
	_            pad.Line
	asyncs       asyncs
	_            pad.Line
	groupTasks   groupTaskStore
	groupBatches groupBatchStore
	groupSites   *sites[groupRun] // nil without guests
	asyncSites   *sites[future]   // nil without guests
	_            pad.Line
	silence      silence
	reserve      reserve
	_            pad.Line

	schedule schedule
	hooks    threadHooks
	close    xsync.Once
	life     life
}

// executorOf returns the executor whose core is c.
func executorOf(c *core) *executor { return (*executor)(unsafe.Pointer(c)) }

// workerParts are a worker with what the features keep for it.
type workerParts struct {
	Worker // first: see partsOf

	// Constant.
	peer     *peerThread     // set if the policy asks about other workers' threads
	share    sharer          // set with Host.Share
	observed *observedWorker // set with Config.Observers

	// Owner only, plain.
	forks       forks
	slots       slots
	futures     int64     // futures, or functions of a Group, that have ended and are not yet counted out
	pace        pace.Pace // of the tasks' calls of Yield
	guest       guest
	guestThread guestThread
	groupTasks  groupTasks
	batch       *groupBatch // from which the worker claims functions, or nil; of the body that it is in
	batchMark   uint64      // of the lane, with the item of batch on top
	inGo        int         // the number of functions of groups on the stack that Go has called
	inOnEnd     bool        // a function of OnEnd of a future is on the stack
	_           pad.Line

	// Shared.
	leaps   leaps          // what leapfrogging joiners read
	skipped xatomic.Tell64 // the number of skipped tasks
	silent  xatomic.Tell32 // 1: the worker was found to sleep in a task outside Blocking, see stallHost
	_       pad.Line
}

// partsOf returns the parts of worker w.
func partsOf(w *Worker) *workerParts { return (*workerParts)(unsafe.Pointer(w)) }

// runParts are a run with what the features keep for it.
type runParts struct {
	JobRun // first: see partsOfRun

	limit     *limiter      // of the run itself, or of the innermost run around it that has one; constant
	scope     *scopeRun     // for a job of NewJob, if the run is part of a keptRun; constant
	groups    xatomic.Int32 // open runs of groups nested in this one
	endFuture *future       // that ends with the run, see Run.awaitable; guarded by Run.mu
}

// partsOfRun returns the parts of run r.
func partsOfRun(r *Run) *runParts { return (*runParts)(unsafe.Pointer(r)) }

const (
	_ = -unsafe.Offsetof(executor{}.core)
	_ = -unsafe.Offsetof(workerParts{}.Worker)
	_ = -unsafe.Offsetof(runParts{}.JobRun)
	_ = -unsafe.Offsetof(JobRun{}.Run)
)
