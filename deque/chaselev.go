package deque

import "github.com/magpie-go/magpie/internal/pad"

// A chaseLev is a [Deque] as a [Queue].
type chaseLev[T any] struct {
	Deque[T]
	fresh int // items pushed since the last Poll
	_     pad.Line
}

func newChaseLev[T any](capacity int) *chaseLev[T] {
	v := &chaseLev[T]{}
	v.init(capacity)
	return v
}

func (v *chaseLev[T]) Push(p *T) bool {
	v.Deque.Push(p)
	v.fresh++
	return true
}

func (v *chaseLev[T]) Poll() int {
	n := v.fresh
	v.fresh = 0
	return n
}

func (v *chaseLev[T]) Wanted() bool { return distance(v.b, v.top.Load()) <= 0 }

func (v *chaseLev[T]) Offers() bool { return !v.IsEmpty() }
