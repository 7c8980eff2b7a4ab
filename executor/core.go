package executor

import (
	"github.com/magpie-go/magpie/executor/internal/lane"
	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/executor/internal/spares"
	"github.com/magpie-go/magpie/executor/internal/spin"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
	"github.com/magpie-go/magpie/notifier"
)

// A core is the scheduler: the workers, what they share, and the runs in progress. It knows features as attachments.
type core struct {
	// Constant.
	name       string
	configured int  // the number of workers without spares
	alone      bool // the lane of a single worker is private until there may be a spare
	verbatim   bool // see Experiment.Verbatim
	apart      bool // a worker wakes others on another CPU than its own, see notifier.NotifyApart
	retries    bool // policy.Row.Retries

	roster   []*Worker // the configured workers, then room for the spares; see workers
	notifier *notifier.Notifier
	policy   policy.Policy
	lanes    *lane.Maker[Item]
	inline   *inline // set if there are no threads
	callers  callers // finds their workers
	attached attachments
	made     xatomic.Int32 // the number of workers in roster; it seldom changes

	_ pad.Line
	// Read at every push, written when a worker goes to sleep or is woken.
	sleepingHelpers xatomic.Int32 // workers asleep in a wait for a run or a fork
	stop            xatomic.Bool  // the workers' threads are to end
	_               pad.Line
	injector        injector
	_               pad.Line
	spares          spares.Ledger
	_               pad.Line

	unnamed xatomic.Pointer[error] // why the system refused to name a thread, if it did

	mu         xsync.Mutex            // guards what follows
	runs       xatomic.Pointer[Run]   // in progress, newest first; written under mu
	inProgress int                    // the length of runs
	closed     xatomic.Bool           // set under mu: no further runs from outside
	aborted    xatomic.Pointer[error] // for which all work is cancelled; set under mu, after closed

	running xsync.WaitGroup // one for each run in progress, and one for each feature that has work of its own
	alive   xsync.WaitGroup // one for each worker with a thread
	leaving threadList

	spins   spin.Spins // of callers that wait
	nowhere Body       // of a worker that calls functions of OnEnd; constant, of no run
}

// workers returns the workers made so far. A worker is added before its thread starts; none is ever removed.
//
// P1: made publishes the new worker. If another worker, on its last look at all lanes before it sleeps, does not see
// the new one, it has announced its sleep before any item could be in the new one's lane: D1(push) then finds the
// sleeper.
func (ex *core) workers() []*Worker { return ex.roster[:ex.made.Load()] }

// listRuns returns the runs in progress, the newest first. The caller holds mu.
func (ex *core) listRuns() (runs []*Run) {
	for r := ex.runs.Load(); r != nil; r = r.next {
		r.keep()
		runs = append(runs, r)
	}
	return runs
}

// isInProgress reports whether r is in progress. The caller holds mu.
func (ex *core) isInProgress(r *Run) bool { return r.prev != nil || ex.runs.Load() == r }

// isOnly reports whether r is the only work in progress. The caller holds mu.
func (ex *core) isOnly(r *Run) bool {
	return ex.runs.Load() == r && r.next == nil && !ex.attached.isBusy()
}

// isRunning reports whether a run, or other work of a feature, is in progress. Any thread.
func (ex *core) isRunning() bool { return ex.runs.Load() != nil || ex.attached.isBusy() }

// coreConfig is what a core is made of.
type coreConfig struct {
	name            string
	workers, spares int
	policy          *policy.Row
	options         policy.Options
	lanes           *lane.Maker[Item] // for as many as workers and spares
	alone, verbatim bool              // as in core
	apart           bool              // as in core
	inline          *inline           // set if there are to be no threads
}

// init makes a core without workers. makeWorkers follows, when the attachments are set.
func (ex *core) init(cfg coreConfig) {
	n := cfg.workers + cfg.spares
	ex.name, ex.configured = cfg.name, cfg.workers
	ex.alone, ex.verbatim, ex.apart = cfg.alone, cfg.verbatim, cfg.apart
	ex.roster, ex.notifier, ex.lanes, ex.inline = make([]*Worker, n), notifier.New(n), cfg.lanes, cfg.inline
	ex.injector = newInjector()
	ex.policy, ex.retries = cfg.policy.New(machine{ex}, cfg.options), cfg.policy.Retries
	ex.spares.Init(spareHost{ex}, cfg.spares, spareIdle)
	if ex.inline == nil {
		ex.callers.init(n)
	}
	ex.nowhere.Init(noHooks{})
}

// makeWorkers makes the configured workers.
func (ex *core) makeWorkers() {
	for i := range ex.configured {
		ex.roster[i] = ex.attached.newWorker(i)
	}
	ex.made.Store(int32(ex.configured))
}
