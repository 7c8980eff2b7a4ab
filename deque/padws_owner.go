package deque

// settle makes b, with that number, the owner's block. Word has its epoch, and the index up to which thieves have
// claimed.
func (d *padWS[T]) settle(number int64, b *padBlock[T], word padWord) {
	d.here, d.cells, d.number = b, b.items, number
	d.epoch, d.low = word&^padIndexMask, padIndex(word)
}

func (d *padWS[T]) block(number int64) *padBlock[T] {
	return &d.blocks[uint64(number)%uint64(len(d.blocks))]
}

// pushAbove is Push when the newest block is full.
func (d *padWS[T]) pushAbove(p *T) Effect {
	left := d.low != d.size
	if !d.advance() {
		return Refused
	}
	effect := d.Push(p) // never Refused: the block is empty
	if left {
		effect = Shown
	}
	return effect
}

// answer grants as many of the oldest items as thieves have asked for. Requests that it cannot answer yet stand: a
// dropped request could be that of a thief that sleeps (L1).
func (d *padWS[T]) answer() Effect {
	n := min(uint(d.asked.Load()), d.window)
	if own := d.next - d.low; own < d.keep+n {
		if own <= d.keep {
			return Nothing
		}
		n = own - d.keep
	}
	d.asked.Add(-uint32(n))
	d.low += n
	d.here.grant.Store(d.epoch | padWord(d.low)) // P2
	d.counts.Answers++
	d.counts.Granted += uint64(n)
	return Shown
}

// advance goes on to the next block, and leaves the items of this block to thieves. It returns false if the next block
// is not free.
func (d *padWS[T]) advance() bool {
	n := d.number + 1
	if n-d.oldest.Load() >= int64(len(d.blocks)) && !d.retire() {
		d.counts.NoRoom++
		return false
	}
	b := d.block(n)
	// I45: b is exhausted, or was left downwards: nothing in it can be claimed. But a claimed item may not be copied
	// yet: a thief that found the next lap's item in its place would take that one.
	if !b.isQuiet() {
		d.counts.Copying++
		return false
	}
	d.here.grant.Store(d.epoch | padWord(d.size)) // P2, I44: delegation ends
	d.settle(n, b, b.begin())
	d.next = 0
	d.newest.Store(n)
	d.counts.Advances++
	return true
}

// retire moves oldest past exhausted blocks, since thieves need not come by, and reports whether there were any.
func (d *padWS[T]) retire() bool {
	before := d.oldest.Load()
	for k := before; k < d.number && padIndex(d.block(k).claim.Load()) == d.size; k++ {
		d.oldest.CompareAndSwap(k, k+1) // if it fails, a thief has done it
	}
	return d.oldest.Load() != before
}

// retreat finds more items for an owner that has none left: those that it granted and no thief claimed, else those of a
// block below. It reports whether there are any.
func (d *padWS[T]) retreat() bool {
	if padIndex(d.here.claim.Load()) < d.low {
		// The revocation must come before the owner goes down: otherwise the granted items would wait for a thief
		// that may never come, while Pop says that there are none.
		word := d.here.claim.Add(padEpoch) // G2
		d.settle(d.number, d.here, word)
		d.counts.Revokes++
		if d.low < d.next {
			return true
		}
	}
	// A block may be exhausted above one that is not: a thief with an old number comes to a newer block in its place
	// (I47). So the owner looks at all of them.
	for k := d.number - 1; k >= d.oldest.Load(); k-- {
		b := d.block(k)
		if padIndex(b.claim.Load()) == d.size {
			continue
		}
		word := b.claim.Add(padEpoch) // G2
		if padIndex(word) == d.size {
			continue
		}
		d.settle(k, b, word)
		d.next = d.size
		d.newest.Store(k)
		d.counts.Takeovers++
		return true
	}
	return false
}
