package executor

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/internal/stalls"
	"github.com/magpie-go/magpie/internal/living"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xsync"
)

// New starts an executor. It should be closed: its threads stay until then. New reports every bad field of cfg at once.
// It also fails if Config.Threads.Start does, or if the system refuses a field of Config.Threads and BestEffort is not
// set there. And it fails if the limits on threads and on the address space leave no room for the workers' threads and
// those that the Go runtime may start besides, two for each P and a few. At the memory limit of its cgroup a process is
// ended, and refused no thread.
//
// In a bubble of testing/synctest New fails, and work for an executor made outside may end the process: [NewInline] is
// for use there. If the environment has MAGPIE_INLINE, a number, New checks cfg and returns an executor of NewInline
// with that seed, and with the Name and the Observers of cfg.
func New(cfg Config) (*Executor, error) {
	chosen, wrong := choose(cfg.Experiment)
	return newChosen(cfg, chosen, wrong...)
}

// newChosen is New with what the names of cfg.Experiment stand for, and what is wrong with them.
func newChosen(cfg Config, chosen chosen, wrong ...error) (*Executor, error) {
	s, err := cfg.checked(chosen, wrong...)
	if err != nil {
		return nil, err
	}
	if text := os.Getenv(inlineVariable); text != "" {
		seed, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("executor: %s is %q: give the seed of NewInline, or leave it empty", inlineVariable, text)
		}
		return newNamedInline(s.Name, seed, s.Observers), nil
	}
	if stalls.InBubble() {
		return nil, errBubble
	}
	first, rest := s.reservedPs()
	if err := osthread.Claim(s.Workers, first+rest); err != nil {
		return nil, fmt.Errorf("executor %q: cannot start the workers' threads: %w", s.Name, err)
	}
	ex := newExecutor(s)
	if !ex.silence.watch.IsSet() { // nobody looks how long workers are awake
		first, rest = first+rest, 0
	}
	ex.reserve.begin(first, rest)
	ex.leave = living.Enter(ex)
	ex.startWorkers()
	if err := ex.hooks.check(); err != nil {
		ex.observers.attach(nil)
		Blocking(ex.end) // there is no run to wait for
		return nil, err
	}
	if err := ex.schedule.err(); err != nil && !s.Threads.BestEffort {
		ex.observers.attach(nil)
		Blocking(ex.end) // there is no run to wait for
		return nil, fmt.Errorf("executor %q: the system refuses what Config asks for: %w\n"+
			"leave these fields zero, permit the system calls, or set BestEffort to go without", s.Name, err)
	}
	ex.sharing.join()
	public := &Executor{executor: ex}
	// Not runtime.AddCleanup: a cleanup is queued on the P that has found it (Go 1.26). If the end of another executor
	// takes that P away, the cleanup waits until there are as many Ps again.
	runtime.SetFinalizer(public, (*Executor).abandoned)
	ex.observers.attach(public)
	return public, nil
}

var errBubble = errors.New("executor: New in a bubble of testing/synctest, where no time passes while an executor " +
	"has threads: use NewInline there or, to leave the program as it is, call t.Setenv(\"MAGPIE_INLINE\", \"1\") in " +
	"the test")

// NewInline returns an executor for tests, which has no threads. A call that starts a run or an [Async] runs it before
// it returns, on the calling goroutine, together with all other tasks that are ready. The seed chooses the order of
// ready tasks, and the same seed gives the same order. When a task ends the context that its run was started with, no
// other task of the run begins after it.
//
// The executor has one worker, and otherwise behaves as others do. Goroutines that use it at the same time take turns,
// and then influence the order. A task that waits for something that only the calling goroutine could do next waits for
// ever. [runtime.Goexit] in a task, such as that of t.FailNow, also ends the calling goroutine, after the other ready
// tasks have run.
//
// Under testing/synctest time passes while tasks wait. The executor must not be used both in a bubble and outside it:
// RECIPES.md says more. Functions of the observers, which are as in [Config.Observers], are called on the goroutines
// that call the executor. NewInline panics if an observer is nil.
func NewInline(seed uint64, observers ...*Observer) *Executor {
	return newNamedInline("inline", seed, observers)
}

// inlineVariable is the environment variable for which New returns an executor of NewInline.
const inlineVariable = "MAGPIE_INLINE"

