package lane

import "github.com/magpie-go/magpie/deque"

// alone is the owner's end while there is no thief: a plain stack, without a locked instruction. Thieves' ends see nothing.
type alone[T any] struct {
	l     *Lane[T]
	items []*T
	next  owner[T] // the owner's end from share on; nil if the lane is direct then
}

func (a *alone[T]) push(p *T) deque.Effect {
	a.l.Pushed++
	a.items = append(a.items, p)
	return deque.Nothing
}

func (a *alone[T]) pop(uint64) (*T, deque.Effect) {
	last := len(a.items) - 1
	if last < 0 {
		return nil, deque.Nothing
	}
	p := a.items[last]
	a.items[last] = nil // or it would be kept alive
	a.items = a.items[:last]
	a.l.Popped++
	return p, deque.Nothing
}

// poll forgets a demand: a submitter that looks for work may have asked.
func (a *alone[T]) poll() deque.Effect {
	a.l.Answer()
	return deque.Nothing
}

func (a *alone[T]) expose() deque.Effect { return deque.Nothing }
func (a *alone[T]) keepOpen(bool)        {}

// share moves all items to the open deque, which is empty, and gives the lane the other end.
func (a *alone[T]) share(l *Lane[T]) {
	for i, p := range a.items {
		l.open.Push(p)
		a.items[i] = nil
	}
	l.own = a.next
}
