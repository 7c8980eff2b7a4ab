package executor

import (
	"context"
	"errors"
	"fmt"
	"log"
	"runtime"
	"slices"
	"time"
	"weak"

	"github.com/magpie-go/magpie/executor/internal/lane"
	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/executor/internal/spares"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/procs"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
	"github.com/magpie-go/magpie/notifier"
)

// An Executor is a number of workers, each locked to an OS thread of its own, that run tasks and steal from each other.
// Spare workers stand in for those that wait in [Blocking]. All methods may be called from any goroutine. There may be
// several executors in one process.
//
// If an Executor becomes unreachable and is not closed, the garbage collector closes it some time later, with a line in
// the log of package log. Its runs in progress, and the Runs and Futures that a program keeps, refer to it.
type Executor struct {
	*core
	_ noCopy
}

// noCopy makes go vet report copies: a reference to a copy does not keep the executor open.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// core is the state of an executor. Two Executors share it: that of New, to which programs, runs and futures refer, and
// another, to which the workers refer. So the first can become unreachable while there are workers.
type core struct {
	// Constant.
	cfg      Config
	roster   []*Worker // the configured workers, then room for the spares; see workers
	notifier *notifier.Notifier
	policy   policy.Policy
	lanes    *lane.Maker[Item]
	release  func()        // gives the reserved Ps back
	inline   *inline       // set if there are no threads
	sharing  *sharing      // set with Config.Share
	made     xatomic.Int32 // the number of workers in roster; it seldom changes

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

	unnamed xatomic.Pointer[error] // why the system refused to name a thread, if it did

	mu     xsync.Mutex          // guards what follows
	runs   xatomic.Pointer[Run] // in progress, newest first; written under mu
	closed xatomic.Bool         // set under mu: no further runs from outside

	running xsync.WaitGroup // one for each run in progress, and one while there are futures in progress
	alive   xsync.WaitGroup // one for each worker with a thread
	close   xsync.Once
	leaving threadList

	public weak.Pointer[Executor] // the Executor that New has returned; constant from before any run
}

// New starts an executor. It reports every bad field of cfg at once. It also fails if the limits of the system leave no
// room for the workers' threads and the threads that the Go runtime may start besides, one for each P and a few: the
// runtime ends the process when it cannot start a thread. The executor should be closed: its threads stay until then.
func New(cfg Config) (*Executor, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	ps := 0
	if !cfg.KeepGOMAXPROCS {
		ps = cfg.Workers
	}
	if err := osthread.Claim(cfg.Workers, ps); err != nil {
		return nil, fmt.Errorf("executor %q: cannot start the workers' threads: %w", cfg.Name, err)
	}
	ex := newExecutor(cfg)
	ex.release = procs.Reserve(ps)
	if err := ex.startWorkers(); err != nil {
		_ = ex.Close() // the workers that did start leave; there is no run to wait for
		return nil, err
	}
	ex.sharing.join()
	public := &Executor{core: ex.core}
	ex.public = weak.Make(public)
	// Not runtime.AddCleanup: a cleanup is queued on the P that has found it (Go 1.26). If the end of another executor
	// takes that P away, the cleanup waits until there are as many Ps again.
	runtime.SetFinalizer(public, (*Executor).abandoned)
	return public, nil
}

// abandoned is the finalizer of an Executor: it closes one that was not closed. No run is in progress, since a run
// refers to its Executor.
func (ex *Executor) abandoned() {
	if !ex.closed.Load() {
		log.Printf("executor %q was not closed, and nothing refers to it: it is closed now", ex.cfg.Name)
		ex.closeAside()
	}
}

// newExecutor makes an executor whose workers have no threads yet.
func newExecutor(cfg Config) *Executor { return newExecutorOn(cfg, nil) }

func newExecutorOn(cfg Config, inline *inline) *Executor {
	lanes, err := lane.NewMaker[Item](cfg.Workers+cfg.Spares, cfg.lanes())
	if err != nil {
		panic(err) // withDefaults has checked the options
	}
	ex := &Executor{core: &core{
		cfg:      cfg,
		roster:   make([]*Worker, cfg.Workers+cfg.Spares),
		notifier: notifier.New(cfg.Workers + cfg.Spares),
		lanes:    lanes,
		injector: newInjector(),
		release:  func() {},
		inline:   inline,
	}}
	ex.policy = policy.Table[cfg.Policy].New(machine{ex}, cfg.PolicyOptions.internal())
	ex.spares.Init(spareHost{ex}, cfg.Spares, spareIdle)
	ex.sharing = newSharing(ex)
	for i := range cfg.Workers {
		ex.roster[i] = newWorker(ex, i)
	}
	ex.made.Store(int32(cfg.Workers))
	ex.asyncs.init(ex)
	return ex
}

