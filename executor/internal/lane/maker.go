package lane

import (
	"cmp"
	"math/rand/v2"

	"github.com/magpie-go/magpie/deque"
)

// Options say what lanes the workers of an executor have.
type Options struct {
	Kind        deque.Kind
	Capacity    int         // of a queue, or of the deque of a direct lane at first; 0 means a default
	BlockSize   int         // of a queue with blocks; 0 means its default
	Batch       deque.Batch // how much a thief takes at once
	ForksPushed bool        // the owner shows each fork at once
	Enough      int         // with so many items to steal the second fork of one function stays private
}

// Queue are the options of the queues that lanes have.
func (o Options) Queue() deque.Options {
	q := deque.Options{Capacity: o.Capacity, BlockSize: o.BlockSize}
	if o.Kind != deque.KindChaseLev {
		q.Capacity = cmp.Or(q.Capacity, queueCapacity)
	}
	return q
}

// PushesForks reports whether the owner shows each fork at once. It does, whatever ForksPushed says, where the queue hides items
// and thieves cannot ask: a fork that was pushed because there was nothing to steal would stay hidden, and then no thief would
// cause another to be pushed.
func (o Options) PushesForks() bool { return o.ForksPushed || o.Kind.Hides() && !o.Kind.Asks() }

// A Maker makes the lanes of the workers of one executor, which steal from each other.
type Maker[T any] struct {
	o      Options
	queues *deque.Group[T] // nil if lanes are direct
}

// NewMaker returns a maker of n lanes. The error is that of the options of the queues.
func NewMaker[T any](n int, o Options) (*Maker[T], error) {
	m := &Maker[T]{o: o}
	if !m.o.PushesForks() && o.Kind.Asks() {
		m.o.Enough = 0 // forks wait for somebody to ask
	}
	if o.Kind == deque.KindChaseLev {
		return m, nil
	}
	var err error
	m.queues, err = deque.NewGroup[T](o.Kind, n, o.Queue())
	return m, err
}

// Init makes l the lane of worker i. It is called once for each worker.
func (m *Maker[T]) Init(l *Lane[T], i int, isAlone bool) {
	l.kind, l.asks, l.forksPushed = m.o.Kind, m.o.Kind.Asks(), m.o.PushesForks()
	l.alone = isAlone
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
		l.own = &alone[T]{l: l, items: make([]*T, 0, dequeCapacity), next: l.own}
	}
	if m.o.Batch != deque.One {
		l.batch, l.stolen = m.o.Batch, make([]*T, maxBatch)
	}
	l.demand.Store(l.forksPushed)
}

// Enough is for [Lane.Share].
func (m *Maker[T]) Enough() int { return m.o.Enough }

// InitShuffled makes l the lane of an inline worker.
func (l *Lane[T]) InitShuffled(seed uint64) {
	l.open, l.alone, l.shuffled = deque.New[T](0), true, true
	l.own = &shuffled[T]{l: l, rng: rand.NewPCG(seed, 0)}
}
