package observe

import (
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A ring is a bounded queue of events with one producer, a worker, and one consumer, the goroutine that writes the
// trace.
//
// The places from read to written, modulo the size, belong to the consumer, and the others to the producer. Each side
// hands places over by its own index: written publishes the event, read hands the empty place back. Neither side ever
// waits for the other here.
type ring struct {
	places []event // constant; the length is a power of two

	_       pad.Line
	written xatomic.Uint64 // by the producer
	seen    uint64         // the producer's copy of read, at most as large; plain
	dropped xatomic.Tell64 // events without a place, by the producer

	_    pad.Line
	read xatomic.Uint64 // by the consumer
	_    pad.Line
}

// An event is what a worker tells the writer.
type event struct {
	task       xatomic.Plain[*executor.TaskInfo] // of a slice or a mark
	run        xatomic.Plain[*runInfo]           // of a slice or a mark, if it is to be told; of a run itself
	failure    xatomic.Plain[*string]            // of a task or a run that has failed; why a task was skipped
	begin, end int64                             // nanoseconds since the trace began
	other      int32                             // of a steal, the victim
	n          int32                             // of a steal, the items
	kind       kind
}

type kind uint8

const (
	taskSlice kind = iota
	skipMark
	parkSlice
	stealArrow
	runSlice
)

func newRing(size int) *ring { return &ring{places: make([]event, size)} }

// place returns the next place, which the producer fills and then publishes, or nil if the ring is full. Producer only.
func (r *ring) place() *event {
	w := r.written.Load()
	if w-r.seen == uint64(len(r.places)) {
		if r.seen = r.read.Load(); w-r.seen == uint64(len(r.places)) {
			return nil
		}
	}
	return &r.places[w&uint64(len(r.places)-1)]
}

// publish hands the place to the consumer. It reports whether the ring has just become half full or full. Producer
// only.
func (r *ring) publish() bool {
	w := r.written.Load() + 1
	r.written.Store(w)
	return w&uint64(len(r.places)/2-1) == 0
}

// drop counts an event for which there was no place. Producer only.
func (r *ring) drop() { r.dropped.Store(r.dropped.Load() + 1) }

// drain passes the events in the ring to f, oldest first, and empties their places. Consumer only.
func (r *ring) drain(f func(*event)) {
	w := r.written.Load()
	for i := r.read.Load(); i != w; {
		// In parts, so that the producer gets places back soon.
		for end := i + min(w-i, 64); i != end; i++ {
			e := &r.places[i&uint64(len(r.places)-1)]
			f(e)
			e.task.Set(nil) // keeps no task's set alive
			e.run.Set(nil)
			e.failure.Set(nil)
		}
		r.read.Store(i)
	}
}
