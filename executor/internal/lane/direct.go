package lane

// A direct lane is a deque of Chase and Lev and nothing else. Its owner's end is written out here for the hot path: these
// methods are inlined, and call the deque without an interface.

// IsDirect reports whether PushDirect and PopDirect are to be used. Owner only.
func (l *Lane[T]) IsDirect() bool { return l.own == nil }

// PushDirect is Push of a direct lane. It shows p. Owner only.
func (l *Lane[T]) PushDirect(p *T) {
	l.Pushed++
	l.open.Push(p)
}

// PopDirect is Pop of a direct lane. It shows nothing. Owner only.
func (l *Lane[T]) PopDirect() *T {
	p := l.open.Pop()
	if p != nil {
		l.Popped++
	}
	return p
}
