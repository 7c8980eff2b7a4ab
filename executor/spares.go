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
// So many are called up as workers block, or as there are. One more than that is surplus, when a Blocking has ended: it
// leaves service when it looks for an item and, so that it comes to that soon, gives away what it has (tock). One that sleeps
// in the notifier stays there until it is woken: the next Blocking then finds it in service.
type spares struct {
	limit int           // constant
	idle  time.Duration // constant from the first Blocking on

	surplus xatomic.Int32 // serving − blocked, or 0; written under mu

	mu       xsync.Mutex // guards what follows
	blocked  int         // workers in Blocking
	serving  int
	standby  []*Worker // the last is called up first
	gone     []*Worker // those without a thread
	used     bool      // somebody has blocked since the last look at idle ones
	watched  bool      // there will be another look
	stopLook func()    // cancels it
	closed   bool
}

// spareCounts is what a dump tells of spares.
type spareCounts struct{ blocked, serving, standby int }

func (s *spares) told() spareCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return spareCounts{s.blocked, s.serving, len(s.standby)}
}

// beginBlocking counts the calling worker as blocked and calls up a spare if that takes one.
func (ex *Executor) beginBlocking() {
	s := &ex.spares
	s.mu.Lock()
	s.blocked++
	s.used = true
	w, hasThread := ex.callUp()
	s.mu.Unlock()
	ex.sendFor(w, hasThread)
}

// endBlocking undoes beginBlocking.
func (ex *Executor) endBlocking() {
	s := &ex.spares
	s.mu.Lock()
	s.blocked--
	s.used = true
	s.tell()
	s.mu.Unlock()
}

// tell tells spares whether one of them is surplus. Under mu.
func (s *spares) tell() { s.surplus.Store(int32(max(0, s.serving-s.blocked))) }

// callUp puts a spare into service if fewer are than are due; sendFor has to be told of it. If there is none to be had, the
// thread of one is about to end, and spareGone calls up what is due then. Under spares.mu.
func (ex *Executor) callUp() (w *Worker, hasThread bool) {
	s := &ex.spares
	defer s.tell()
	if s.serving >= min(s.blocked, s.limit) {
		return nil, false
	}
	if last := len(s.standby) - 1; last >= 0 {
		w, s.standby = s.standby[last], s.standby[:last]
		s.serving++
		return w, true
	}
	if last := len(s.gone) - 1; last >= 0 {
		w, s.gone = s.gone[last], s.gone[:last]
	} else if i := len(ex.crew()); i < len(ex.workers) {
		w = newWorker(ex, i)
		ex.workers[i] = w
		ex.crewed.Store(int32(i + 1)) // P1: before its thread starts, see crew
	} else {
		return nil, false
	}
	s.serving++
	ex.watchSpares()
	return w, false
}

// sendFor wakes or starts a spare that was called up; w is nil if none was.
func (ex *Executor) sendFor(w *Worker, hasThread bool) {
	switch {
	case w == nil:
	case hasThread:
		w.calledUp.Unpark()
	case osthread.Room(1) != nil:
		ex.spareFailed(w)
	default:
		ex.alive.Add(1)
		w.discharged = false
		w.start(func(err error) {
			if err != nil {
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
	s.serving--
	w.state.Store(uint32(threadless))
	s.gone = append(s.gone, w)
	s.tell()
	s.mu.Unlock()
}

// spareGone is the last that the thread of a spare does with it: it may be started again.
func (ex *Executor) spareGone(w *Worker) {
	w.state.Store(uint32(threadless))
	s := &ex.spares
	s.mu.Lock()
	s.gone = append(s.gone, w)
	next, hasThread := ex.callUp()
	s.mu.Unlock()
	ex.sendFor(next, hasThread)
}

// isSurplus reports whether the worker is a spare, and there is one in service more than are needed.
func (w *Worker) isSurplus() bool { return w.spare && w.ex.spares.surplus.Load() > 0 }

// dismissed takes the worker out of service if it is surplus. It has nothing in its deque. From then on it is on standby,
// or discharged if spares were idle for long.
func (w *Worker) dismissed() bool {
	if !w.isSurplus() {
		return false
	}
	s := &w.ex.spares
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serving <= s.blocked || s.closed {
		return false
	}
	s.serving--
	s.tell()
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
		surplus = s.serving > s.blocked
	}
	s.used = false
	if s.serving > 0 || len(s.standby) > 0 {
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
