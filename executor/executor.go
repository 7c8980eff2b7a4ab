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
	"github.com/magpie-go/magpie/internal/living"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/procs"
	"github.com/magpie-go/magpie/internal/xsync"
	"github.com/magpie-go/magpie/notifier"
)

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

// NewInline returns an executor for tests, which has no threads. A call that starts a run or an [Async] runs it before
// it returns, on the calling goroutine, together with all other tasks that are ready. The seed chooses the order of
// ready tasks. The same seed gives the same order: a test that tries many seeds finds tasks that rely on an order which
// is not guaranteed. When a task ends the context that its run was started with, no other task of the run begins after
// it.
//
// The executor has one worker, and otherwise behaves as others do. Goroutines that use it at the same time take turns,
// and then influence the order. A task may use other executors, with threads or without. It is on the worker of each
// executor whose tasks are on its goroutine's stack: a run that it starts on one of these is nested. A task that waits
// for something that only the calling goroutine could do next waits for ever.
//
// [runtime.Goexit] in a task, such as that of t.FailNow, also ends the calling goroutine, after the other ready tasks
// have run. The caller may also be a function that gives back the permit of a semaphore that the task waited for, or
// that ends a [Future] that the task comes after.
//
// The executor may be used under testing/synctest: time passes while its tasks wait. The executor, its runs and its
// futures belong to the bubble in which it was made: the runtime ends the process with a fatal error if an executor is
// used both in a bubble and outside it. Graphs, semaphores and other jobs may be used in several bubbles, one after the
// other, and outside. Executors of [New] are not for bubbles: time does not pass while a thread sleeps.
//
// The observers are as in [Config.Observers]. Their functions are called on the goroutines that call the executor.
// NewInline panics if one is nil.
func NewInline(seed uint64, observers ...*Observer) *Executor {
	if i := slices.Index(observers, nil); i >= 0 {
		panic(fmt.Sprintf("executor: observer %d of NewInline is nil", i))
	}
	cfg := Config{Workers: 1, Name: "inline", KeepGOMAXPROCS: true, Observers: slices.Clone(observers)}
	ex := newExecutorOn(cfg, newInline(seed))
	ex.observers.attach(ex)
	return ex
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
	ex.attach()
	ex.schedule.init(&ex.cfg)
	return ex
}

// attach has the kernel call the features, in this order at each place.
func (ex *Executor) attach() {
	on := &ex.attached
	ex.guests.attachTo(on)
	attachForks(on)
	attachGroups(on)
	ex.sharing.attachTo(on)
	ex.silence.attachTo(on)
	attachPeers(on, &ex.cfg)
	ex.observers.attachTo(on)
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
