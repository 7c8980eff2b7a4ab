package executor

import (
	"fmt"
	"log"
	"runtime"
	"slices"
	"time"
	"weak"

	"github.com/magpie-go/magpie/executor/internal/lane"
	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/executor/internal/spares"
	"github.com/magpie-go/magpie/internal/living"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/procs"
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
	release   func()        // gives the reserved Ps back
	leave     func()        // ends its being known to internal/living
	inline    *inline       // set if there are no threads
	sharing   *sharing      // set with Config.Share or Config.HostShare
	observers *observers    // set with Config.Observers
	intake    *intake       // set with Config.MaxRuns
	guests    *guests       // set if callers take part
	byThread  byThread      // finds the workers by their threads
	made      xatomic.Int32 // the number of workers in roster; it seldom changes

	_ pad.Line
	// Read at every push, written when a worker goes to sleep or is woken.
	sleepingHelpers xatomic.Int32 // workers asleep in a wait for a run or a fork
	stop            xatomic.Bool  // the workers' threads are to end
	letters         xatomic.Int32 // posted and not claimed; seldom written
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

// New starts an executor. It reports every bad field of cfg at once. It also fails if the limits of the system leave no
// room for the workers' threads and the threads that the Go runtime may start besides, two for each P and a few: the
// runtime ends the process when it cannot start a thread. And it fails if the system refuses Config.Nice, Class, Slice,
// CPUs or Pin, unless Config.BestEffort is set. And it fails if Config.ThreadStart does, with the first failure. The
// executor should be closed: its threads stay until then.
//
// In a bubble of testing/synctest the workers count as running, so no time passes until Close, and synctest.Wait waits
// for ever. There [NewInline] is for use.
func New(cfg Config) (*Executor, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	ps := cfg.reservedPs()
	if err := osthread.Claim(cfg.Workers, ps); err != nil {
		return nil, fmt.Errorf("executor %q: cannot start the workers' threads: %w", cfg.Name, err)
	}
	ex := newExecutor(cfg)
	ex.release = procs.Reserve(ps)
	osthread.ArrivePs(ps)
	ex.leave = living.Enter(ex)
	ex.startWorkers()
	if err := ex.checkHooks(); err != nil {
		ex.observers.attach(nil)
		_ = ex.Close() // there is no run to wait for
		return nil, err
	}
	if err := ex.schedule.err(); err != nil && !cfg.BestEffort {
		ex.observers.attach(nil)
		_ = ex.Close() // there is no run to wait for
		return nil, fmt.Errorf("executor %q: the system refuses what Config asks for: %w\n"+
			"leave these fields zero, permit the system calls, or set BestEffort to go without", cfg.Name, err)
	}
	ex.sharing.join()
	public := &Executor{core: ex.core}
	ex.public = weak.Make(public)
	// Not runtime.AddCleanup: a cleanup is queued on the P that has found it (Go 1.26). If the end of another executor
	// takes that P away, the cleanup waits until there are as many Ps again.
	runtime.SetFinalizer(public, (*Executor).abandoned)
	ex.observers.attach(public)
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
		cfg:       cfg,
		roster:    make([]*Worker, cfg.Workers+cfg.Spares),
		notifier:  notifier.New(cfg.Workers + cfg.Spares),
		lanes:     lanes,
		injector:  newInjector(),
		release:   func() {},
		leave:     func() {},
		inline:    inline,
		observers: newObservers(&cfg),
		intake:    newIntake(cfg.MaxRuns),
		life:      newLife(),
	}}
	ex.policy = policy.Table[cfg.Policy].New(machine{ex}, cfg.PolicyOptions.internal())
	ex.guests = newGuests(&cfg, inline, ex.policy)
	ex.spares.Init(spareHost{ex}, cfg.Spares, spareIdle)
	ex.sharing = newSharing(ex)
	for i := range cfg.Workers {
		ex.roster[i] = newWorker(ex, i)
	}
	ex.made.Store(int32(cfg.Workers))
	if inline == nil {
		ex.byThread.init(len(ex.roster))
	}
	ex.nowhere = NewBody(noHooks{})
	ex.asyncs.init(ex)
	ex.silence.init(ex)
	ex.schedule.init(&ex.cfg)
	return ex
}

