package deque

import (
	"math/bits"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A blockRing is the common part of [bwos] and [bwosFIFO]: the blocks, and the operations of thieves.
//
// A block has a number. When it is used again, its number goes up by the number of blocks. Thieves are in the oldest
// block that is not exhausted.
type blockRing[T any] struct {
	blocks []block[T] // a power of two of them; never changes
	size   uint64     // number of cells in a block
	shift  int        // 1<<shift blocks
	_      pad.Line

	first xatomic.Uint64 // the number of the oldest block that may have items; C22: moved by compare-and-swap
	_     pad.Line
}

type block[T any] struct {
	cells []xatomic.Plain[*T] // of a granted block: each belongs to the thread that claims it; else the owner's
	_     pad.Line

	word xatomic.Uint64 // round and index: see below
	done xatomic.Uint32 // number of cells that are empty for good in this round; P21: hands them back to the owner
	_    pad.Line
}

// The upper 48 bits of a block's word are the round: how many numbers the block has had before. The lower 16 bits are
// one of three:
//
//   - the index of the next cell to steal;
//   - the number of cells: none is left to steal, the block is exhausted, and that is final for its number;
//   - closed: the block is the owner's, and may be granted later.
//
// W20: rounds wrap after 2^48 of them; a thief errs only if it sleeps through exactly that many.
const (
	indexBits        = 16
	indexMask uint64 = 1<<indexBits - 1
	closed           = indexMask
	maxBlock         = 1 << (indexBits - 1)
)

// init makes a ring for at least capacity items, in at least two blocks of size items each. Block 0 is the owner's.
func (r *blockRing[T]) init(capacity, size int) {
	capacity = max(capacity, 2)
	if size <= 0 {
		size = blockSize(capacity)
	}
	size = min(size, maxBlock)
	r.size = uint64(size)
	r.shift = max(1, bits.Len(uint((capacity-1)/size)))
	r.blocks = make([]block[T], 1<<r.shift)
	for i := range r.blocks {
		r.blocks[i].cells = make([]xatomic.Plain[*T], size)
		r.blocks[i].word.Store(closed)
	}
}

// blockSize returns the default size of a block, for a deque of capacity items: 1<<(n/2) items of 1<<n, the rule of
// PadWS (SPAA 2024), with n rounded up and its half rounded down.
func blockSize(capacity int) int { return 1 << (bits.Len(uint(max(capacity, 1)-1)) / 2) }

// at returns the block with number n.
func (r *blockRing[T]) at(n uint64) *block[T] { return &r.blocks[n&uint64(len(r.blocks)-1)] }

// round returns the round of number n, in the upper bits of a word.
func (r *blockRing[T]) round(n uint64) uint64 { return n >> r.shift << indexBits }

// next returns block n, closed and empty, where n is one more than the highest number in use. It returns nil if the
// block still has items or thieves of its last number.
//
// Owner only.
func (r *blockRing[T]) next(n uint64) *block[T] {
	b := r.at(n)
	w := b.word.Load()
	if w&^indexMask == r.round(n) {
		return b // the owner has been here and gone back, or it is new
	}
	if w&indexMask != r.size {
		return nil // it has items
	}
	// P21: all cells are empty, and the thieves' reads of them happen before this. Without the check the owner would
	// put items where a slow thief is about to read an item that it has claimed. An owner that waited for the thief
	// would be at the mercy of a preempted thread.
	if uint64(b.done.Load()) != r.size {
		return nil
	}
	b.done.Store(0)
	// C22: first is past the old number, even if no thief has seen the block exhausted. So a thief that loads first
	// from here on goes elsewhere, and a thief that loaded it before finds another round.
	old := n - uint64(len(r.blocks))
	r.first.CompareAndSwap(old, old+1)
	// P22: the block is closed before the one below is granted. Otherwise a thief that has exhausted the one below
	// would find no block with the next number, and look for it until the owner goes on.
	b.word.Store(r.round(n) | closed)
	return b
}

// oldest returns the oldest block that is not exhausted, with its word from a moment when it was the oldest.
//
// Any thread.
func (r *blockRing[T]) oldest() (b *block[T], w uint64) {
	for {
		n := r.first.Load()
		b = r.at(n)
		w = b.word.Load()
		switch {
		case w&^indexMask != r.round(n):
			// The block has another number, so first has moved. A thief that took it for number n would steal newer
			// items before older ones, or call the deque empty because the owner is there.
		case w&indexMask == r.size:
			r.first.CompareAndSwap(n, n+1) // C22: if it fails, another thread has done it
		default:
			return b, w
		}
	}
}

// steal is Steal of the deques.
//
// Any thread.
func (r *blockRing[T]) steal() (*T, Outcome) {
	b, w := r.oldest()
	if w&indexMask == closed {
		return nil, Empty
	}
	// C20: the thief claims the cell before it reads it. The claim is good for the round in w only.
	if !b.word.CompareAndSwap(w, w+1) {
		return nil, Lost
	}
	return b.yield(w & indexMask), Stolen
}

// stealBatch is StealBatch of the deques.
//
// Any thread.
func (r *blockRing[T]) stealBatch(into []*T, batch Batch) (int, Outcome) {
	b, w := r.oldest()
	i := w & indexMask
	if i == closed {
		return 0, Empty
	}
	n := batch.of(int(r.size-i), len(into))
	// C20: one step claims all of the cells, for the round in w only. Between two steps the owner could take the block
	// back.
	if !b.word.CompareAndSwap(w, w+uint64(n)) {
		return 0, Lost
	}
	for j := range n {
		into[j] = take(&b.cells[i+uint64(j)])
	}
	b.done.Add(uint32(n)) // P21: when the last has been read
	return n, Stolen
}

// yield empties a cell that the calling thief has claimed.
func (b *block[T]) yield(i uint64) *T {
	p := take(&b.cells[i])
	b.done.Add(1) // P21
	return p
}

// offers reports whether there was an item to steal at some moment during the call.
//
// Any thread.
func (r *blockRing[T]) offers() bool {
	_, w := r.oldest()
	return w&indexMask != closed
}

// isExhausted reports whether no item is left to steal below number n, which is that of the block that the owner fills.
// The block below decides: when it is exhausted, so are all before it (I22).
//
// Owner only.
func (r *blockRing[T]) isExhausted(n uint64) bool {
	return r.first.Load() == n || r.at(n-1).word.Load()&indexMask == r.size
}

// len returns about the number of items to steal.
//
// Any thread.
func (r *blockRing[T]) len() (items int) {
	first := r.first.Load()
	for n := first; n-first < uint64(len(r.blocks)); n++ {
		w := r.at(n).word.Load()
		if w&^indexMask != r.round(n) || w&indexMask == closed {
			break
		}
		items += int(r.size - w&indexMask)
	}
	return items
}

// take empties a cell that belongs to the caller. It leaves nil, so that the block keeps nothing alive.
func take[T any](c *xatomic.Plain[*T]) *T {
	p := c.Get()
	c.Set(nil)
	return p
}
