package parallel

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xsync"
)

const (
	// eachBatch is the largest number of elements in a batch if no Grain is given. Arbitrary: a child costs as much as
	// 5 to 10 short bodies.
	eachBatch = 16
	// eachAhead is how many batches for each worker are there in advance if no MaxAhead is given. Arbitrary: while the
	// worker that iterates runs a batch, the others have so many each.
	eachAhead = 4
	// eachRound is how many children there are before the scope forgets those that have ended. Arbitrary: a child takes
	// about 200 bytes.
	eachRound = 256
)

// ForEach calls body for every element of seq. One worker iterates over seq, in one task from start to end, and makes
// batches of Grain elements or, if Grain is 0, of up to 16, fewer if those before took more than some microseconds to
// come. A batch that is not full waits for the next elements, or the end of seq. If there are enough elements in
// advance, see [Options].MaxAhead, it runs a batch itself before it goes on.
//
// A seq that waits for something outside the executor should do so inside [executor.Blocking]: the other workers, and
// one that stands in, then run the batches that are full. A live source, whose last elements must not wait for the
// next, needs a Grain of 1, and so does a seq that waits for a call of body.
//
// seq must not call next of an [iter.Pull] that was made outside it: seq may run on another thread, and the runtime
// then ends the process. That of [MapSeq] may, as it runs on the loop's own goroutine.
func ForEach[T any](ctx context.Context, o Options, seq iter.Seq[T], body func(x T)) error {
	o = o.check(ctx, "ForEach", body == nil)
	return forEach(ctx, o, "ForEach", seq, func(_ context.Context, x T) error {
		body(x)
		return nil
	})
}

// ForEachErr is [ForEach] with a body that may fail. After the first error seq is asked for no more elements.
func ForEachErr[T any](
	ctx context.Context, o Options, seq iter.Seq[T], body func(ctx context.Context, x T) error,
) error {
	o = o.check(ctx, "ForEachErr", body == nil)
	return forEach(ctx, o, "ForEachErr", seq, body)
}

func forEach[T any](
	ctx context.Context, o Options, name string, seq iter.Seq[T], body func(ctx context.Context, x T) error,
) error {
	if seq == nil {
		panic("parallel: " + name + " of a nil sequence")
	}
	_, err := run(ctx, o, name, func(s *executor.Scope) (none nothing) {
		f := feed[T]{body: body, workers: o.workers()}
		ok := false
		defer f.end(&ok)
		f.fill(s, seq, newBatching(o, f.workers))
		f.finish(s)
		ok = true
		return
	})
	return err
}

// A feed holds batches of elements that no worker has begun, for the calls of body. The oldest is the next.
type feed[T any] struct {
	job
	body    func(ctx context.Context, x T) error
	workers int // constant
	spawned int // children; the iterating task only

	mu      xsync.Mutex
	batches [][]T
	queued  int  // elements in batches
	drains  int  // children that take batches
	coming  int  // those of them that have not begun: see wanted
	blocked bool // there were more batches when the last of them began
}

// fill iterates over seq and has the elements' batches run.
func (f *feed[T]) fill(s *executor.Scope, seq iter.Seq[T], b batching) {
	var batch []T
	for x := range seq {
		if f.stopped(s) {
			return
		}
		if batch == nil {
			batch = make([]T, 0, min(b.size, eachBatch))
		}
		if batch = append(batch, x); len(batch) < b.size {
			continue
		}
		f.put(s, batch)
		batch = nil
		b.adapt()
		if f.makeRoom(s, b); f.stopped(s) {
			return
		}
	}
	if len(batch) > 0 && !f.stopped(s) {
		f.put(s, batch)
	}
}

// makeRoom runs batches until there is room for another.
func (f *feed[T]) makeRoom(s *executor.Scope, b batching) { f.runTo(s, b.limit()-b.size) }

// runTo runs batches until there are at most so many elements in them.
func (f *feed[T]) runTo(s *executor.Scope, most int) {
	for {
		f.mu.Lock()
		if f.queued <= most || len(f.batches) == 0 {
			f.mu.Unlock()
			return
		}
		batch := f.take()
		f.mu.Unlock()
		f.run(s, batch)
	}
}

// finish runs what is queued, and ends when the children have run what they have taken.
func (f *feed[T]) finish(s *executor.Scope) {
	f.runTo(s, 0)
	_ = s.Wait() // what it returns is part of the run's error
}

