package deque

import (
	"math/bits"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A padWord is an index in a block, in the lower 16 bits, and the epoch for which it is meant, in the upper 48.
//
// W2: an epoch wraps after 2^48 changes of one block, 90 days at 30 ns each; a thief errs only if it sleeps through
// exactly that many between its load of claim and its compare-and-swap. A grant of an older epoch does not live that
// long: begin clears it, and between any two other changes of the epoch there is a new grant.
type padWord = uint64

const (
	padIndexBits         = 16
	padIndexMask padWord = 1<<padIndexBits - 1
	padEpoch     padWord = 1 << padIndexBits
)

func padIndex(w padWord) uint { return uint(w & padIndexMask) }

// isGranted reports whether a block with this claim and this grant has an item to steal. In one epoch the index in
// grant only grows. So such a claim may be made as long as claim stays the same, whatever the owner does meanwhile.
func isGranted(claim, grant padWord) bool {
	return claim&^padIndexMask == grant&^padIndexMask && claim < grant
}

// A padBlock is a run of items that are stolen from its beginning.
type padBlock[T any] struct {
	claim xatomic.Uint64 // padWord: the next item to steal. C2: thieves add to it; the owner changes the epoch
	_     pad.Line
	grant xatomic.Uint64 // padWord: items below it are granted, in its epoch. P2: publishes them; written by the owner
	_     pad.Line
	done  xatomic.Uint32 // P3: number of items that thieves have copied; set to zero by the owner
	_     pad.Line
	items []xatomic.Plain[*T] // the slice itself is never written again
	_     pad.Line
}

// begin gives the block a new epoch in which all its items are free and none is granted. The block must be quiet.
func (b *padBlock[T]) begin() (epoch padWord) {
	epoch = b.claim.Load()&^padIndexMask + padEpoch
	b.claim.Store(epoch) // G2: no claim of an older epoch succeeds from here on
	// Without thieves these two have not changed, and a load is cheaper than a store.
	if b.done.Load() != 0 {
		b.done.Store(0)
	}
	if padIndex(b.grant.Load()) != 0 {
		b.grant.Store(epoch) // W2
	}
	return epoch
}

// isQuiet reports whether no thief is copying. There must be nothing to claim.
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
