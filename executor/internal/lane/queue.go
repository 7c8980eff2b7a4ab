package lane

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/pad"
)

// queued is the owner's end of a lane with a queue. Items that the queue has no room for, or must not hide, overflow to
// the open deque. Before that, everything in the queue moves there, so that the open deque has the older items (I11).
type queued[T any] struct {
	_     pad.Line
	l     *Lane[T]
	moved []*T // buffer of openUp
	_     pad.Line
}

// push pushes p to the open deque: the queue is full, see PushPlain, or must not hide p. It does not wait for a thief
// to make room.
//
// D1(overflow): the effect Shown is for the items moved as well as for p: a thief that looked meanwhile may have seen
// them neither in the queue nor in the deque.
func (q *queued[T]) push(p *T) deque.Effect {
	if q.l.IsFIFO() {
		return deque.Refused // from the open deque p would be taken before older items
	}
	_ = q.openUp()
	q.l.Pushed++
	q.l.open.Push(p)
	return q.l.Told(deque.Shown)
}

// openUp moves all items of the queue to the open deque, the oldest first. The effect is that of the pops: items that
// they have shown to thieves may stay in the queue.
func (q *queued[T]) openUp() (shown deque.Effect) {
	hidden := q.moved[:0]
	for {
		p, effect := q.l.queue.Pop()
		shown = max(shown, effect)
		if p == nil {
			break
		}
		hidden = append(hidden, p)
	}
	for i := len(hidden) - 1; i >= 0; i-- {
		q.l.open.Push(hidden[i])
	}
	clear(hidden)
	q.moved = hidden
	return shown
}

func (q *queued[T]) pop(uint64) (*T, deque.Effect) {
	l := q.l
	var p *T
	effect := deque.Nothing
	if l.plain == nil { // else PopPlain has found nothing
		p, effect = l.queue.Pop()
	}
	if p == nil {
		p = l.open.Pop()
	}
	if p != nil {
		l.Popped++
	}
	return p, q.l.Told(effect)
}

func (q *queued[T]) poll() deque.Effect { return max(q.l.Told(q.l.queue.Poll()), q.l.give()) }

func (q *queued[T]) expose() deque.Effect {
	l := q.l
	switch {
	case l.alone || !l.kind.Hides():
		return deque.Nothing
	case l.IsFIFO():
		return deque.Refused
	}
	shown := q.openUp()
	if !l.open.IsEmpty() {
		shown = deque.Shown // D1(overflow)
	}
	return q.l.Told(shown)
}

func (q *queued[T]) keepOpen(open bool) {
	l := q.l
	l.plain, l.near = l.queue, deque.NearOf(l.queue)
	if open && l.kind.Hides() {
		l.plain, l.near = nil, deque.NearOf[T](nil)
	}
}

// CanReceive reports whether an owner without items can wait for items that other owners deal out. Any thread.
func (l *Lane[T]) CanReceive() bool { return l.kind.Receives() }

// Receive waits a bounded time for an item that another owner deals out. The lane can receive and is empty. Owner only.
func (l *Lane[T]) Receive() (*T, deque.Outcome) { return l.queue.(deque.Receiver[T]).Receive() }
