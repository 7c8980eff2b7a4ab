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

var chaseLevRow = row{
	name:   "chaselev",
	about:  "Chase and Lev's, which grows: a locked instruction for a push, and one for a pop",
	traits: traits{},
}

func chaseLevQueues[T any](_ int, o Options) func(int) Queue[T] {
	return func(int) Queue[T] { return newChaseLev[T](o.Capacity) }
}
