package deque

import "fmt"

// PadEpochs is how many epochs a block has before they come round.
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

// Asked is how many requests stand.
func (d *padWS[T]) Asked() int { return int(d.asked.Load()) }

// AskFor leaves n requests.
func (d *padWS[T]) AskFor(n int) { d.asked.Add(uint32(n)) }

// PadCounts are counts of what the owner did.
type PadCounts = padCounts

// Counts returns them. Owner only.
func (d *padWS[T]) Counts() PadCounts { return d.counts }

// Own is how many items of its block the owner has. Owner only.
func (d *padWS[T]) Own() int { return int(d.t - d.granted) }

// Newest and Oldest are the numbers of the owner's block and of the oldest that may hold something.
func (d *padWS[T]) Newest() int { return int(d.newest.Load()) }
func (d *padWS[T]) Oldest() int { return int(d.oldest.Load()) }

// Capacity is how many items all blocks take.
func (d *padWS[T]) Capacity() int { return len(d.blocks) * int(d.size) }

// Occupied is how many places hold something. Owner only, while no thief is at work.
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

// CheckRest panics unless everything is as it must be between two operations. Owner only, while no thief is at work but
// such as are suspended.
func (d *padWS[T]) CheckRest() {
	must := func(ok bool, format string, args ...any) {
		if !ok {
			panic(fmt.Sprintf(format, args...))
		}
	}
	word := d.here.claim.Load()
	must(d.here == d.block(d.number) && d.newest.Load() == d.number, "the owner is not in the newest block")
	must(word&^padIndexMask == d.epoch, "the owner's block has another epoch than the owner thinks")
	must(padIndex(word) <= d.granted && d.granted <= d.t && d.t <= d.size, "claimed %d, granted %d, put %d of %d",
		padIndex(word), d.granted, d.t, d.size)
	must(d.oldest.Load() <= d.number+1 && d.number-d.oldest.Load() < int64(len(d.blocks)),
		"blocks %d to %d", d.oldest.Load(), d.number)
	if g := d.here.grant.Load(); g&^padIndexMask == d.epoch {
		must(padIndex(g) <= d.granted, "thieves see more granted than was")
	} else {
		must(padIndex(word) == d.granted, "something was granted in an epoch that thieves do not see")
	}
	for k := d.oldest.Load(); k < d.number; k++ {
		b := d.block(k)
		s, g := b.claim.Load(), b.grant.Load()
		must(padIndex(s) == d.size || s&^padIndexMask == g&^padIndexMask && padIndex(g) == d.size,
			"block %d below the newest is neither exhausted nor open", k)
	}
}

// A SlowPadThief is Steal cut into its steps, so that a test decides what happens between them. A step that ends the
// steal says how.
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
