package deque

// A chaseLev is a [Deque] as a [Queue].
type chaseLev[T any] struct {
	Deque[T]
}

func newChaseLev[T any](capacity int) *chaseLev[T] {
	v := &chaseLev[T]{}
	v.init(capacity)
	return v
}

func (v *chaseLev[T]) Push(p *T) Effect {
	v.Deque.Push(p)
	return Shown
}

func (v *chaseLev[T]) Pop() (*T, Effect) { return v.Deque.Pop(), Nothing }

func (v *chaseLev[T]) Poll() Effect { return Nothing }

func (v *chaseLev[T]) Wanted() bool { return distance(v.b, v.top.Load()) <= 0 }

func (v *chaseLev[T]) Ask() bool { return !v.IsEmpty() }
