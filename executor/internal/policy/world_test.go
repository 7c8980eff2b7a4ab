package policy

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/deque"
)

// A world is a simulated executor under a policy. Its threads take turns: each goes on until its next call of a
// Machine or Host, and then a seed chooses the one that goes on.
type world struct {
	t          testing.TB
	rng        *rand.Rand
	policy     Policy
	workers    []*worker
	limit      int
	threads    []*thread
	turn       *thread // the one that goes on
	injector   int     // items there
	left       int     // items that a run waits for: not run to the end
	fresh      int     // of those, not begun
	stale      int     // items that no run waits for, not begun
	room       int     // items that may still be made
	submitters int     // that have not ended
	stopping   bool
	helpers    int // calls of NotifyHelpers
	clock      int64
	lossy      bool   // some steals are lost
	watch      func() // called between two steps; nil if there is nothing to watch
}

// A thread of a world.
type thread struct {
	name  string
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	ready func() bool // nil if it can go on
}

// abandoned is the panic that ends a thread when its world ends before it.
type abandoned struct{}

func newWorld(t testing.TB, seed uint64, make func(Machine, Options) Policy, o Options, workers int) *world {
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 1)), limit: workers}
	w.policy = make(w, o)
	for i := range workers {
		s := &worker{w: w, id: i}
		s.thief = w.policy.Attach(s)
		w.workers = append(w.workers, s)
	}
	for _, s := range w.workers {
		w.start(fmt.Sprintf("worker %d", s.id), s.live)
	}
	return w
}

func (w *world) start(name string, f func()) {
	th := &thread{name: name}
	th.next, th.stop = iter.Pull(func(yield func(struct{}) bool) {
		th.yield = yield
		defer func() {
			if v := recover(); v != nil && v != (abandoned{}) {
				panic(v)
			}
		}()
		f()
	})
	w.threads = append(w.threads, th)
}

// pause lets another thread go on.
func (w *world) pause() {
	if !w.turn.yield(struct{}{}) {
		panic(abandoned{})
	}
}

// await lets others go on until ok.
func (w *world) await(ok func() bool) {
	w.turn.ready = ok
	w.pause()
	w.turn.ready = nil
}

// run lets threads go on until none can, and returns how many are left.
func (w *world) run() int {
	for steps := 0; ; steps++ {
		var ready []*thread
		for _, th := range w.threads {
			if th.ready == nil || th.ready() {
				ready = append(ready, th)
			}
		}
		if len(ready) == 0 {
			return len(w.threads)
		}
		if steps == 1_000_000 {
			w.fail("no rest")
		}
		if w.watch != nil {
			w.watch()
		}
		th := ready[w.rng.IntN(len(ready))]
		w.turn = th
		if _, goesOn := th.next(); !goesOn {
			for i := range w.threads {
				if w.threads[i] == th {
					w.threads = append(w.threads[:i], w.threads[i+1:]...)
					break
				}
			}
		}
	}
}

// end ends the threads that are left.
func (w *world) end() {
	for _, th := range w.threads {
		w.turn = th
		th.stop()
	}
}

// A broken world tells how it is.
func (w *world) fail(format string, args ...any) {
	s := fmt.Sprintf("%d in the injector, %d left, %d thieves", w.injector, w.left, w.policy.Thieves().Load())
	for _, k := range w.workers {
		s += fmt.Sprintf("\nworker %d: %v, notified %v, %d items", k.id, k.state, k.notified, k.lane)
	}
	w.end()
	w.t.Helper()
	w.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), s)
}

func (w *world) check(ok bool, format string, args ...any) {
	if !ok {
		w.t.Helper()
		w.fail(format, args...)
	}
}

