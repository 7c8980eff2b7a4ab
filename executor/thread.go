package executor

import (
	"bytes"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A thread identifies a worker's OS thread. The worker writes it, or the guest that has the worker's place.
type thread struct {
	w *Worker // constant

	id   xatomic.Int64 // the system's ID; 0 while there is no thread
	self xatomic.Int64 // what osthread.Self returns on it, or ^ of that on the thread of a guest
	here atomic.Uint64 // what osthread.Goroutine returns on it; 0 while there is no thread

	goroutine xatomic.Tell64 // the number of the goroutine that is locked to it; 0 if unknown
	lent      xatomic.Tell64 // the system's ID of a guest's thread that has the worker; 0 while there is none

	entry   *threadEntry // of the latest guest's thread
	ownSelf int64        // while a guest has the worker: self of the worker's own thread
	ownHere uint64       // likewise: here
}

// inUse returns the system's ID of the thread that runs the worker's items, 0 if there is none.
func (t *thread) inUse() int64 {
	if lent := t.lent.Load(); lent != 0 {
		return int64(lent)
	}
	return t.id.Load()
}

// isLent reports whether a guest has the worker.
func (t *thread) isLent() bool { return t.self.Load() < 0 }

// is reports whether self, a result of osthread.Self, is of the thread.
func (t *thread) is(self int64) bool {
	known := t.self.Load()
	return known == self || known == ^self
}

// workerFrom returns the worker of ex that the caller runs on, or nil. w is the topmost worker of any executor on the
// caller's thread, or nil.
func (ex *core) workerFrom(w *Worker) *Worker {
	for w != nil && w.core != ex {
		w = w.below()
	}
	return w
}

// below returns the worker whose task is below those of the inline worker w on the stack, or nil.
func (w *Worker) below() *Worker {
	if w.inline == nil {
		return nil
	}
	return w.inline.below
}

// threadHere returns the worker, of any executor, whose thread the caller runs on, or nil if the thread is no worker's.
func threadHere() *Worker {
	w := workerHere()
	for w != nil && w.inline != nil {
		w = w.below()
	}
	return w
}

// workerHere returns the topmost worker, of any executor, that the caller runs on, or nil.
func workerHere() *Worker {
	self := osthread.Self()
	if w := loadOnThread(self); w != nil && w.thread.isHere(self) {
		return w
	}
	return nil
}

// isHere reports whether the caller runs on the worker, which onThread had for self just before: what osthread.Self has
// returned.
//
// A goroutine that is no worker's may have moved to another thread since that Self. A worker may have begun on the old
// one, or a guest, and a thread goes on to other goroutines after a guest or an inline worker. So the number of the
// goroutine decides. What a task calls on another goroutine of its thread, as the iterator of an iter.Pull, has another
// number. There, and where there are no numbers, a worker with a thread of its own is told by a second Self, and for
// others the lock keeps the caller on one thread during the look.
func (t *thread) isHere(self int64) bool {
	if t.isOf(osthread.Goroutine()) {
		return true
	}
	if t.w.inline == nil && t.self.Load() == self {
		return osthread.Self() == self
	}
	osthread.Lock()
	defer osthread.Unlock()
	return loadOnThread(osthread.Self()) == t.w
}

// isOf reports whether the caller, whose number g is, is the goroutine that is locked to the thread. g may be 0: there
// are no numbers.
func (t *thread) isOf(g uint64) bool { return g != 0 && t.here.Load() == g }

// start runs the worker on a goroutine locked to a thread of its own. It calls ready when the thread is set up.
//
// Package executor starts no other goroutines, except in aside, and by timers.
func (t *thread) start(ready func()) {
	w := t.w
	xsync.Go(func() {
		osthread.Lock() // never unlocked: the thread has the worker's name and schedule, and ends with the goroutine
		if osthread.IsMain() {
			// A goroutine that ends while locked to the main thread leaves a thread that can neither end nor run
			// others. While this one is locked to it, another goroutine gets another thread.
			var up xsync.WaitGroup
			up.Add(1)
			t.start(func() {
				up.Done()
				ready()
			})
			up.Wait()
			osthread.Unlock()
			return
		}
		osthread.LockFirmly()
		t.setUp()
		w.core.attached.start(w, func() {
			ready()
			w.live()
		}, func() { t.giveUp(ready) })
	})
}

func (t *thread) setUp() {
	w := t.w
	if err := osthread.SetName(w.core.name + "-" + strconv.Itoa(w.id)); err != nil {
		w.core.unnamed.Store(&err) // no failure: the executor works without names, and Dump reports err
	}
	w.labelThread()
	t.goroutine.Store(goroutine())
	t.occupy()
}

// occupy makes the calling thread the worker's.
func (t *thread) occupy() {
	w := t.w
	t.id.Store(osthread.ID())
	t.self.Store(osthread.Self())
	t.here.Store(osthread.Goroutine())
	w.core.attached.occupied.make(w)
	w.core.attached.moved.make(w)
	onThread.set(t.self.Load(), w)
}

// vacate undoes occupy.
func (t *thread) vacate() {
	w := t.w
	w.core.attached.vacated.make(w)
	switch self, below := t.self.Load(), w.below(); {
	case below != nil:
		w.inline.below = nil
		onThread.set(self, below)
	case w.inline != nil:
		onThread.find(self).unset()
	default:
		onThread.find(self).markEnding()
	}
	t.here.Store(0)
	t.self.Store(0)
	t.id.Store(0)
}

// lend gives the worker to the calling thread, a guest's, which self and the system's ID identify.
func (t *thread) lend(self int64, id uint64) {
	w := t.w
	w.core.attached.moved.make(w)
	t.ownSelf, t.ownHere = t.self.Load(), t.here.Load()
	t.lent.Store(id)
	t.self.Store(^self)
	t.here.Store(osthread.Goroutine())
	t.entry = onThread.setAt(t.entry, self, w)
}

// takeBack undoes lend.
func (t *thread) takeBack() {
	w := t.w
	t.entry.unset()
	w.core.attached.moved.make(w)
	t.here.Store(t.ownHere)
	t.self.Store(t.ownSelf)
	t.lent.Store(0)
}

// live runs the worker on the calling thread until the executor stops, the spare is discharged, or a task calls Goexit.
func (w *Worker) live() {
	t := &w.thread
	stopped := false
	growStack()
	w.core.attached.begun.make(w)
	threadlessSleep.countIn(w)
	defer w.core.attached.end(w, func() {
		threadlessSleep.countOut(w)
		w.core.leaving.add(t.id.Load())
		t.goroutine.Store(0)
		t.vacate()
		if stopped {
			w.setState(WorkerThreadless)
			osthread.Unclaim()
			if w.isSpare() {
				w.spare.gone()
			}
			w.core.alive.Done()
		} else {
			t.replace() // a task called Goexit; or this package panicked, and the process is about to end
			osthread.Unclaim()
		}
	})
	if it := w.pop(); it != nil { // left by the worker's thread before this one
		w.work(it, false)
	}
	w.loop()
	stopped = true
}

// giveUp ends the thread of a worker that has not begun to live, because a feature has failed on it. A spare is taken
// out of service, as one for which no thread could be started.
func (t *thread) giveUp(ready func()) {
	w := t.w
	w.core.leaving.add(t.id.Load())
	t.goroutine.Store(0)
	t.vacate()
	ready()
	osthread.Unclaim()
	if w.isSpare() {
		w.spare.failed()
	}
	w.core.alive.Done()
}

// growStack makes the runtime grow the goroutine's stack now, not during the first tasks: Fork identifies frames by
// their addresses, which change when the stack moves.
//
//go:noinline
func growStack() byte {
	var room [16 << 10]byte
	return room[osthread.ID()%int64(len(room))]
}

// replace starts a goroutine on another thread that takes over the worker. Goexit cannot be stopped, so the calling
// goroutine and its thread are lost. To unlock the goroutine before it ends would save the thread for the runtime, not
// for the worker, with the worker's name and schedule.
func (t *thread) replace() {
	w := t.w
	w.search.thief.Lost()
	osthread.ClaimAnyway()
	t.start(osthread.Arrive)
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

// numberOf returns the goroutine's number from its stack as text, or "". The text begins "goroutine 7 [running".
func numberOf(stack []byte) string {
	rest, ok := bytes.CutPrefix(stack, []byte("goroutine "))
	if !ok {
		return ""
	}
	number, _, _ := bytes.Cut(rest, []byte(" "))
	return string(number)
}