// newWorker makes worker i, which has no thread yet.
func newWorker(ex *Executor, i int) *Worker {
	w := &Worker{
		ex:   ex,
		core: ex.core,
		id:   i,
		control: control{
			thieves: ex.policy.Thieves(),
			refills: ex.policy.Refills() && !ex.cfg.Verbatim,
		},
		search: search{rng: uint64(i+1) * 0x9E3779B97F4A7C15},
		inline: ex.inline,
		peer:   newPeerThread(&ex.cfg),
		pace:   paceFor(&ex.cfg),
	}
	if ex.inline != nil {
		w.lane.InitShuffled(ex.inline.seed)
	} else {
		// Pushed forks and Verbatim are for comparisons of deques: one worker has the lane that several have.
		ex.lanes.Init(&w.lane, i, ex.cfg.Workers == 1 && i == 0 && !ex.cfg.Verbatim && ex.cfg.Forks != PushedForks)
	}
	w.share = newSharer(w)
	w.inner = w.loopFor()
	w.control.thief = ex.policy.Attach(host{w})
	w.forks.init(w)
	if w.isSpare() {
		w.setState(WorkerThreadless)
	}
	return w
}

// workers returns the workers made so far. A worker is added before its thread starts; none is ever removed.
//
// P1: made publishes the new worker. If another worker, on its last look at all lanes before it sleeps, does not see
// the new one, it has announced its sleep before any item could be in the new one's lane: D1(push) then finds the
// sleeper.
func (ex *core) workers() []*Worker { return ex.roster[:ex.made.Load()] }

// startWorkers starts the threads of all workers. It returns when each is set up.
func (ex *Executor) startWorkers() {
	var up xsync.WaitGroup
	workers := ex.workers()
	up.Add(len(workers))
	ex.alive.Add(len(workers))
	for _, w := range workers {
		w.start(func() {
			osthread.Arrive()
			up.Done()
		})
	}
	up.Wait()
}

// Workers returns the number of workers, not counting spare ones: the number of tasks that run at a time.
func (ex *Executor) Workers() int {
	ex.mustBeMade()
	return ex.cfg.Workers
}

// Name returns [Config.Name], or "magpie" if that was empty. An executor of [NewInline] is named "inline".
func (ex *Executor) Name() string {
	ex.mustBeMade()
	return ex.cfg.Name
}

// isRunning reports whether a run or a future is in progress. Any thread.
func (ex *core) isRunning() bool { return ex.runs.Load() != nil || ex.asyncs.left.Load() != 0 }

// Close refuses new runs and futures, waits for those in progress, ends every worker and its thread, and gives the
// reserved Ps back. A second call waits for the first. Called from a task of the same executor, Close does nothing and
// returns [ErrInTask]. On a worker of another executor it waits as in [Blocking].
//
// The error is otherwise nil, or the first failure of Config.ThreadStart or ThreadEnd.
func (ex *Executor) Close() error {
	ex.mustBeMade()
	if ex.currentWorker() != nil {
		return ErrInTask
	}
	end := func() {
		runtime.SetFinalizer(ex, nil)
		ex.refuse()
		ex.running.Wait()
		ex.noteDrained()
		ex.silence.watch.Close()
		ex.spares.Close()
		ex.sharing.leave()
		// D1(stop): set stop, then wake all. Pairs with D1(park), and line 23 in policy published: prepare, then look
		// at stop.
		ex.stop.Store(true)
		ex.notifier.NotifyAll()
		ex.alive.Wait()
		ex.leaving.wait()
		ex.release()
		ex.leave()
		ex.observers.detach()
		xsync.Close(ex.life.closed)
	}
	Blocking(func() { ex.close.Do(end) })
	return ex.hooks.err()
}

// A threadList holds the threads of ended workers that may still exist: the runtime ends such a thread a moment after
// its goroutine.
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