// newWorker makes worker i, which has no thread yet.
func newWorker(ex *Executor, i int) *Worker {
	w := &Worker{
		ex:      ex,
		core:    ex.core,
		id:      i,
		rng:     uint64(i+1) * 0x9E3779B97F4A7C15,
		spare:   i >= ex.cfg.Workers,
		thieves: ex.policy.Thieves(),
		refills: ex.policy.Refills() && !ex.cfg.Verbatim,
		inline:  ex.inline,
		peers:   newPeers(&ex.cfg),
	}
	if ex.inline != nil {
		w.lane.InitShuffled(ex.inline.seed)
	} else {
		ex.lanes.Init(&w.lane, i, ex.cfg.Workers == 1 && i == 0 && !ex.cfg.Verbatim)
	}
	w.share = newSharer(w)
	w.runItems = w.loopFor()
	w.thief = ex.policy.Attach(host{w})
	w.forks.init(w)
	if w.spare {
		w.state.Store(uint32(threadless))
	}
	return w
}

// workers returns the workers made so far. A worker is added before its thread starts; none is ever removed.
//
// P1: made publishes the new worker. If another worker, on its last look at all lanes before it sleeps, does not see
// the new one, it has announced its sleep before any item could be in the new one's lane: D1(push) then finds the
// sleeper.
func (ex *core) workers() []*Worker { return ex.roster[:ex.made.Load()] }

// startWorkers starts the threads of all workers. It returns when each has been started or has failed to start.
func (ex *Executor) startWorkers() error {
	var (
		up   xsync.WaitGroup
		mu   xsync.Mutex
		errs []error
	)
	workers := ex.workers()
	up.Add(len(workers))
	ex.alive.Add(len(workers))
	for _, w := range workers {
		w.start(func(err error) {
			osthread.Arrive()
			if err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
				osthread.Unclaim()
				ex.alive.Done()
			}
			up.Done()
		})
	}
	up.Wait()
	return errors.Join(errs...)
}

// Workers returns the number of workers, not counting spare ones: the number of tasks that run at a time.
func (ex *Executor) Workers() int { return ex.cfg.Workers }

// Run runs a job and waits for its end, as Start and [Run.Wait] do. The error is nil if every task ran and returned
// nil. The package documentation says what else it can be.
func (ex *Executor) Run(ctx context.Context, j Job) error {
	w := ex.currentWorker()
	r := ex.launch(ctx, j, w, w.run())
	if r.over.Load() {
		return r.err.Get()
	}
	return r.wait(w, r.ctx.labels) // as pprof.Do does, take it that the calling task has the labels of its ctx
}

// Start starts a job and returns without waiting for its end. Cancelling ctx cancels the run. If the run cannot start,
// because the executor is closed, the context cancelled or the job invalid, it is over at once, and its Wait returns
// the error.
//
// A run that is started from a task of the same executor is nested in that task's run.
func (ex *Executor) Start(ctx context.Context, j Job) *Run {
	w := ex.currentWorker()
	return ex.launch(ctx, j, w, w.run())
}

// launch starts j, nested in parent unless that is nil. w is the calling worker, or nil.
func (ex *Executor) launch(ctx context.Context, j Job, w *Worker, parent *Run) *Run {
	if ctx == nil || j == nil {
		panic("executor: Run and Start need a context and a job, got nil")
	}
	r := &JobRun{Run{ex: ex, job: j}}
	r.ctx.owner, r.ctx.parent, r.ctx.labels = r, ctx, labelsOf(ctx)
	if w != nil {
		w.noticeContexts()
	}
	if r.ctx.notice(); r.cancelled {
		return r.stillborn(r.err.Get())
	}
	if w != nil && w.waits.helps > maxDepth {
		return r.stillborn(ErrTooDeep)
	}
	// Calls of ctx's methods, which may panic, come before admit, which counts the run: Close waits for counted runs.
	if ctx.Done() != nil {
		r.unlink = r.ctx.follow()
	}
	r.parent.Store(parent)
	if !ex.admit(&r.Run) {
		return r.stillborn(ErrClosed)
	}
	first := r.begin()
	if first == nil {
		return &r.Run
	}
	others := r.others
	r.others = nil
	r.embody(first.Body)
	if w != nil {
		r.mark = w.lane.Mark()
		r.launcher.Set(w)
		w.Push(first)
		if others != nil {
			w.pushAll(others)
		}
	} else {
		ex.injectAll(first, others)
		ex.drive(nil)
	}
	return &r.Run
}