// put adds a batch, and a child to take batches if there are not enough. The scope keeps its children until a Wait, so
// there is one at times.
func (f *feed[T]) put(s *executor.Scope, batch []T) {
	f.mu.Lock()
	f.batches = append(f.batches, batch)
	f.queued += len(batch)
	more := f.drains < f.workers || f.coming < f.wanted()
	if more {
		f.drains++
		f.coming++
	}
	f.mu.Unlock()
	if !more {
		return
	}
	s.Spawn(f.drain)
	if f.spawned++; f.spawned%eachRound == 0 {
		f.finish(s)
	}
}

// wanted returns how many children there must be that have not begun, for spares to run while seq and bodies are in
// Blocking: one if there is a batch, and one for each batch after that was not enough. The caller holds mu.
func (f *feed[T]) wanted() int {
	if f.blocked {
		return min(len(f.batches), executor.MaxWorkers)
	}
	return min(len(f.batches), 1)
}

// take removes the oldest batch and returns it, or nil if there is none. The caller holds mu.
func (f *feed[T]) take() (batch []T) {
	if len(f.batches) > 0 {
		batch, f.batches[0] = f.batches[0], nil
		f.batches = f.batches[1:]
		f.queued -= len(batch)
	}
	return batch
}

// drain runs batches until there is none.
func (f *feed[T]) drain(s *executor.Scope) error {
	ok := false
	defer f.end(&ok)
	batch, more := f.begin()
	for range more {
		s.Spawn(f.drain)
	}
	for ; batch != nil; batch = f.takeOrLeave() {
		f.run(s, batch)
	}
	ok = true
	return nil
}

// begin is takeOrLeave for a child that begins. It also returns how many others the child must make, because it was the
// last to begin and leaves batches. The iterating task has a worker too, so that happens only while spares stand in for
// others, and then once: put makes a child for each batch from then on.
func (f *feed[T]) begin() (batch []T, more int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.coming--
	if batch = f.take(); batch == nil {
		f.drains--
	}
	if f.coming == 0 && len(f.batches) > 0 {
		f.blocked = true
		more = f.wanted()
		f.drains += more
		f.coming = more
	}
	return batch, more
}

// takeOrLeave is take for a child of drain, which ends if there is none: put adds another when there is a batch again.
func (f *feed[T]) takeOrLeave() []T {
	f.mu.Lock()
	defer f.mu.Unlock()
	batch := f.take()
	if batch == nil {
		f.drains--
	}
	return batch
}

// run calls body for the elements of a batch. It keeps no element for which body has been called.
func (f *feed[T]) run(s *executor.Scope, batch []T) {
	for i, x := range batch {
		if f.stopped(s) {
			return
		}
		var none T
		batch[i] = none
		if err := f.body(s.Context(), x); err != nil {
			f.fail(s, err)
		}
	}
}

// Batching says how many elements a batch has, and how many elements there may be in advance.
type batching struct {
	size    int       // of a batch
	largest int       // largest size; 0 if the size is constant
	ahead   int       // MaxAhead, or 0
	workers int       // constant
	since   time.Time // the end of the batch before
}

func newBatching(o Options, workers int) batching {
	b := batching{size: o.Grain, ahead: o.MaxAhead, workers: workers}
	if b.ahead > 0 {
		b.ahead = max(b.ahead, workers)
		b.size = min(b.size, b.ahead/workers) // a larger batch would be all that there is
	}
	if o.Grain > 0 {
		return b
	}
	b.size, b.largest, b.since = 1, eachBatch, time.Now()
	if b.ahead > 0 {
		b.largest = max(1, min(b.largest, b.ahead/(2*workers)))
	}
	return b
}

// limit returns how many elements there may be in advance.
func (b *batching) limit() int {
	if b.ahead > 0 {
		return b.ahead
	}
	if batches := eachAhead * b.workers; b.size <= math.MaxInt/batches {
		return batches * b.size
	}
	return math.MaxInt
}

// adapt is called at the end of a batch. A batch should take longBlock/2 to longBlock, with the batches that the task
// has run between two elements: then short bodies cost little, and elements that come seldom wait for few others. The
// last ones of a burst wait for the next burst all the same.
func (b *batching) adapt() {
	if b.largest == 0 {
		return
	}
	now := time.Now()
	took := now.Sub(b.since)
	b.since = now
	switch {
	case took < longBlock/2:
		b.size = min(2*b.size, b.largest)
	case took > longBlock:
		b.size = max(b.size/2, 1)
	}
}
