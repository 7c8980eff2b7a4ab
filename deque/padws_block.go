package deque

import (
	"math/bits"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A padWord is an index in a block, in the lower 16 bits, and the epoch for which it is meant, in the upper 48.
//
// W2: an epoch comes round after 2^48 changes of one block, 90 days at 30 ns each; a thief would have to sleep through
// exactly that many between its look at claim and its compare-and-swap. What grant says of an older epoch does not live
// that long: begin clears it, and no block changes its epoch twice otherwise but after a new grant.
type padWord = uint64

const (
	padIndexBits         = 16
	padIndexMask padWord = 1<<padIndexBits - 1
	padEpoch     padWord = 1 << padIndexBits
)

func padIndex(w padWord) uint { return uint(w & padIndexMask) }

// A padBlock is a run of items that are stolen from its beginning.
type padBlock[T any] struct {
	claim xatomic.Uint64 // padWord: the next item to be stolen. C2: thieves add one; the owner changes the epoch
	_     pad.Line
	grant xatomic.Uint64 // padWord: items below it are granted, in its epoch. P2: publishes them; written by the owner
	_     pad.Line
	done  xatomic.Uint32 // P3: items that thieves have copied and left; set to zero by the owner
	_     pad.Line
	items []xatomic.Plain[*T] // the slice itself is never written again
	_     pad.Line
}

// begin gives the block a new epoch in which all its items are free and none is granted. The caller knows that it is
// quiet.
func (b *padBlock[T]) begin() (epoch padWord) {
	epoch = b.claim.Load()&^padIndexMask + padEpoch
	b.claim.Store(epoch) // G2: no claim of an older epoch succeeds from here on
	// Without thieves these two are as they were, and a look is cheaper than a store.
	if b.done.Load() != 0 {
		b.done.Store(0)
	}
	if padIndex(b.grant.Load()) != 0 {
		b.grant.Store(epoch) // W2
	}
	return epoch
}

// isQuiet reports that no thief is copying. The caller knows that nothing can be claimed.
func (b *padBlock[T]) isQuiet() bool { return uint(b.done.Load()) == padIndex(b.claim.Load()) }

// newPadBlocks returns n blocks of size items each. The items of two blocks share no line.
func newPadBlocks[T any](n, size int) []padBlock[T] {
	const apart = pad.Size / (bits.UintSize / 8)
	blocks := make([]padBlock[T], n)
	all := make([]xatomic.Plain[*T], apart+n*(size+apart))
	for i := range blocks {
		from := apart + i*(size+apart)
		blocks[i].items = all[from : from+size : from+size]
	}
	return blocks
}
