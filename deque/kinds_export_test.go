package deque

// NewABPAt is NewABP with tags that start at tag.
func NewABPAt[T any](capacity int, tag uint64) *ABP[T] {
	d := NewABP[T](capacity)
	d.age.Store(tag * oneTag)
	return d
}

// Tag is how often the indices have gone back to the beginning. Owner only.
func (d *ABP[T]) Tag() uint64 { return d.age.Load() / oneTag }

// Claim is a Steal that stops between the claim and the read. It returns the rest, or nil if there is nothing to steal.
func (d *ABP[T]) Claim() (rest func() *T) {
	a := d.age.Load()
	if d.bottom.Load() <= a&topMask || !d.age.CompareAndSwap(a, a+1) {
		return nil
	}
	return func() *T { return d.slots[a&topMask].Yield() }
}

// Occupied is how many slots hold something. Owner only, while no thief is at work.
func (d *ABP[T]) Occupied() (n int) {
	for i := range d.slots {
		if !d.slots[i].Free() {
			n++
		}
	}
	return n
}

// Occupied is how many slots hold something.
func (d *Locked[T]) Occupied() (n int) {
	for _, p := range d.ring {
		if p != nil {
			n++
		}
	}
	return n
}
