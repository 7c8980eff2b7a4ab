package executor

import (
	"strconv"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xsync"
)

// currentWorker returns the worker of this executor that the caller runs on, or nil.
func (ex *Executor) currentWorker() *Worker { return ex.workerFrom(workerHere()) }

// workerFrom returns the worker of ex that the caller runs on, or nil. w is the topmost worker of any executor on the
// caller's thread, or nil.
func (ex *Executor) workerFrom(w *Worker) *Worker {
	for w != nil && w.core != ex.core {
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
	w := loadOnThread(self)
	if w == nil {
		return nil
	}
	// A goroutine that is no worker's may have moved to another thread since the first Self, and a worker may have
	// begun on the old one.
	if osthread.Self() != self {
		return nil
	}
	if (w.inline != nil || w.thread.self.Load() != self) && !w.isHere() {
		return nil
	}
	return w
}

// isHere reports whether the caller runs on the worker w, which onThread had for the caller's thread just before. w is
// inline or has a guest, or had one. Such a thread goes on to other goroutines, and the caller may have left it since.
// The lock keeps the caller on one thread during the look.
func (w *Worker) isHere() bool {
	osthread.Lock()
	defer osthread.Unlock()
	return loadOnThread(osthread.Self()) == w
}

// start runs the worker on a goroutine locked to a thread of its own. It calls ready when the thread is set up.
//
// Package executor starts no other goroutines, except in closeAside, aside and appoint, and by timers.
func (w *Worker) start(ready func()) {
	xsync.Go(func() {
		osthread.Lock() // never unlocked: the thread has the worker's name and schedule, and ends with the goroutine
		if osthread.IsMain() {
			// A goroutine that ends while locked to the main thread leaves a thread that can neither end nor run
			// others. While this one is locked to it, another goroutine gets another thread.
			var up xsync.WaitGroup
			up.Add(1)
			w.start(func() {
				up.Done()
				ready()
			})
			up.Wait()
			osthread.Unlock()
			return
		}
		osthread.LockFirmly()
		w.setUpThread()
		w.startHook(func() {
			ready()
			w.live()
		}, func() { w.hookFailed(ready) })
	})
}

func (w *Worker) setUpThread() {
	cfg := &w.ex.cfg
	if err := osthread.SetName(cfg.Name + "-" + strconv.Itoa(w.id)); err != nil {
		w.ex.unnamed.Store(&err) // no failure: the executor works without names, and Dump reports err
	}
	w.schedule()
	w.labelThread()
	w.thread.goroutine.Store(goroutine())
	w.occupy()
}

// occupy makes the calling thread the worker's.
func (w *Worker) occupy() {
	w.thread.id.Store(osthread.ID())
	w.thread.self.Store(osthread.Self())
	w.core.attached.occupied.make(w)
	onThread.set(w.thread.self.Load(), w)
}

// vacate undoes occupy.
func (w *Worker) vacate() {
	w.core.attached.vacated.make(w)
	switch self, below := w.thread.self.Load(), w.below(); {
	case below != nil:
		w.inline.below = nil
		onThread.set(self, below)
	case w.inline != nil:
		onThread.unset(self)
	default:
		onThread.markEnding(self)
	}
	w.thread.self.Store(0)
	w.thread.id.Store(0)
}

// live runs the worker on the calling thread until the executor stops, the spare is discharged, or a task calls Goexit.
func (w *Worker) live() {
	stopped := false
	growStack()
	w.core.attached.begun.make(w)
	w.countIn(&threadlessSleep)
	defer w.endHook(func() {
		w.countOut(&threadlessSleep)
		w.ex.leaving.add(w.thread.id.Load())
		w.thread.goroutine.Store(0)
		w.vacate()
		if stopped {
			w.setState(WorkerThreadless)
			osthread.Unclaim()
			if w.isSpare() {
				w.spareGone()
			}
			w.ex.alive.Done()
		} else {
			w.replace() // a task called Goexit; or this package panicked, and the process is about to end
			osthread.Unclaim()
		}
	})
	if it := w.pop(); it != nil { // left by the worker's thread before this one
		w.work(it, false)
	}
	w.loop()
	stopped = true
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
// goroutine and its thread are lost.
func (w *Worker) replace() {
	w.control.thief.Lost()
	osthread.ClaimAnyway()
	w.start(osthread.Arrive)
}
