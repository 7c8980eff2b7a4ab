package lane

import "github.com/magpie-go/magpie/deque"

// A direct lane is a Chase–Lev deque and nothing else. The methods of its owner's end are the worker's hot path: they
// are inlined, and call the deque without an interface. Those of the other lanes, here too, are inlined up to the call
// through the interface.

// IsDirect reports whether the lane is direct: whether PushDirect and PopDirect may be called. Owner only.
func (l *Lane[T]) IsDirect() bool { return l.own == nil }

// PushDirect is Push of a direct lane. Its effect is always Shown. Owner only.
func (l *Lane[T]) PushDirect(p *T) {
	l.Pushed++
	l.open.Push(p)
}

// PushAside is Push of a lane that is not direct. Owner only.
func (l *Lane[T]) PushAside(p *T) deque.Effect { return l.own.push(p) }

// PopAside is Pop of a lane that is not direct. Owner only.
func (l *Lane[T]) PopAside(limit uint64) (*T, deque.Effect) { return l.own.pop(limit) }

// Plain returns the queue of a lane if its owner may use it as it is, and count what it pushes and pops, as long as the
// queue has room or an item: Push and Pop would do no more. Otherwise it returns nil. Owner only.
func (l *Lane[T]) Plain() deque.Queue[T] { return l.plain }

// PopDirect is Pop of a direct lane. Its effect is always Nothing. Owner only.
func (l *Lane[T]) PopDirect() *T {
	p := l.open.Pop()
	if p != nil {
		l.Popped++
	}
	return p
}
