package deque

// A private is a growable deque for a single thread. It keeps no pointer to an item that has left it.
type private[T any] struct {
	items []*T // the items are those from index first on
	first int
}

func (q *private[T]) count() int { return len(q.items) - q.first }

// push adds p as the newest item.
func (q *private[T]) push(p *T) {
	if len(q.items) == cap(q.items) {
		q.compact()
	}
	q.items = append(q.items, p)
}

// pop removes the newest item, or returns nil if there is none.
func (q *private[T]) pop() *T {
	last := len(q.items) - 1
	if last < q.first {
		return nil
	}
	p := q.items[last]
	q.items[last] = nil // R2
	q.items = q.items[:last]
	return p
}

// oldest returns the oldest item. There must be one.
func (q *private[T]) oldest() *T { return q.items[q.first] }

// shift removes the oldest item. There must be one.
func (q *private[T]) shift() {
	q.items[q.first] = nil // R2
	q.first++
}

// compact makes room at the end by moving the items to the beginning, if more than half of the slice is free there.
func (q *private[T]) compact() {
	if q.first <= len(q.items)/2 {
		return
	}
	n := copy(q.items, q.items[q.first:])
	clear(q.items[n:]) // R2
	q.items, q.first = q.items[:n], 0
}
