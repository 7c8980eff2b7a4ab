package deque

// A private is a growable deque that one thread has for itself. It keeps no pointer that has left it.
type private[T any] struct {
	items []*T // those from first on
	first int
}

func (q *private[T]) count() int { return len(q.items) - q.first }

// push adds p as the newest.
func (q *private[T]) push(p *T) {
	if len(q.items) == cap(q.items) {
		q.compact()
	}
	q.items = append(q.items, p)
}

// pop removes the newest, if there is one.
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

// oldest is the item that shift removes. There is one.
func (q *private[T]) oldest() *T { return q.items[q.first] }

// shift removes the oldest.
func (q *private[T]) shift() {
	q.items[q.first] = nil // R2
	q.first++
}

// compact makes room at the end by moving items to the beginning, if enough have left there to pay for it.
func (q *private[T]) compact() {
	if q.first <= len(q.items)/2 {
		return
	}
	n := copy(q.items, q.items[q.first:])
	clear(q.items[n:]) // R2
	q.items, q.first = q.items[:n], 0
}
