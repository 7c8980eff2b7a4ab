package lane

import "github.com/magpie-go/magpie/deque"

// alone is the owner's end while there is no thief: a plain stack, without locked instructions. The thieves' end sees
// none of its items.
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
	a.items[last] = nil // so that the item is not kept alive
	a.items = a.items[:last]
	a.l.Popped++
	return p, deque.Nothing
}

// poll clears demand. There is no thief, but a submitter, or the owner itself, may have called Ask.
func (a *alone[T]) poll() deque.Effect {
	a.l.Answer()
	return deque.Nothing
}

func (a *alone[T]) expose() deque.Effect { return deque.Nothing }
func (a *alone[T]) keepOpen(bool)        {}

// share moves all items to the open deque, which is empty, and gives the lane its owner's end for thieves.
func (a *alone[T]) share(l *Lane[T]) {
	for i, p := range a.items {
		l.open.Push(p)
		a.items[i] = nil
	}
	l.own = a.next
}
