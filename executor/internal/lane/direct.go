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

// Near returns the near end of the lane's queue, or one that neither takes nor has an item. The owner counts what it
// pushes and pops there. Owner only.
func (l *Lane[T]) Near() *deque.Near[T] { return l.near }

// PushAside is Push of a lane that is not direct, after PushPlain was refused. Owner only.
func (l *Lane[T]) PushAside(p *T) deque.Effect { return l.own.push(p) }

// PopAside is Pop of a lane that is not direct, after PopPlain has found nothing. Owner only.
func (l *Lane[T]) PopAside(limit uint64) (*T, deque.Effect) { return l.own.pop(limit) }

// PushPlain is Push of a lane whose queue may hide items and has room. The owner then counts the item, and calls Told
// with an effect other than Nothing. For every other lane the effect is Refused, and the owner calls PushAside. Owner
// only.
func (l *Lane[T]) PushPlain(p *T) deque.Effect {
	if l.plain == nil {
		return deque.Refused
	}
	return l.plain.Push(p)
}

// PopPlain is Pop of a lane whose queue may hide items and has one. The owner then counts the item, and calls Told with
// an effect other than Nothing. If PopPlain returns nil, the owner then calls PopAside. Owner only.
func (l *Lane[T]) PopPlain() (*T, deque.Effect) {
	if l.plain == nil {
		return nil, deque.Nothing
	}
	return l.plain.Pop()
}

// Told returns effect, that of an operation of the queue. If the effect answers thieves that have asked, it clears
// demand. If it says that no owner waits to be dealt to, it answers one that sleeps. Owner only.
func (l *Lane[T]) Told(effect deque.Effect) deque.Effect {
	if effect == deque.Shown && l.Demand() {
		l.told()
	}
	return effect
}

func (l *Lane[T]) told() {
	if l.asks {
		l.Answer()
		l.Answered()
	}
	_ = l.give() // the effect is Shown anyhow
}

// PopDirect is Pop of a direct lane. Its effect is always Nothing. Owner only.
func (l *Lane[T]) PopDirect() *T {
	p := l.open.Pop()
	if p != nil {
		l.Popped++
	}
	return p
}
