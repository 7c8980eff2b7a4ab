package executor

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// onThread maps the osthread.Self of an OS thread to the worker that is locked to it, for the whole process. The thread
// identifies the worker reliably: a locked thread runs no other goroutine, whereas a context can be handed on.
//
// Tasks of several executors may be on one stack: those of inline executors, each started by a task of the one below,
// and at the bottom perhaps a task of an executor with threads. The caller is then the worker of all of them, and
// onThread has the topmost.
//
// It is not xatomic: the model checker leaves it out.
var onThread = newThreadTable()

// loadOnThread returns the worker of the thread that self identifies, or nil.
func loadOnThread(self int64) *Worker {
	if e := onThread.find(self); e != nil {
		return e.worker.Load()
	}
	return nil
}

// A threadTable is a hash table with open addressing. Any thread reads it without a lock. A thread's entry is written
// by that thread only. It stays when a guest leaves, for the next guest, which must not allocate. It goes when the
// worker whose own thread it is leaves the thread, which is about to end.
type threadTable struct {
	slots atomic.Pointer[[]threadSlot] // a power of two of them, at most half of them in use

	mu   sync.Mutex // for writers of slots
	used int        // slots in use
}

// A threadSlot is written once: the entry, then the key.
type threadSlot struct {
	key   atomic.Int64 // 0: not in use
	entry *threadEntry
}

// keyOf returns the key of a thread. It is not 0: no number is the least of all.
func keyOf(self int64) int64 { return self ^ -1<<63 }

// A threadEntry is shared by all tables that have held it.
type threadEntry struct {
	worker atomic.Pointer[Worker]
	ending atomic.Bool // the thread is about to end: the next table leaves the entry out
}

func newThreadTable() *threadTable {
	t := &threadTable{}
	t.slots.Store(new(make([]threadSlot, 64)))
	return t
}

// find returns the entry of a thread, or nil.
func (t *threadTable) find(self int64) *threadEntry {
	key := keyOf(self)
	slots := *t.slots.Load()
	for i := slotOf(key); ; i++ {
		switch s := &slots[i&(len(slots)-1)]; s.key.Load() {
		case key:
			return s.entry
		case 0:
			return nil
		}
	}
}

// slotOf returns the number of the slot where a search begins, for a table of any size.
func slotOf(key int64) int { return int(uint64(key) * 0x9E3779B97F4A7C15 >> 34) }

// set is for the thread that self identifies.
func (t *threadTable) set(self int64, w *Worker) {
	e := t.find(self)
	if e == nil || e.ending.Load() { // perhaps that of a thread that has ended
		e = t.add(self)
	}
	e.worker.Store(w)
}

// unset is for the thread that self identifies. It has no worker from now on, but may have a guest.
func (t *threadTable) unset(self int64) {
	if osthread.SelfIsGoroutine {
		t.markEnding(self) // the number is never that of another
	} else {
		t.set(self, nil)
	}
}

// markEnding is for the thread that self identifies. It has no worker from now on, and is about to end.
func (t *threadTable) markEnding(self int64) {
	if e := t.find(self); e != nil {
		e.worker.Store(nil)
		e.ending.Store(true)
	}
}

// add returns the entry of the calling thread, a new one if need be.
func (t *threadTable) add(self int64) *threadEntry {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.find(self)
	if e != nil {
		e.ending.Store(false)
		return e
	}
	slots := *t.slots.Load()
	if 2*(t.used+1) > len(slots) {
		slots = t.renew(slots)
		t.slots.Store(&slots)
	}
	e = &threadEntry{}
	t.put(slots, keyOf(self), e)
	return e
}

// renew returns a table with room for as many entries again as stay.
func (t *threadTable) renew(old []threadSlot) []threadSlot {
	stay := 0
	for i := range old {
		if e := old[i].entry; e != nil && !e.ending.Load() {
			stay++
		}
	}
	size := len(old)
	for size < 4*(stay+1) {
		size *= 2
	}
	slots := make([]threadSlot, size)
	t.used = 0
	for i := range old {
		if e := old[i].entry; e != nil && !e.ending.Load() {
			t.put(slots, old[i].key.Load(), e)
		}
	}
	return slots
}

func (t *threadTable) put(slots []threadSlot, key int64, e *threadEntry) {
	i := slotOf(key)
	for slots[i&(len(slots)-1)].key.Load() != 0 {
		i++
	}
	s := &slots[i&(len(slots)-1)]
	s.entry = e
	s.key.Store(key)
	t.used++
}

// each calls f for the threads in the table until it returns false.
func (t *threadTable) each(f func(self int64) bool) {
	slots := *t.slots.Load()
	for i := range slots {
		if key := slots[i].key.Load(); key != 0 && !f(keyOf(key)) {
			return
		}
	}
}

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
