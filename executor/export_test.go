package executor

import (
	"fmt"
	"strings"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/procs"
)

// PushesForks reports whether an executor with that configuration pushes forks at once.
func (c Config) PushesForks() bool {
	s := made(c)
	lanes := s.chosen.lanes(s.Workers)
	return lanes.PushesForks()
}

// made returns the settings for c. It panics if New refused c.
func made(c Config) *settings {
	chosen, wrong := choose(c.Experiment)
	s, err := c.checked(chosen, wrong...)
	if err != nil {
		panic(err)
	}
	return s
}

// Thieves is how many workers look for items, as the protocol counts them.
func (ex *Executor) Thieves() int { return int(ex.policy.Thieves().Load()) }

// SleepingHelpers is how many workers sleep in a nested run.
func (ex *Executor) SleepingHelpers() int { return int(ex.sleepingHelpers.Load()) }

// Actives is how many workers run items, as "adaptive-published" counts them.
func (ex *Executor) Actives() int { return ex.policy.Actives() }

// GaveUp reports whether a task has waited in vain for a turn in Go.
func (g *Group) GaveUp() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stuck != 0
}

// MaxBatch is how many functions a batch has at most, and MaxStoredBatches how many batches an executor keeps.
const (
	MaxBatch         = maxBatch
	MaxStoredBatches = maxStoredBatches
)

// StoredBatches is how many empty batches the executor keeps.
func (ex *Executor) StoredBatches() (n int) {
	s := &ex.groupBatches
	s.mu.Lock()
	defer s.mu.Unlock()
	for b := s.first; b != nil; b = b.next {
		n++
	}
	return n
}

// Injected is how many items are in the injector.
func (ex *Executor) Injected() int { return ex.injector.len() }

// RunsInProgress is how many runs have begun and not ended.
func (ex *Executor) RunsInProgress() (n int) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	for r := ex.runs.Load(); r != nil; r = r.next {
		n++
	}
	return n
}

// Parked is how many workers sleep, in the notifier or in a nested run, or rest.
func (ex *Executor) Parked() (n int) {
	for _, w := range ex.workers() {
		if s := WorkerState(w.seen.state.Load()); s == WorkerParked || s == WorkerResting {
			n++
		}
	}
	return n
}

// AtRest reports whether there is no submitted item, and so many workers sleep or rest, or more, while no other looks for
// items or is on its way to sleep. A worker that has been notified may not have got up yet, but finds nothing then.
//
// The counts are read one after the other. A worker that takes an item counts as a thief, if its policy counts thieves,
// until it is seen awake, so the states come last. Whatever sleeps or is notified meanwhile changes the notifier's word.
func (ex *Executor) AtRest(parked int) bool {
	before := ex.notifier.String()
	return strings.Contains(before, " pre=0 ") && ex.Injected() == 0 && ex.Thieves() == 0 && ex.Parked() >= parked &&
		ex.notifier.String() == before
}

// Resting reports whether no worker runs or looks for items. A worker that was woken counts as a thief until it is seen
// awake, so the thieves come first.
func (ex *Executor) Resting() bool {
	if ex.Thieves() != 0 {
		return false
	}
	for _, w := range ex.workers() {
		switch WorkerState(w.seen.state.Load()) {
		case WorkerParked, WorkerResting, WorkerStandby, WorkerThreadless:
		default:
			return false
		}
	}
	return true
}

// Waits returns the length of the intake's queue.
func (ex *Executor) Waits() int {
	ex.intake.mu.Lock()
	defer ex.intake.mu.Unlock()
	return ex.intake.seats.Len()
}

// Blocked is how many workers are in Blocking, Asleep how many sleep in a wait and not in Blocking, Serving how many
// spares are in service, and Standby on standby.
func (ex *Executor) Blocked() int { return ex.spares.Counts().Blocked }
func (ex *Executor) Asleep() int  { return ex.spares.Counts().Asleep }
func (ex *Executor) Serving() int { return ex.spares.Counts().Serving }
func (ex *Executor) Standby() int { return ex.spares.Counts().Standby }

