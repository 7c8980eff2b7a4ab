package executor

import (
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// spares are the workers that stand in for those that block. A spare is in service, when it works as any other worker does,
// on standby, when its thread sleeps apart from the others, or without a thread.
//
// While some worker blocks, as many spares are due as workers block or sleep in a wait, spares among them: so as many
// workers as the configuration says can run whatever comes. A worker that sleeps in a wait cannot: it is woken only for
// what it waits for, and that may be in the hands of a worker that blocks. While nobody blocks no spare is due: what a
// sleeping worker waits for is then run by another worker, which goes on.
//
// A spare more than are due is surplus, when a Blocking or a sleep has ended: it leaves service when it looks for an
// item and, so that it comes to that soon, gives away what it has (tock). One that sleeps in the notifier stays there
// until it is woken: the next Blocking then finds it in service.
type spares struct {
	limit int           // constant
	idle  time.Duration // constant from the first Blocking on

	blocked xatomic.Int32 // workers in Blocking; written under mu
	asleep  xatomic.Int32 // workers asleep in a wait, other than within Blocking; written by those
	serving xatomic.Int32 // spares in service; written under mu

	mu       xsync.Mutex // guards what follows
	standby  []*Worker   // the last is called up first
	gone     []*Worker   // those without a thread
	used     bool        // somebody has blocked since the last look at idle ones
	watched  bool        // there will be another look
	stopLook func()      // cancels it
	closed   bool
}

// spareCounts is what a dump tells of spares.
type spareCounts struct{ blocked, asleep, serving, standby int }

func (s *spares) told() spareCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return spareCounts{int(s.blocked.Load()), int(s.asleep.Load()), int(s.serving.Load()), len(s.standby)}
}

// beginBlocking counts the calling worker as blocked and calls up the spares that are due then.
func (ex *Executor) beginBlocking() {
	s := &ex.spares
	s.mu.Lock()
	s.used = true
	// D1(block): blocked, then look who sleeps. Pairs with D1(wait).
	s.blocked.Add(1)
	ex.callUp()
	s.mu.Unlock()
}

// endBlocking undoes beginBlocking.
func (ex *Executor) endBlocking() {
	s := &ex.spares
	s.mu.Lock()
	s.blocked.Add(-1)
	s.used = true
	s.mu.Unlock()
}

// sleepInWait sleeps until the worker's helper is unparked, for what the worker waits for. If a worker blocks, a spare
// takes the place of the one that sleeps, which nobody wakes for anything else.
func (w *Worker) sleepInWait() {
	s := &w.ex.spares
	w.counts.parks++
	w.state.Store(uint32(parked))
	if !w.blocking { // else it has a spare already
		// D1(wait): asleep, then look whether anybody blocks. Pairs with D1(block): one of the two calls up the spare.
		s.asleep.Add(1)
		if s.blocked.Load() > 0 {
			s.mu.Lock()
			w.ex.callUp()
			s.mu.Unlock()
		}
		defer s.asleep.Add(-1)
	}
	w.sleepAsHelper()
	w.counts.wakeups++
}

// due is how many spares are to be in service, if there are so many.
func (s *spares) due() int32 {
	blocked := s.blocked.Load()
	if blocked == 0 {
		return 0
	}
	return min(blocked+s.asleep.Load(), int32(s.limit))
}

// callUp puts spares into service until as many are as are due, or as many as were missing have been tried. Under
// spares.mu, which it gives up while it wakes and starts them.
func (ex *Executor) callUp() {
	s := &ex.spares
	for missing := s.due() - s.serving.Load(); missing > 0 && s.due() > s.serving.Load(); missing-- {
		w, hasThread := ex.nextSpare()
		if w == nil {
			return
		}
		s.mu.Unlock()
		ex.sendFor(w, hasThread)
		s.mu.Lock()
	}
}

// nextSpare puts a spare into service; sendFor has to be told of it. If there is none to be had, the thread of one is
// about to end, and spareGone calls up what is due then. Under spares.mu.
func (ex *Executor) nextSpare() (w *Worker, hasThread bool) {
	s := &ex.spares
	if last := len(s.standby) - 1; last >= 0 {
		w, s.standby = s.standby[last], s.standby[:last]
		hasThread = true
	} else if last := len(s.gone) - 1; last >= 0 {
		w, s.gone = s.gone[last], s.gone[:last]
	} else if i := len(ex.crew()); i < len(ex.workers) {
		w = newWorker(ex, i)
		ex.workers[i] = w
		ex.crewed.Store(int32(i + 1)) // P1: before its thread starts, see crew
	} else {
		return nil, false
	}
	s.serving.Add(1)
	s.used = true // or a spare that sleeping workers call up again and again would get a thread each time
	if !hasThread {
		ex.watchSpares()
	}
	return w, hasThread
}

