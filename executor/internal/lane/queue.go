package lane

import "github.com/magpie-go/magpie/deque"

// queued is the owner's end of a lane with a queue. The overflow goes to the open deque: what the queue has no room for, and
// what it must not hide. All that is in the queue goes there first, so that the open deque has what is older.
type queued[T any] struct {
	l     *Lane[T]
	open  bool // the queue would hide items, and must not
	moved []*T // for openUp
}

func (q *queued[T]) push(p *T) deque.Effect {
	l := q.l
	if !q.open {
		if effect := l.queue.Push(p); effect != deque.Refused {
			l.Pushed++
			return q.told(effect)
		}
	}
	return q.overflow(p)
}

// overflow pushes p to the open deque. It does not wait for a thief to make room.
//
// D1(overflow): the effect is Shown for all that was moved as well as for p: a thief that looked meanwhile may have seen it
// neither here nor there.
func (q *queued[T]) overflow(p *T) deque.Effect {
	if q.l.IsFIFO() {
		return deque.Refused // in the open deque it would come before what is older
	}
	_ = q.openUp()
	q.l.Pushed++
	q.l.open.Push(p)
	return deque.Shown
}

// openUp moves all that is in the queue to the open deque, the oldest first. The effect is also that of the pops: what they
// have shown in answer to thieves may stay in the queue, for those.
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
	p, effect := l.queue.Pop()
	if p == nil {
		p = l.open.Pop()
	}
	if p != nil {
		l.Popped++
	}
	return p, q.told(effect)
}

func (q *queued[T]) poll() deque.Effect { return q.told(q.l.queue.Poll()) }

// told passes an effect on. If thieves were answered, there is no demand any more.
func (q *queued[T]) told(effect deque.Effect) deque.Effect {
	if l := q.l; effect == deque.Shown && l.asks && l.demand.Load() {
		l.Answer()
		l.Answered()
	}
	return effect
}

func (q *queued[T]) expose() deque.Effect {
	l := q.l
	switch {
	case !l.kind.Hides():
		return deque.Nothing
	case l.IsFIFO():
		return deque.Refused
	}
	shown := q.openUp()
	if !l.open.IsEmpty() {
		shown = deque.Shown // D1(overflow)
	}
	return q.told(shown)
}

func (q *queued[T]) keepOpen(open bool) { q.open = open && q.l.kind.Hides() }

// CanReceive reports whether the lane is of a kind whose owners, when they have nothing, wait for what others deal out. Any
// thread.
func (l *Lane[T]) CanReceive() bool { return l.kind.Receives() }

// Receive waits for an item a bounded time. Owner only, of a lane that can receive and has nothing.
func (l *Lane[T]) Receive() (*T, deque.Outcome) { return l.queue.(deque.Receiver[T]).Receive() }
