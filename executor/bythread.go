package executor

import (
	"math/bits"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// byThread finds the workers of one executor by their threads, in less time than onThread. It is a hash table that
// forgets nothing and has at most one worker in an entry. A worker for whose thread there is no room, or that has a new
// thread, is found in onThread. An inline executor has none.
type byThread struct {
	entries []xatomic.Pointer[Worker]
	shift   int
}

func (b *byThread) init(workers int) {
	log := bits.Len(uint(4 * workers))
	b.entries, b.shift = make([]xatomic.Pointer[Worker], 1<<log), 64-log
}

// entryOf returns the entry for a thread, by osthread.Self.
func (b *byThread) entryOf(self int64) *xatomic.Pointer[Worker] {
	return &b.entries[uint64(self)*0x9E3779B97F4A7C15>>b.shift]
}

// here returns the worker of ex that the caller runs on, or nil. It remembers the workers of threads, for callers that
// ask often.
func (ex *core) here() *Worker {
	if ex.inline != nil {
		return ex.currentWorker()
	}
	e := ex.byThread.entryOf(osthread.Self())
	w := e.Load()
	// Self is asked again, after the load of the worker's: a goroutine that is no worker's may have moved to another
	// thread since the first Self, and a worker may have begun on the old one.
	if w != nil && w.thread.self.Load() == osthread.Self() {
		return w
	}
	return ex.look(w, e)
}

// look finds the calling worker in onThread. It puts it into entry e unless that has a worker with a thread, old, or
// the caller is a guest.
func (ex *core) look(old *Worker, e *xatomic.Pointer[Worker]) *Worker {
	w := ex.currentWorker()
	if w != nil && w.thread.self.Load() == osthread.Self() && (old == nil || old.thread.self.Load() == 0) {
		e.Store(w)
	}
	return w
}