// rest runs the world until nothing happens any more, and checks that nothing is left to do.
func (w *world) rest() {
	w.t.Helper()
	w.run()
	w.check(w.left == 0 && w.injector == 0, "%d items are left, and no worker runs them", w.left)
	thieves, actives := w.policy.Thieves().Load(), w.policy.Actives()
	w.check(thieves == 0, "at rest there are %d thieves", thieves)
	w.check(actives == 0, "at rest %d workers are active", actives)
	for _, s := range w.workers {
		w.check(s.state == asleep || s.state == standsBy, "at rest worker %d is %v", s.id, s.state)
	}
}

// submit starts a thread that submits so many items, one by one or several at once.
func (w *world) submit(items int) {
	w.submitters++
	w.start("submitter", func() {
		for left := items; left > 0; {
			for range 1 + w.rng.IntN(4)*w.rng.IntN(40) { // the run before may be over meanwhile
				w.pause()
			}
			if w.rng.IntN(4) == 0 {
				w.injector++
				w.stale++
				w.pause()
				w.policy.Submitted(1)
			}
			n := 1
			if w.rng.IntN(2) == 0 {
				n = left
			}
			left -= n
			w.left += n
			w.fresh += n
			w.pause()
			w.injector += n
			w.pause()
			w.policy.Submitted(n)
		}
		w.submitters--
	})
}

// close stops the workers, as Close does, when all is done.
func (w *world) close() {
	w.start("closer", func() {
		w.await(func() bool { return w.left == 0 && w.submitters == 0 })
		w.stopping = true
		w.NotifyAll()
	})
	if left := w.run(); left > 0 {
		w.fail("%d threads do not end", left)
	}
}

// Workers implements Machine.
func (w *world) Workers() int { return len(w.workers) }

// Limit implements Machine.
func (w *world) Limit() int { return w.limit }

// Running implements Machine. Items are counted before they are submitted.
func (w *world) Running() bool { w.pause(); return w.left > 0 }

// AnyWork implements Machine. It looks at one place at a time.
func (w *world) AnyWork() bool {
	w.pause()
	if w.injector > 0 {
		return true
	}
	for _, s := range w.workers {
		w.pause()
		if s.lane > 0 {
			return true
		}
	}
	return false
}

// AnySubmitted implements Machine.
func (w *world) AnySubmitted() bool { w.pause(); return w.injector > 0 }

// Stopping implements Machine.
func (w *world) Stopping() bool { w.pause(); return w.stopping }

// AnyWaiter implements Machine.
func (w *world) AnyWaiter() bool { w.pause(); return len(w.waiters()) > 0 }

func (w *world) waiters() (all []*worker) {
	for _, s := range w.workers {
		if (s.state == prepared || s.state == asleep) && !s.notified {
			all = append(all, s)
		}
	}
	return all
}

// Notify implements Machine.
func (w *world) Notify(n int) (woken int) {
	w.pause()
	for ; woken < n; woken++ {
		all := w.waiters()
		if len(all) == 0 {
			break
		}
		all[w.rng.IntN(len(all))].notified = true
	}
	return woken
}

// NotifyAll implements Machine.
func (w *world) NotifyAll() { w.Notify(len(w.workers)) }

// NotifyHelpers implements Machine.
func (w *world) NotifyHelpers() { w.pause(); w.helpers++ }

// A state of a worker.
type state int

const (
	awake state = iota
	prepared
	asleep
	standsBy
)

func (s state) String() string { return [...]string{"awake", "prepared", "asleep", "standing by"}[s] }

// A worker of a world. It is the Host of its part of the policy.
type worker struct {
	w        *world
	id       int
	thief    Thief
	state    state
	notified bool
	lane     int    // items there
	items    uint64 // run
	wakeups  int
	leaves   bool // it is to go
	stolen   bool // the item that it has found
	waits    bool // some items wait for another to be stolen
}

// live is a worker's life.
func (s *worker) live() {
	w := s.w
	for {
		if s.thief.Find() {
			s.work(s.stolen)
			continue
		}
		if w.stopping {
			return
		}
		w.check(s.state == standsBy, "worker %d has found nothing and does not leave", s.id)
		w.check(s.lane == 0, "worker %d leaves with %d items", s.id, s.lane)
		w.await(func() bool { return w.stopping })
		return
	}
}

