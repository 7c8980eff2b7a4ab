package deque

import "fmt"

// PadEpochs is the number of epochs of a block before they wrap.
const PadEpochs = 1 << (64 - padIndexBits)

// NewPadWSAt is newPadWS with epochs that start at epoch.
func NewPadWSAt[T any](c padWSConfig, epoch uint64) *padWS[T] {
	d := newPadWS[T](c)
	for i := range d.blocks {
		d.blocks[i].claim.Store(epoch << padIndexBits)
	}
	d.epoch = epoch << padIndexBits
	return d
}

// ComeRound moves the epoch of block number, which is quiet and not the newest, to just before that of its grant, as
// many changes would. Owner only.
func (d *padWS[T]) ComeRound(number int) {
	b := d.block(int64(number))
	b.claim.Store(b.grant.Load()&^padIndexMask - padEpoch | padWord(padIndex(b.claim.Load())))
}

// Asked returns the number of requests that stand.
func (d *padWS[T]) Asked() int { return int(d.asked.Load()) }

// AskFor leaves n requests.
func (d *padWS[T]) AskFor(n int) { d.asked.Add(uint32(n)) }

// PadCounts count the owner's actions.
type PadCounts = padCounts

// Counts returns the counts of the owner's actions. Owner only.
func (d *padWS[T]) Counts() PadCounts { return d.counts }

// Own returns the number of items of its block that the owner has. Owner only.
func (d *padWS[T]) Own() int { return int(d.next - d.low) }

// Newest and Oldest return the numbers of the owner's block and of the oldest block that may hold items.
func (d *padWS[T]) Newest() int { return int(d.newest.Load()) }
func (d *padWS[T]) Oldest() int { return int(d.oldest.Load()) }

// Capacity returns the number of items for which all blocks have room.
func (d *padWS[T]) Capacity() int { return len(d.blocks) * int(d.size) }

// Occupied returns the number of places that are not nil. Owner only, while no thief is active.
func (d *padWS[T]) Occupied() (n int) {
	for i := range d.blocks {
		for j := range d.blocks[i].items {
			if d.blocks[i].items[j].Get() != nil {
				n++
			}
		}
	}
	return n
}

// CheckRest panics if an invariant between two operations does not hold. Owner only, while no thief is active;
// suspended thieves are allowed.
func (d *padWS[T]) CheckRest() {
	must := func(ok bool, format string, args ...any) {
		if !ok {
			panic(fmt.Sprintf(format, args...))
		}
	}
	word := d.here.claim.Load()
	must(d.here == d.block(d.number) && d.newest.Load() == d.number, "the owner is not in the newest block")
	must(word&^padIndexMask == d.epoch, "the owner's block has another epoch than the owner thinks")
	must(padIndex(word) <= d.low && d.low <= d.next && d.next <= d.size, "claimed %d, granted %d, put %d of %d",
		padIndex(word), d.low, d.next, d.size)
	must(d.oldest.Load() <= d.number+1 && d.number-d.oldest.Load() < int64(len(d.blocks)),
		"blocks %d to %d", d.oldest.Load(), d.number)
	if g := d.here.grant.Load(); g&^padIndexMask == d.epoch {
		must(padIndex(g) <= d.low, "thieves see more granted than was")
	} else {
		must(padIndex(word) == d.low, "something was granted in an epoch that thieves do not see")
	}
	for k := d.oldest.Load(); k < d.number; k++ {
		b := d.block(k)
		s, g := b.claim.Load(), b.grant.Load()
		must(padIndex(s) == d.size || s&^padIndexMask == g&^padIndexMask && padIndex(g) == d.size,
			"block %d below the newest is neither exhausted nor open", k)
	}
}

// A SlowPadThief is Steal cut into its steps, so that a test decides what happens between them. A step that ends the
// steal returns its outcome.
type SlowPadThief[T any] struct {
	d    *padWS[T]
	b    *padBlock[T]
	k, n int64
	s, g padWord
	step int
	item *T
}

// NewSlowPadThief returns a thief that has not begun.
func NewSlowPadThief[T any](d *padWS[T]) *SlowPadThief[T] { return &SlowPadThief[T]{d: d} }

// Claimed reports whether the thief has claimed an item and not yet left its place.
func (th *SlowPadThief[T]) Claimed() bool { return th.step == 5 || th.step == 6 }

// Step takes the next step and reports whether the steal has ended, and how.
func (th *SlowPadThief[T]) Step() (p *T, outcome Outcome, over bool) {
	d := th.d
	end := func(p *T, outcome Outcome) (*T, Outcome, bool) {
		*th = SlowPadThief[T]{d: d}
		return p, outcome, true
	}
	switch th.step {
	case 0:
		th.k = d.oldest.Load()
	case 1:
		th.n = d.newest.Load()
		if th.k > th.n {
			d.ask()
			return end(nil, Empty)
		}
		th.b = d.block(th.k)
	case 2:
		th.s = th.b.claim.Load()
		if padIndex(th.s) == d.size {
			if th.k == th.n {
				d.ask()
				return end(nil, Empty)
			}
			d.oldest.CompareAndSwap(th.k, th.k+1)
			return end(nil, Lost) // Steal would begin again
		}
	case 3:
		th.g = th.b.grant.Load()
		if th.s&^padIndexMask != th.g&^padIndexMask || th.s >= th.g {
			d.ask()
			return end(nil, NotReady)
		}
	case 4:
		if !th.b.claim.CompareAndSwap(th.s, th.s+1) {
			return end(nil, Lost)
		}
	case 5:
		item := &th.b.items[padIndex(th.s)]
		th.item = item.Get()
		item.Set(nil)
	case 6:
		th.b.done.Add(1)
		if th.k == th.n {
			d.asked.Add(1)
		}
		return end(th.item, Stolen)
	}
	th.step++
	return nil, Empty, false
}