// Allot has as many workers as n be awake, on an executor with a Share and no table.
func (ex *Executor) Allot(n int) { ex.sharing.Control().SetAllotment(n) }

// SetSpareIdle sets how long the threads of idle spares are kept. It must be called before the first Blocking.
func (ex *Executor) SetSpareIdle(d time.Duration) {
	ex.spares.Init(spareHost{&ex.core}, ex.cfg.Spares, d)
}

// failingHost gives no spare a thread.
type failingHost struct{ spareHost }

func (h failingHost) Send(spare int, _ bool) { h.worker(spare).spare.failed() }

// FailSpare is a Blocking whose spare cannot be given a thread. It must be called before the first Blocking.
func (ex *Executor) FailSpare() {
	ex.spares.Init(failingHost{spareHost{&ex.core}}, ex.cfg.Spares, spareIdle)
	ex.spares.Block()
	ex.spares.Unblock()
	ex.spares.Init(spareHost{&ex.core}, ex.cfg.Spares, spareIdle)
}

// SetShutdownPatience sets how long Shutdown waits for tasks after its deadline.
func (ex *Executor) SetShutdownPatience(d time.Duration) { ex.life.patience = d }

// Threads is the identity of every worker's thread.
func (ex *Executor) Threads() []int64 {
	workers := ex.workers()
	ids := make([]int64, len(workers))
	for i, w := range workers {
		ids[i] = w.thread.id.Load()
	}
	return ids
}

// Thread is the identity of the calling thread.
func Thread() int64 { return osthread.ID() }

// OnWorker reports whether a worker of any executor claims the thread.
func OnWorker(thread int64) (found bool) {
	onThread.each(func(self int64) bool {
		w := loadOnThread(self)
		found = w != nil && (w.thread.id.Load() == thread || !w.thread.is(self)) // or left behind
		return !found
	})
	return found
}

// A ThreadTable is a threadTable of a test's own. Threads have numbers that the test gives them.
type ThreadTable = threadTable

func NewThreadTable() *ThreadTable {
	t := newThreadTable()
	t.TellGone(func(int64) bool { return false })
	return t
}

func (t *threadTable) Set(self int64, w *Worker) { t.set(self, w) }

// TellGone has the table ask gone whether a thread has ended.
func (t *threadTable) TellGone(gone func(self int64) bool) { t.gone = gone }

// End is for a thread that may have had no worker.
func (t *threadTable) End(self int64) {
	if e := t.find(self); e != nil {
		e.markEnding()
	}
}

// Find returns the thread's worker and whether there is an entry that is to stay.
func (t *threadTable) Find(self int64) (w *Worker, stays bool) {
	if e := t.find(self); e != nil {
		return e.worker.Load(), !e.ending.Load()
	}
	return nil, false
}

// Size returns the number of slots.
func (t *threadTable) Size() int { return len(*t.slots.Load()) }

// PollInterval is how many items a busy worker runs between two looks at the injector.
const PollInterval = pollInterval

// InUse is how many calls are in use.
func (f *forks) InUse() (calls int) {
	for _, p := range f.pools {
		calls += p.(interface{ inUse() int }).inUse()
	}
	return calls
}

func (p *callPool[A, R]) inUse() (calls int) {
	for i := range p.calls {
		if p.calls[i].frame != 0 {
			calls++
		}
	}
	return calls
}

// Unjoined is how many levels of forks the scope's function has in use.
func (s *Scope) Unjoined() int { return int(forksOf(s.w).level() - s.level) }