func newNamedInline(name string, seed uint64, observers []*Observer) *Executor {
	s, err := Config{
		Workers: 1, Spares: -1, Name: name, Host: host.Options{KeepGOMAXPROCS: true}, Observers: observers,
	}.checked(usual())
	if err != nil {
		panic(err) // an observer is nil
	}
	ex := &Executor{executor: newExecutorOn(s, newInline(seed))}
	ex.observers.attach(ex)
	return ex
}

// newExecutor makes an executor whose workers have no threads yet.
func newExecutor(cfg *settings) *executor { return newExecutorOn(cfg, nil) }

func newExecutorOn(cfg *settings, inline *inline) *executor {
	ex := &executor{
		cfg:       cfg,
		leave:     func() {},
		observers: newObservers(cfg),
		intake:    newIntake(cfg.MaxRuns),
		life:      newLife(),
	}
	ex.core.init(coreConfig{
		name: cfg.Name, workers: cfg.Workers, spares: cfg.Spares,
		policy: cfg.chosen.policy, options: cfg.chosen.knobs,
		lanes: cfg.chosen.makeLanes(cfg.Workers, cfg.Spares),
		// Pushed forks and Verbatim are for comparisons of deques: one worker has the lane that several have.
		alone:    cfg.Workers == 1 && !cfg.chosen.Verbatim && !cfg.chosen.forksPushed,
		verbatim: cfg.chosen.Verbatim,
		// A thread of lower priority would wait on a busy CPU for too long, and peers set the CPUs of threads
		// themselves.
		apart:  cfg.Threads.Nice == 0 && cfg.Threads.Class == host.ClassNormal && cfg.chosen.attachPeers == nil,
		inline: inline,
	})
	ex.guests = newGuests(cfg, inline, ex.policy)
	if ex.guests != nil {
		ex.guests.returns.clock.init(ex)
	}
	ex.sharing.init(ex)
	ex.schedule.init(&ex.cfg.Threads)
	ex.asyncs.init(ex)
	ex.silence.init(ex)
	ex.attach()
	ex.makeWorkers()
	return ex
}

// attach has the kernel call the features, in this order at each place.
func (ex *executor) attach() {
	on := &ex.attached
	on.newWorker, on.newRun = ex.newWorker, ex.newRun
	ex.hooks.attachTo(on, ex.cfg)
	ex.schedule.attachTo(on, ex.inline)
	ex.intake.attachTo(on)
	ex.guests.attachTo(on)
	attachForks(on)
	ex.asyncs.attachTo(on)
	attachGroups(ex, on)
	attachLimits(on)
	ex.sharing.attachTo(on)
	ex.silence.attachTo(on)
	if attachPeers := ex.cfg.chosen.attachPeers; attachPeers != nil {
		attachPeers(on)
	}
	ex.observers.attachTo(on)
}

// newWorker makes worker i, which has no thread yet.
func (ex *executor) newWorker(i int) *Worker {
	p := &workerParts{peer: newPeerThread(&ex.cfg.chosen), pace: paceFor(ex.cfg), observed: ex.observers.observe(i)}
	w := &p.Worker
	w.init(&ex.core, i)
	p.share.init(w)
	p.forks.init(w)
	p.guest.w = w
	return w
}

// newRun makes a run of j, or of the job that j has a run for, nested in parent unless that is nil. It reports whether
// the run is bounded.
func (ex *executor) newRun(j Job, parent *Run) (r *JobRun, of Job, bounded bool) {
	var p *runParts
	if k, ok := j.(*keptRun); ok {
		p, j = &k.run, k.Job
	} else {
		p = &runParts{}
	}
	p.limit = limitFor(ex, j, parent)
	return &p.JobRun, j, p.limit != nil
}

// startWorkers starts the threads of all workers. It returns when each is set up.
func (ex *executor) startWorkers() {
	var up xsync.WaitGroup
	workers := ex.workers()
	up.Add(len(workers))
	ex.alive.Add(len(workers))
	for _, w := range workers {
		w.thread.start(func() {
			osthread.Arrive()
			up.Done()
		})
	}
	up.Wait()
}

// Workers returns the number of workers, not counting spare ones.
func (ex *Executor) Workers() int {
	ex.mustBeMade()
	return ex.cfg.Workers
}

// Name returns [Config].Name or its default, or "inline" for [NewInline].
func (ex *Executor) Name() string {
	ex.mustBeMade()
	return ex.cfg.Name
}
