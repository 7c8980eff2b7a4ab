package deque

// A visible is a [Deque] as a [Queue].
type visible[T any] struct {
	fresh int // items pushed since the last Poll; on the line of what is the owner's in Deque
	Deque[T]
}

func newVisible[T any](capacity int) *visible[T] {
	v := &visible[T]{}
	v.init(capacity)
	return v
}

func (v *visible[T]) Push(p *T) bool {
	v.Deque.Push(p)
	v.fresh++
	return true
}

func (v *visible[T]) Poll() int {
	n := v.fresh
	v.fresh = 0
	return n
}

func (v *visible[T]) Wanted() bool { return distance(v.b, v.top.Load()) <= 0 }

func (v *visible[T]) Offers() bool { return !v.IsEmpty() }