// work runs an item, and what follows from it.
func (s *worker) work(stolen bool) {
	w := s.w
	s.thief.Busy(stolen)
	for more := true; more; more = s.pop() {
		s.items++
		stale := w.stale > 0 && (w.fresh == 0 || w.rng.IntN(2) == 0)
		if stale {
			w.stale--
		} else {
			w.fresh--
		}
		w.clock += int64(w.rng.IntN(100))
		for !stale && w.room > 0 && w.rng.IntN(2) == 0 {
			w.room--
			w.left++
			w.fresh++
			w.pause()
			s.lane++
			w.pause()
			if w.policy.Thieves().Load() == 0 && w.AnyWaiter() {
				w.policy.Shown()
			}
		}
		if !stale {
			w.left--
		}
		if s.waits && s.lane > 0 && w.rng.IntN(4) == 0 {
			w.await(func() bool { return s.lane == 0 }) // what it has pushed others take
		}
		if w.rng.IntN(20) == 0 { // the thread ends, and another goes on
			s.thief.Lost()
			if s.pop() {
				s.work(false)
			}
			return
		}
	}
	s.thief.Idle()
}

// pop takes an item that the worker has, or a submitted one if the policy says so.
func (s *worker) pop() bool {
	w := s.w
	w.pause()
	switch {
	case s.lane > 0:
		s.lane--
	case w.policy.Refills() && w.injector > 0 && !s.leaves:
		w.injector--
	default:
		return false
	}
	return true
}

// ID implements Host.
func (s *worker) ID() int { return s.id }

// Random implements Host.
func (s *worker) Random(n int) int { return s.w.rng.IntN(n) }

// Sees implements Host.
func (s *worker) Sees(victim int) bool { s.w.pause(); return s.w.workers[victim].lane > 0 }

// Try implements Host.
func (s *worker) Try(victim int) deque.Outcome {
	w := s.w
	w.pause()
	from := &w.injector
	if victim != s.id {
		from = &w.workers[victim].lane
	}
	switch {
	case *from == 0:
		return deque.Empty
	case w.lossy && w.rng.IntN(4) == 0:
		return deque.Lost
	}
	*from--
	s.stolen = victim != s.id
	return deque.Stolen
}

// Leave implements Host.
func (s *worker) Leave() bool {
	s.w.pause()
	if !s.leaves {
		return false
	}
	s.state = standsBy
	return true
}

// Prepare implements Host.
func (s *worker) Prepare() {
	s.w.pause()
	s.w.check(s.state == awake, "worker %d prepares again", s.id)
	s.state, s.notified = prepared, false
}

// Cancel implements Host.
func (s *worker) Cancel() bool {
	s.w.pause()
	s.w.check(s.state == prepared, "worker %d cancels and has not prepared", s.id)
	s.state = awake
	return s.notified
}

// Commit implements Host.
func (s *worker) Commit() {
	s.w.pause()
	s.w.check(s.state == prepared, "worker %d commits and has not prepared", s.id)
	s.state = asleep
	s.w.await(func() bool { return s.notified })
	s.state = awake
	s.wakeups++
}

// Searching implements Host.
func (s *worker) Searching() {}

// Pause implements Host.
func (s *worker) Pause(int) { s.w.pause() }

// Yield implements Host.
func (s *worker) Yield() { s.w.pause() }

// Preempted implements Host.
func (s *worker) Preempted(int, Sign) bool { s.w.pause(); return s.w.rng.IntN(4) == 0 }

// YieldTo implements Host.
func (s *worker) YieldTo(int) { s.w.pause() }

// Pull implements Host.
func (s *worker) Pull(int) bool { s.w.pause(); return s.w.rng.IntN(2) == 0 }

// Items implements Host.
func (s *worker) Items() uint64 { return s.items }

// Nanotime implements Host.
func (s *worker) Nanotime() int64 { return s.w.clock }
