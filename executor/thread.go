package executor

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xsync"
)

// onThread maps osthread.Self of an OS thread to the worker that is locked to it, in the whole process. Only the thread
// proves that a caller is a worker: a locked thread runs no other goroutine, whereas a context can be handed on.
//
// The tasks of several executors may stand on one stack: those of inline executors, each started by a task of the one
// below, and at the bottom perhaps one with threads. The caller is then the worker of all of them, and onThread has the
// topmost.
var onThread sync.Map // int64 → *Worker

// currentWorker is the worker of this executor that the caller runs on, or nil.
func (ex *Executor) currentWorker() *Worker {
	w := workerHere()
	for w != nil && w.core != ex.core {
		w = w.below()
	}
	return w
}

// below is the worker on whose task the worker's own stand, or nil.
func (w *Worker) below() *Worker {
	if w.inline == nil {
		return nil
	}
	return w.inline.below
}

// threadHere is the worker, of whatever executor, whose thread the caller runs on, or nil if the thread is no worker's
// own.
func threadHere() *Worker {
	w := workerHere()
	for w != nil && w.inline != nil {
		w = w.below()
	}
	return w
}

// workerHere is the topmost worker, of whatever executor, that the caller runs on, or nil.
func workerHere() *Worker {
	self := osthread.Self()
	v, ok := onThread.Load(self)
	if !ok {
		return nil
	}
	// A goroutine that is no worker's may have gone on to another thread since it asked, and a worker have begun on that one.
	if osthread.Self() != self {
		return nil
	}
	w := v.(*Worker)
	if w.inline != nil && !w.isHere() {
		return nil
	}
	return w
}

// isHere reports whether the caller runs on w, the topmost worker of some thread just before. An inline worker's thread
// goes on to other goroutines, and the caller may have left it and come back: locked to its thread, it stays for the
// look.
func (w *Worker) isHere() bool {
	osthread.Lock()
	defer osthread.Unlock()
	v, _ := onThread.Load(osthread.Self())
	return v == any(w)
}

// start runs the worker on a goroutine locked to a thread of its own. ready is told when the thread is set up, or that
// it could not be.
//
// These are the only goroutines that magpie starts, but that of closeAside.
func (w *Worker) start(ready func(error)) {
	xsync.Go(func() {
		osthread.Lock() // and never unlocked: the thread has our name and nice, and ends with the goroutine
		if osthread.IsMain() {
			// A goroutine that ends while locked to the main thread leaves a thread that can neither end nor serve. While
			// this one holds it, another goroutine gets another thread.
			var up xsync.WaitGroup
			up.Add(1)
			w.start(func(err error) {
				up.Done()
				ready(err)
			})
			up.Wait()
			osthread.Unlock()
			return
		}
		if err := w.setUpThread(); err != nil {
			ready(err)
			return
		}
		ready(nil)
		w.live()
	})
}

func (w *Worker) setUpThread() error {
	cfg := &w.ex.cfg
	if err := osthread.SetName(cfg.Name + "-" + strconv.Itoa(w.id)); err != nil {
		w.ex.unnamed.Store(&err) // a name is for people: the executor works without, and Dump tells
	}
	if cfg.Nice != 0 {
		if err := osthread.SetNice(cfg.Nice); err != nil {
			return fmt.Errorf("executor %q: nice %d of worker %d: %w", cfg.Name, cfg.Nice, w.id, err)
		}
	}
	w.labelThread()
	w.occupy()
	return nil
}

// occupy makes the calling thread the worker's.
func (w *Worker) occupy() {
	w.thread.id.Store(osthread.ID())
	w.thread.self.Store(osthread.Self())
	w.forks.stack = stack{}
	onThread.Store(w.thread.self.Load(), w)
}

// vacate undoes occupy.
func (w *Worker) vacate() {
	if below := w.below(); below != nil {
		w.inline.below = nil
		onThread.Store(w.thread.self.Load(), below)
	} else {
		onThread.Delete(w.thread.self.Load())
	}
	w.thread.self.Store(0)
	w.thread.id.Store(0)
}

// live is a worker's life on one thread: until the executor stops, a spare is discharged, or a task ends the goroutine.
func (w *Worker) live() {
	stopped := false
	growStack()
	defer func() {
		w.ex.leaving.add(w.thread.id.Load())
		w.vacate()
		if stopped {
			osthread.Unclaim()
			if w.spare {
				w.spareGone()
			}
			w.ex.alive.Done()
		} else {
			w.replace() // or magpie itself panicked, and the process is about to end
		}
	}()
	if it := w.pop(); it != nil { // another thread of this worker has left it
		w.work(it, false)
	}
	w.loop()
	stopped = true
}

// growStack has the runtime make the goroutine's stack larger now, and not in the middle of the first tasks: Fork tells
// frames by where they lie, and does not know them again after the stack has moved.
//
//go:noinline
func growStack() byte {
	var room [16 << 10]byte
	return room[osthread.ID()%int64(len(room))]
}

// replace starts a goroutine that takes over the worker: its lane, its counts and its place. Goexit cannot be stopped,
// so this one is lost, and its thread with it.
func (w *Worker) replace() {
	w.thief.Lost()
	w.start(func(err error) {
		if err != nil {
			// The first thread of this worker was set up in the same way. There is no caller to tell, and going on with
			// a worker less could hang its runs.
			panic(err)
		}
	})
}

// closeAside is Close on a goroutine of its own.
func (ex *Executor) closeAside() { xsync.Go(func() { _ = ex.Close() }) }
