package lane

import (
	"cmp"
	"math/rand/v2"

	"github.com/magpie-go/magpie/deque"
)

// Options describe the lanes of an executor's workers.
type Options struct {
	Kind        deque.Kind
	Capacity    int         // of a queue, in items, or of the first ring of a direct lane's deque; 0 means a default
	BlockSize   int         // of a queue with blocks, in items; 0 means its default
	Batch       deque.Batch // how much a thief takes at once
	ForksPushed bool        // the owner shows each fork at once
	Enough      int         // if thieves see so many items, the second fork of one function stays private
	// SmallBlocks makes the default of BlockSize smallBlock where thieves neither see the owner's block nor can ask for
	// its items. Otherwise the default is the document's for every kind.
	SmallBlocks bool
	// Begging has owners that deal show their items to thieves that sleep, and are dealt nothing: see beg.go.
	Begging bool
}

// Queue returns the options of the lanes' queues.
func (o Options) Queue() deque.Options {
	q := deque.Options{Capacity: o.Capacity, BlockSize: o.BlockSize}
	if o.Kind != deque.KindChaseLev {
		q.Capacity = cmp.Or(q.Capacity, queueCapacity)
	}
	if o.SmallBlocks && o.Kind.Blocks() && o.Kind.Hides() && !o.Kind.Asks() && q.Capacity >= smallBlock*smallBlock {
		q.BlockSize = cmp.Or(q.BlockSize, smallBlock)
	}
	return q
}

// PushesForks reports whether the owner shows each fork at once. It does so, whatever ForksPushed says, if the queue
// hides items and thieves cannot ask. In such a lane a fork pushed on demand may stay hidden, and no thief would cause
// the next to be pushed.
func (o Options) PushesForks() bool { return o.ForksPushed || o.Kind.Hides() && !o.Kind.Asks() }

// A Maker makes the lanes of the workers of one executor, which steal from each other.
type Maker[T any] struct {
	o      Options
	queues *deque.Group[T] // nil if lanes are direct
}

// NewMaker returns a maker of n lanes. It fails if the options of the queues are bad.
func NewMaker[T any](n int, o Options) (*Maker[T], error) {
	if o.Kind == deque.KindChaseLev {
		return NewDirect[T](o), nil
	}
	m := &Maker[T]{o: o}
	if !m.o.PushesForks() && o.Kind.Asks() {
		m.o.Enough = 0 // forks stay private until a thief asks
	}
	var err error
	m.queues, err = deque.NewGroup[T](o.Kind, n, o.Queue())
	return m, err
}

// NewDirect is NewMaker for KindChaseLev, whose lanes have no queues. A program that calls NewMaker links the queues of
// all kinds.
func NewDirect[T any](o Options) *Maker[T] { return &Maker[T]{o: o} }

// Init makes l the lane of worker i. isAlone says that there is no thief until Share. It is called once for each
// worker.
func (m *Maker[T]) Init(l *Lane[T], i int, isAlone bool) {
	l.kind, l.asks, l.forksPushed = m.o.Kind, m.o.Kind.Asks(), m.o.PushesForks()
	l.stacksForks = l.forksPushed && !l.IsFIFO()
	l.begs = m.o.Begging && m.o.Kind.Receives()
	l.alone, l.near = isAlone, deque.NearOf[T](nil)
	if m.queues == nil {
		l.open = deque.New[T](cmp.Or(m.o.Capacity, dequeCapacity))
	} else {
		l.open = deque.New[T](0)
		l.queue = m.queues.Queue(i)
		l.own = &queued[T]{l: l}
	}
	switch {
	case !isAlone:
		l.enough = m.o.Enough
	case !l.IsFIFO():
		l.own, l.solo = &alone[T]{l: l, next: l.own}, make([]*T, 0, dequeCapacity)
	}
	l.KeepOpen(false)
	if m.o.Batch != deque.One {
		l.batch, l.stolen = m.o.Batch, make([]*T, maxBatch)
		l.batcher = l.queue.(deque.Batcher[T])
	}
	l.quiet = 1
	l.Answer()
}

// Enough returns the argument for [Lane.Share].
func (m *Maker[T]) Enough() int { return m.o.Enough }

// InitShuffled makes l the lane of an inline worker, whose order the seed chooses.
func (l *Lane[T]) InitShuffled(seed uint64) {
	l.open, l.near, l.alone, l.shuffled = deque.New[T](0), deque.NearOf[T](nil), true, true
	l.quiet = 1
	l.Answer()
	l.own = &shuffled[T]{l: l, rng: rand.NewPCG(seed, 0)}
}