// CheckForks returns what is wrong with the books of the worker's forks; "" means nothing. Only the function that was
// given s may call it, while it runs.
func (s *Scope) CheckForks() string {
	f := forksOf(s.w)
	level := f.level()
	for at := place(1); at <= placeOf(level)+100; at++ {
		inUse := 0
		for _, p := range f.pools {
			if c := p.at(at); c != nil {
				inUse++
				if placeOf(c.level) != at || c.owner != s.w {
					return fmt.Sprintf("the fork at place %d has level %#x, worker %d", at, c.level, c.owner.id)
				}
			}
		}
		if want := min(1, max(0, int(placeOf(level))-int(at)+1)); inUse != want {
			return fmt.Sprintf("%d forks in use at place %d of %d", inUse, at, placeOf(level))
		}
	}
	t := &s.top
	switch {
	case f.scope != s || level < s.level || f.public > level || f.base != s.level:
		return fmt.Sprintf("level %#x, public %#x, base %#x, that of the scope %#x", level, f.public, f.base, s.level)
	case (s.children != nil) != (t.next == 0):
		return fmt.Sprintf("next is %#x, the scope's first child %p", t.next, s.children)
	case t.pool == nil:
		return ""
	}
	of := t.span
	if t.next == 0 {
		of = t.hidden
	}
	if p := t.pool.(interface{ holds(uintptr) bool }); !p.holds(of.next) || !p.holds(of.last) || of.next > of.last {
		return fmt.Sprintf("the scope's pool is not that of %#x", of)
	}
	return ""
}

// holds reports whether a call of the pool has the address.
func (p *callPool[A, R]) holds(address uintptr) bool {
	for i := range p.calls {
		if p.calls[i].address() == address {
			return true
		}
	}
	return false
}

// ForksLeft describes the workers that have forks left; "" means none. No scope may be in use.
func (ex *Executor) ForksLeft() (told string) {
	for _, w := range ex.workers() {
		f := forksOf(w)
		if f.level() != f.base || f.public != f.base || f.early != 0 || f.thrown.err != nil || f.InUse() != 0 {
			told += fmt.Sprintf("worker %d: level %d, public %d, early %d, thrown %v, %d calls\n",
				w.id, f.level(), f.public, f.early, f.thrown, f.InUse())
		}
	}
	return told
}

// KeepsCall reports whether the next run from outside uses the one before again.
func (ex *Executor) KeepsCall() bool { return ex.kept.taken.Load() == 0 && ex.kept.run != nil }

// CallKeepsExecutor reports whether a run that is kept for the next call refers to the Executor.
func (ex *Executor) CallKeepsExecutor() bool { return ex.KeepsCall() && ex.kept.run.run.Run.of != nil }

// KeptCall is the body of the run that is kept for the next call.
func (ex *Executor) KeptCall() *Body { return &ex.kept.run.scope.Body }

// TaskIn returns the name of the function that a worker with that stack is in.
func TaskIn(stack string) string { return taskIn(stack) }

// OnStack reports whether a worker sleeps, so that a caller may take its place.
func (ex *Executor) OnStack() bool { return !strings.HasPrefix(ex.notifier.String(), "stack=none") }

// Crowded and CrowdLimit are the steps in which looks count several callers, and how far.
const (
	Crowded    = crowded
	CrowdLimit = crowdLimit
)

// LongStint is how long a worker is awake before the executor reserves all Ps.
const LongStint = 100 * time.Millisecond

// SetLongStint changes that for executors made until the function that it returns is called.
func SetLongStint(d time.Duration) (restore func()) {
	was := longStint
	longStint = d
	return func() { longStint = was }
}

// Looks returns a function that looks at the workers at a time, for a reserve of its own. It reports whether one has
// been awake for long.
func (ex *Executor) Looks() func(at time.Time) bool {
	r := &reserve{taken: procs.Reserve(0), long: LongStint}
	return func(at time.Time) bool {
		r.look(ex.executor, at)
		return r.asked
	}
}

// TakeRest takes the Ps that are not reserved yet.
func (ex *Executor) TakeRest() { ex.reserve.takeRest() }
