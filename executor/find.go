package executor

import (
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A machine shows an executor to its policy. It implements policy.Machine.
type machine struct{ ex *core }

func (m machine) Workers() int       { return len(m.ex.workers()) }
func (m machine) Limit() int         { return len(m.ex.roster) }
func (m machine) Running() bool      { return m.ex.isRunning() }
func (m machine) AnyWork() bool      { return m.ex.anyItem() }
func (m machine) AnySubmitted() bool { return !m.ex.injector.isEmpty() }
func (m machine) Stopping() bool     { return m.ex.stop.Load() }
func (m machine) AnyWaiter() bool    { return m.ex.notifier.Waiting() }
func (m machine) NotifyAll()         { m.ex.notifier.NotifyAll() }

// Notify implements policy.Machine. A worker goes on. Another caller may be about to wait for what it has submitted,
// and then its CPU is free.
func (m machine) Notify(n int) int {
	if m.ex.apart && m.ex.currentWorker() != nil {
		return m.ex.notifier.NotifyApart(n)
	}
	return m.ex.notifier.Notify(n)
}

func (m machine) NotifyHelpers() {
	if m.ex.sleepingHelpers.Load() > 0 {
		m.ex.wakeHelpers(nil, nil)
	}
}

// search is a worker's search for work. Owner only, plain.
type search struct {
	// Constant.
	w       *Worker
	thief   policy.Thief   // the worker's end of the policy: decides when it looks for work and sleeps
	thieves *xatomic.Int32 // policy.Policy.Thieves: while it is not 0, an item shown wakes no worker
	refills bool           // policy.Policy.Refills

	stole  bool  // the last Try was at the lane of another worker, or for what one deals out
	found  *Item // the item that the last successful Try has found
	losses uint32
	takes  uint32 // from the injector
	rng    uint64
}

// A thiefHost shows a worker to its policy. It implements policy.Host.
type thiefHost struct{ w *Worker }

var _ policy.Host = thiefHost{}

func (h thiefHost) ID() int          { return h.w.id }
func (h thiefHost) Random(n int) int { return h.w.search.random(n) }
func (h thiefHost) Items() uint64    { return h.w.counts.items }
func (h thiefHost) Yield()           { osthread.Yield() }

// Searching implements policy.Host. A thief that does not sleep publishes its counts here.
func (h thiefHost) Searching() {
	h.w.setState(WorkerSearching)
	h.w.publishCounts()
}

// Sees implements policy.Host. Where lanes hide items it is always true, since a Try asks for them, unless they are
// dealt out: then a Try of the worker itself waits for one, and the worker asks nobody before it sleeps.
func (h thiefHost) Sees(victim int) bool {
	l, v := &h.w.lane, h.w.core.roster[victim]
	if l.Hides() && !l.CanReceive() || !v.lane.IsEmpty() {
		return true
	}
	h.w.core.attached.tellTried(h.w, v, deque.Empty)
	return false
}

// Try implements policy.Host.
func (h thiefHost) Try(victim int) (outcome deque.Outcome) {
	w := h.w
	w.search.stole = true
	switch v := w.core.roster[victim]; {
	case v != w && (v.lane.HushedBy() != 0 || w.core.attached.mustNotSteal(w, v)):
		outcome = deque.Empty
	case v != w && !(w.lane.CanReceive() && v.lane.Len() == 0):
		w.search.found, outcome = w.search.stealMany(v)
		w.core.attached.tellTried(w, v, outcome)
	case v == w && !w.core.injector.isEmpty():
		w.search.found, outcome = w.search.takeSubmitted()
		w.search.stole = false
	default:
		w.search.found, outcome = w.search.receive()
	}
	return outcome
}

// Leave implements policy.Host.
func (h thiefHost) Leave() bool { return h.w.spare.leave() }

// Prepare implements policy.Host.
func (h thiefHost) Prepare() {
	h.w.setState(WorkerPreparing)
	h.w.core.notifier.Prepare(h.w.id)
}

// Cancel implements policy.Host.
func (h thiefHost) Cancel() bool { return h.w.core.notifier.Cancel(h.w.id) }

// Commit implements policy.Host.
func (h thiefHost) Commit() {
	w := h.w
	w.counts.parks++
	w.publishCounts() // first: a worker that others see parked has published its counters
	w.asleep(&thiefSleep, func() {
		w.park(func() { w.core.notifier.Commit(w.id) })
	})
	w.setState(WorkerSearching)
}

// Pause implements policy.Host. Its length matters: a thief that pauses twice as long keeps a core from others. So each
// round looks at one queue only, and an item of a run that is not Normal may be seen a few microseconds late.
func (h thiefHost) Pause(n int) {
	for q := &h.w.core.injector; n > 0 && q.queue.IsEmpty(); n-- {
		giveWay()
	}
}

var epoch = time.Now()

func nanotime() int64 { return int64(time.Since(epoch)) }

// Nanotime implements policy.Host.
func (h thiefHost) Nanotime() int64 { return nanotime() }

// random returns a uniform index below n: xorshift64, scaled by a multiplication instead of a remainder.
func (s *search) random(n int) int {
	x := s.rng
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	s.rng = x
	return int(x >> 32 * uint64(n) >> 32)
}

// loop finds work and runs it until the worker's thread is to end (document 000, Algorithm 2).
func (w *Worker) loop() {
	for {
		if !w.search.thief.Find() {
			if w.core.stop.Load() || !w.spare.standBy() {
				return
			}
			continue
		}
		it := w.search.found
		w.search.found = nil
		w.work(it, w.search.stole)
	}
}

// work runs item it and all that follows from it, as an active worker. stolen says that the thief has won a steal.
func (w *Worker) work(it *Item, stolen bool) {
	w.setState(WorkerRunning)
	w.search.thief.Busy(stolen)
	w.exploit(it)
	w.search.thief.Idle()
}

// steal takes one of the oldest items in the victim's lane that thieves see.
func (s *search) steal(victim *Worker) (*Item, deque.Outcome) {
	it, outcome := victim.lane.Steal()
	s.countSteal(outcome)
	if outcome == deque.Stolen {
		s.w.core.attached.tellStole(s.w, victim, 1)
	}
	return it, outcome
}

// stealMany takes one of the oldest items in the victim's lane that thieves see or, if Experiment.Steal says so,
// several at once. It returns the first and puts the others into its own lane. The worker is in no wait.
func (s *search) stealMany(victim *Worker) (*Item, deque.Outcome) {
	w := s.w
	it, rest, outcome := w.lane.StealFrom(&victim.lane)
	s.countSteal(outcome)
	for _, it := range rest {
		s.keep(it)
	}
	if outcome == deque.Stolen {
		w.core.attached.tellStole(w, victim, 1+len(rest))
	}
	clear(rest)
	return it, outcome
}

// keep makes an item that the worker has stolen, and does not run at once, available again.
func (s *search) keep(it *Item) {
	w := s.w
	if it.Body.single {
		// The task that waits for the item may need it before this worker comes to it. In the injector it finds the item.
		w.core.inject(it)
		return
	}
	it.Body.owner().visit(w)
	// Most policies wake no worker for it: a thief looks for more when it ceases to be one.
	w.tell(w.put(it))
}

// receive waits a bounded time for an item that another worker deals out, if the lane is of a kind that receives.
func (s *search) receive() (*Item, deque.Outcome) {
	w := s.w
	if !w.lane.CanReceive() || w.lane.IsAlone() {
		return nil, deque.Empty
	}
	it, outcome := w.lane.Receive()
	s.countSteal(outcome)
	if outcome == deque.Stolen {
		w.core.attached.tellStole(w, nil, 1)
	}
	return it, outcome
}

// popElsewhere is the rest of pop, for a worker in no wait whose lane is empty.
//
//go:noinline
func (s *search) popElsewhere() (it *Item) {
	w := s.w
	it = w.core.attached.takeHeld(w, nil, nil)
	if it == nil && s.refills && !w.core.injector.isEmpty() && !w.spare.isSurplus() {
		it, _ = s.takeSubmitted()
	}
	return it
}

// takeSubmitted takes the oldest item of the injector, of the highest priority at most takes.
func (s *search) takeSubmitted() (*Item, deque.Outcome) {
	s.takes++
	it, outcome := s.w.core.injector.steal(s.takes)
	if outcome == deque.Lost {
		s.lose()
	}
	return it, outcome
}

// nextSubmitted takes the oldest item of that priority from the injector, for a worker that is about to sleep: after a
// lost steal it tries again, since the worker must not sleep while the next item is one that it waits for.
func (s *search) nextSubmitted(p Priority) *Item {
	for {
		it, outcome := s.w.core.injector.of(p).Steal()
		if outcome != deque.Lost {
			return it
		}
		s.lose()
	}
}

func (s *search) countSteal(outcome deque.Outcome) {
	counts := &s.w.counts
	counts.tried++
	switch outcome {
	case deque.Stolen:
		counts.won++
	case deque.Lost:
		counts.lost++
		s.lose()
	}
}

// lose is called after a lost steal: another thread has taken the item, or the owner is making the ring larger. The
// latter lasts until the owner runs, and the owner may be waiting for this very core.
func (s *search) lose() {
	if s.losses++; s.losses%politeLosses == 0 && s.yieldsWhenLost() {
		osthread.Yield()
	}
}

// yieldsWhenLost reports whether lost steals make the worker yield. With Experiment.Verbatim they do not, except where
// a lost steal is tried again at once: in waits, and under a policy that does so.
func (s *search) yieldsWhenLost() bool {
	return !s.w.core.verbatim || s.w.core.retries || s.w.waits.run != nil
}
