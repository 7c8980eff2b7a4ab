package executor

import (
	"log"
	"runtime"

	"github.com/magpie-go/magpie/internal/xsync"
)

// abandoned is the finalizer of an Executor: it closes one that was not closed. No run is in progress, since a run
// refers to its Executor.
func (ex *Executor) abandoned() {
	if !ex.closed.Load() {
		log.Printf("executor %q was not closed, and nothing refers to it: it is closed now", ex.cfg.Name)
		ex.closeAside()
	}
}

// closeAside is Close on a goroutine of its own.
func (ex *Executor) closeAside() { aside(func() { _ = ex.Close() }) }

// Close refuses new runs and futures, waits for those in progress, and ends every worker and its thread. A second call
// waits for the first. In a task of the same executor Close does nothing and returns [ErrInTask]. Otherwise the error
// is nil, or the first failure of Threads.Start or End.
func (ex *Executor) Close() error {
	ex.mustBeMade()
	if ex.currentWorker() != nil {
		return ErrInTask
	}
	Blocking(func() {
		ex.close.Do(func() {
			runtime.SetFinalizer(ex, nil)
			ex.end()
		})
	})
	return ex.hooks.err()
}

// end closes the executor: the first Close calls it, and New if it fails.
func (ex *executor) end() {
	ex.refuse()
	ex.running.Wait()
	ex.noteDrained()
	ex.silence.watch.Close()
	ex.spares.Close()
	ex.sharing.end()
	// D1(stop): set stop, then wake all. Pairs with D1(park), and line 23 in policy published: prepare, then look
	// at stop.
	ex.stop.Store(true)
	ex.notifier.NotifyAll()
	ex.alive.Wait()
	ex.leaving.wait()
	ex.reserve.end()
	ex.leave()
	ex.observers.detach()
	xsync.Close(ex.life.closed)
}
