package executor

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/pad"
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
// worker whose own thread it is leaves the thread, which is about to end, or once the thread is gone.
type threadTable struct {
	slots atomic.Pointer[[]threadSlot] // a power of two of them, at most half of them in use
	gone  func(self int64) bool        // osthread.SelfGone; tests replace it

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
	self   int64 // constant
	worker atomic.Pointer[Worker]
	ending atomic.Bool // the thread is about to end: the next table leaves the entry out, and it stays set then
	_      pad.Line    // each guest writes its own, and callers outside read theirs
}

func newThreadTable() *threadTable {
	t := &threadTable{gone: osthread.SelfGone}
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
func (t *threadTable) set(self int64, w *Worker) { t.setAt(t.find(self), self, w) }

// setAt is set, for a thread that may have entry e. It returns the thread's.
func (t *threadTable) setAt(e *threadEntry, self int64, w *Worker) *threadEntry {
	if e == nil || e.self != self || e.ending.Load() { // perhaps that of a thread that has ended
		e = t.add(self)
	}
	e.worker.Store(w)
	return e
}

// unset is for the thread whose entry e is. It has no worker from now on, but may have a guest.
func (e *threadEntry) unset() {
	e.worker.Store(nil)
	if osthread.SelfIsGoroutine {
		e.ending.Store(true) // goroutines end, and there are many: the next table leaves the entry out
	}
}

// markEnding is for the thread whose entry e is. It has no worker from now on, and is about to end.
func (e *threadEntry) markEnding() {
	e.worker.Store(nil)
	e.ending.Store(true)
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
	e = &threadEntry{self: self}
	t.put(slots, keyOf(self), e)
	return e
}

// renew returns a table with room for as many entries again as stay.
func (t *threadTable) renew(old []threadSlot) []threadSlot {
	var stay []*threadEntry
	for i := range old {
		e := old[i].entry
		if e != nil && e.worker.Load() == nil && t.gone(e.self) && !e.ending.Swap(true) {
			// Ask again: a new thread with the number has come before the mark, or finds it and adds an entry.
			e.ending.Store(t.gone(e.self))
		}
		if e != nil && !e.ending.Load() {
			stay = append(stay, e)
		}
	}
	size := len(old)
	for size < 4*(len(stay)+1) {
		size *= 2
	}
	slots := make([]threadSlot, size)
	t.used = 0
	for _, e := range stay {
		t.put(slots, keyOf(e.self), e)
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

// callers finds the worker of one executor that a caller is on, in less time than onThread: with two hash tables that
// have at most one entry in a slot. onThread has the others. An inline executor has none. It is not xatomic either.
type callers struct {
	goroutines []atomic.Pointer[Worker]      // by osthread.Goroutine, of workers and of guests
	threads    []atomic.Pointer[threadEntry] // by osthread.Self
	shift      int
}

func (c *callers) init(workers int) {
	log := bits.Len(uint(4*workers + 15)) // threads outside ask too
	c.goroutines, c.threads = make([]atomic.Pointer[Worker], 1<<log), make([]atomic.Pointer[threadEntry], 1<<log)
	c.shift = 64 - log
}

// slotOf returns the number of the slot for a goroutine or thread.
func (c *callers) slotOf(number uint64) uint64 { return number * 0x9E3779B97F4A7C15 >> c.shift }

// currentWorker returns the worker of this executor that the caller runs on, or nil.
func (ex *core) currentWorker() *Worker {
	if ex.inline != nil {
		return ex.workerFrom(workerHere())
	}
	c := &ex.callers
	g := osthread.Goroutine()
	if w := c.goroutines[c.slotOf(g)].Load(); w != nil && w.thread.isOf(g) {
		return w
	}
	// A goroutine that is no worker's may have left the thread before a look at the entry. The answer is the same.
	self := osthread.Self()
	known := &c.threads[c.slotOf(uint64(self))]
	e := known.Load()
	if e == nil || e.self != self || e.ending.Load() {
		if e = onThread.find(self); e == nil {
			return nil
		}
		known.Store(e)
	}
	if e.worker.Load() == nil {
		return nil
	}
	w := ex.workerFrom(workerHere())
	if w != nil && w.thread.isOf(g) {
		c.goroutines[c.slotOf(g)].Store(w)
	}
	return w
}