// embody makes body the run's. The run may have been cancelled since its start.
func (r *JobRun) embody(body *Body) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body.run.Set(r)
	if r.cancelled {
		body.stop.Store(true)
	}
	r.body = body
}

// begin calls the job's Begin and returns the first item, or nil if the run is over. The run is over too if Begin
// panics or returns an item that cannot be run, so that Wait and Close do not wait for it.
func (r *JobRun) begin() (first *Item) {
	err := errNotBegun
	defer func() {
		if first == nil {
			r.others = nil
			r.ex.forget(&r.Run)
			r.stillborn(err)
		}
	}()
	it, failure := r.job.Begin(r)
	if it != nil && failure == nil && (it.Exec == nil || it.Body == nil || it.Body.hooks == nil) {
		panic("executor: the job's Begin returned an item without an Exec, or without a Body that NewBody has made")
	}
	if err = failure; err == nil {
		first = it
	}
	return first
}

// stillborn ends a run that did not begin.
func (r *Run) stillborn(err error) *Run {
	if r.unlink != nil {
		r.ctx.unfollow(r.unlink)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err.Set(err)
	r.cancelled, r.ended = true, true
	r.parent.Store(nil)
	r.ctx.cancel(context.Canceled, context.Canceled) // unless it has ended already
	r.over.Store(true)
	if r.done != nil {
		close(r.done)
	}
	return r
}

// admit adds r to the runs in progress. If the executor is closed it returns false, unless r is nested: while Close
// waits for a run, the run's tasks may start others, and running is not 0.
func (ex *Executor) admit(r *Run) bool {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.closed.Load() && r.parent.Load() == nil {
		return false
	}
	r.next = ex.runs.Load()
	if r.next != nil {
		r.next.prev = r
	} else {
		ex.sharing.begin()
	}
	ex.runs.Store(r) // D3(run): before the run's first item
	ex.running.Add(1)
	return true
}

// forget removes r from the runs in progress.
func (ex *Executor) forget(r *Run) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		ex.runs.Store(r.next)
	}
	if r.next != nil {
		r.next.prev = r.prev
	}
	r.prev, r.next = nil, nil
	if ex.runs.Load() == nil {
		ex.sharing.end()
	}
	ex.running.Done()
}

// isRunning reports whether a run or a future is in progress. Any thread.
func (ex *core) isRunning() bool { return ex.runs.Load() != nil || ex.asyncs.left.Load() != 0 }

// Close refuses new runs and futures, waits for those in progress, ends every worker and its thread, and gives the
// reserved Ps back. A second call waits for the first. Called from a task of the same executor, Close does nothing and
// returns [ErrInTask]. On a worker of another executor it waits as in [Blocking].
func (ex *Executor) Close() error {
	if ex.currentWorker() != nil {
		return ErrInTask
	}
	end := func() {
		runtime.SetFinalizer(ex, nil)
		ex.mu.Lock()
		ex.closed.Store(true)
		ex.mu.Unlock()
		ex.running.Wait()
		ex.spares.Close()
		ex.sharing.leave()
		// D1(stop): set stop, then wake all. Pairs with D1(park), and line 23 in policy published: prepare, then look
		// at stop.
		ex.stop.Store(true)
		ex.notifier.NotifyAll()
		ex.alive.Wait()
		ex.leaving.wait()
		ex.release()
	}
	Blocking(func() { ex.close.Do(end) })
	return nil
}

// A threadList has the threads of ended workers that may still exist: the runtime ends such a thread a moment after its
// goroutine.
type threadList struct {
	mu  xsync.Mutex
	ids []int64
}

func (l *threadList) add(id int64) {
	l.mu.Lock()
	l.ids = append(slices.DeleteFunc(l.ids, osthread.Gone), id) // deletes ids so that the list does not grow for ever
	l.mu.Unlock()
}

// wait waits until the threads are gone, or for a second at most: the system may have given an ID to a new thread.
func (l *threadList) wait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	deadline := time.Now().Add(time.Second)
	for _, id := range l.ids {
		for !osthread.Gone(id) && time.Now().Before(deadline) {
			time.Sleep(50 * time.Microsecond)
		}
	}
	l.ids = nil
}
