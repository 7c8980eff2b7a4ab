package deque

// Occupied is how many slots hold something.
func (d *Locked[T]) Occupied() (n int) {
	for _, p := range d.ring {
		if p != nil {
			n++
		}
	}
	return n
}
