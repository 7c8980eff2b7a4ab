package deque

import (
	"cmp"
	"errors"
	"fmt"
)

// Options are the sizes of the queues of a [Group]. The zero value of a field chooses its default.
type Options struct {
	// Capacity is the number of items for which a queue has room: a bounded queue for at least that many as
	// long as none was stolen, another queue before it first grows. The defaults are 1024 and 64.
	Capacity int
	// BlockSize is the number of items in a block, for kinds with blocks. The default is about the square root of
	// Capacity. Larger blocks hide more items: thieves do not see those of one block, or with KindBWoSFIFO of two.
	BlockSize int
	// Keep is the number of items that an owner keeps for itself, for kinds whose owners answer requests or deal.
	Keep int
}

const (
	boundedCapacity  = 1024
	growableCapacity = 64
	maxCapacity      = 1 << 24 // arbitrary, and more than one worker needs
)

// A Group is a number of queues of one kind, whose owners steal from each other. Make one with [NewGroup].
type Group[T any] struct {
	n    int
	make func(i int) Queue[T]
}

// NewGroup returns a group of n queues, which [Group.Queue] makes. Owners that deal, deal only to queues that have been
// made. It fails if n is below one or o is wrong for k, see [Options.Check].
func NewGroup[T any](k Kind, n int, o Options) (*Group[T], error) {
	if n < 1 {
		return nil, fmt.Errorf("deque: a group has at least one queue, not %d", n)
	}
	if err := o.Check(k); err != nil {
		return nil, err
	}
	if o.Capacity == 0 {
		o.Capacity = growableCapacity
		if k.Bounded() {
			o.Capacity = boundedCapacity
		}
	}
	return &Group[T]{n: n, make: queues[T]()[k](n, o)}, nil
}

// Check returns an error that says everything that is wrong with o for queues of kind k, and how to correct it.
func (o Options) Check(k Kind) error {
	if k >= numKinds {
		return fmt.Errorf("deque: there is no %v: choose one of %v", k, Kinds())
	}
	limit := cmp.Or(k.row().most, maxCapacity)
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("deque: "+format, args...)) }
	if o.Capacity < 0 || o.Capacity > limit {
		bad("Capacity is %d: choose 1 to %d for %v, or 0 for the default", o.Capacity, limit, k)
	}
	switch {
	case o.BlockSize != 0 && !k.Blocks():
		bad("BlockSize is %d, but %v has no blocks: leave it 0", o.BlockSize, k)
	case o.BlockSize < 0 || o.BlockSize > maxBlock:
		bad("BlockSize is %d: choose 1 to %d, or 0 for the default", o.BlockSize, maxBlock)
	}
	switch {
	case o.Keep != 0 && !k.Asks() && !k.Receives():
		bad("Keep is %d, but an owner of %v hands nothing out: leave it 0", o.Keep, k)
	case o.Keep < 0:
		bad("Keep is %d: choose 0 or more", o.Keep)
	}
	return errors.Join(errs...)
}

// Queue makes queue i of 0 to n-1. It must be called at most once for each i. Owners may make their queues at the same
// time. It panics if i is out of range.
func (g *Group[T]) Queue(i int) Queue[T] {
	if i < 0 || i >= g.n {
		panic(fmt.Sprintf("deque: queue %d of a group of %d", i, g.n))
	}
	return g.make(i)
}