// sendFor wakes or starts a spare that was called up.
func (ex *Executor) sendFor(w *Worker, hasThread bool) {
	switch {
	case hasThread:
		w.calledUp.Unpark()
	case osthread.Claim(1, 0) != nil:
		ex.spareFailed(w)
	default:
		ex.alive.Add(1)
		w.discharged = false
		w.start(func(err error) {
			osthread.Arrive()
			if err != nil {
				osthread.Unclaim()
				ex.spareFailed(w)
				ex.alive.Done()
			}
		})
	}
}

// spareFailed takes a spare out of service that could not be given a thread. Whoever blocks goes on without.
func (ex *Executor) spareFailed(w *Worker) {
	s := &ex.spares
	s.mu.Lock()
	s.serving.Add(-1)
	w.state.Store(uint32(threadless))
	s.gone = append(s.gone, w)
	s.mu.Unlock()
}

// spareGone is the last that the thread of a spare does with it: it may be started again.
func (ex *Executor) spareGone(w *Worker) {
	w.state.Store(uint32(threadless))
	s := &ex.spares
	s.mu.Lock()
	s.gone = append(s.gone, w)
	ex.callUp()
	s.mu.Unlock()
}

// hasSurplus reports whether there is a spare in service more than are due. Under spares.mu, if somebody is to act on
// it.
func (s *spares) hasSurplus() bool { return s.serving.Load() > s.due() }

// isSurplus reports whether the worker is a spare, and there is one in service more than are due.
func (w *Worker) isSurplus() bool { return w.spare && w.core.spares.hasSurplus() }

// dismissed takes the worker out of service if it is surplus. It has nothing in its deque. From then on it is on standby,
// or discharged if spares were idle for long.
func (w *Worker) dismissed() bool {
	if !w.isSurplus() {
		return false
	}
	s := &w.ex.spares
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.hasSurplus() || s.closed {
		return false
	}
	s.serving.Add(-1) // a worker that has gone to sleep since calls up another, or this one, when it has got the lock
	if s.used {
		s.standby = append(s.standby, w)
	} else {
		w.discharge()
	}
	return true
}

// standBy sleeps until the worker is called up. It returns false if its thread is to end.
func (w *Worker) standBy() bool {
	w.state.Store(uint32(standingBy))
	w.calledUp.Park()
	return !w.discharged
}

// handOver gives it, and all that is in the worker's deque, to others: a busy one looks at the injector now and then, and
// never at another's deque. The worker is surplus, and no task waits on its stack.
func (w *Worker) handOver(it *Item) {
	w.body.hooks.Flush(w)
	w.putBack(it)
	for it := w.popOwn(); it != nil; it = w.popOwn() {
		w.ex.inject(it)
	}
}

// watchSpares sees to it that spares that nobody needs are looked for. Under spares.mu.
func (ex *Executor) watchSpares() {
	s := &ex.spares
	if !s.watched && !s.closed {
		s.watched = true
		s.stopLook = after(s.idle, ex.lookAtSpares)
	}
}

// lookAtSpares ends the threads on standby if nobody has blocked since the last look, and wakes the surplus spares that
// sleep among the workers: those then leave, and so end. It goes on while any spare has a thread.
func (ex *Executor) lookAtSpares() {
	s := &ex.spares
	s.mu.Lock()
	s.watched = false
	if s.closed {
		s.mu.Unlock()
		return
	}
	var idle []*Worker
	surplus := false
	if !s.used {
		idle, s.standby = s.standby, nil
		surplus = s.hasSurplus()
	}
	s.used = false
	if s.serving.Load() > 0 || len(s.standby) > 0 {
		ex.watchSpares()
	}
	s.mu.Unlock()
	for _, w := range idle {
		w.discharge()
	}
	if surplus {
		ex.wakeAll()
	}
}

// close ends what goes by time, and the threads on standby. No worker blocks any more; spares in service end as others do.
func (s *spares) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.watched {
		s.stopLook()
	}
	for _, w := range s.standby {
		w.discharge()
	}
	s.standby = nil
}

// discharge ends the thread of a spare that stands by, or is about to, and is on no list.
func (w *Worker) discharge() {
	w.discharged = true
	w.calledUp.Unpark()
}
