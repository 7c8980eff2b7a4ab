package lane

import "github.com/magpie-go/magpie/deque"

// alone is the owner's end while there is no thief: the plain stack Lane.solo, without locked instructions. The
// thieves' end sees none of its items. PushSolo and PopSolo are its hot path: they are inlined, and called without an
// interface.
type alone[T any] struct {
	l    *Lane[T]
	next owner[T] // the owner's end from share on; nil if the lane is direct then
}

// PushSolo is Push of a lane whose owner is alone, if the stack has room. It reports whether it has pushed p. Its
// effect is always Nothing. Owner only.
func (l *Lane[T]) PushSolo(p *T) bool {
	n := len(l.solo)
	if n == cap(l.solo) {
		return false // always, if the owner is not alone
	}
	l.solo = l.solo[:n+1]
	l.solo[n] = p
	l.Pushed++
	return true
}

// PopSolo is Pop of a lane whose owner is alone. It returns nil for every other lane. Its effect is always Nothing.
// Owner only.
func (l *Lane[T]) PopSolo() (p *T) {
	if last := len(l.solo) - 1; last >= 0 {
		p = l.solo[last]
		l.solo[last] = nil // so that the item is not kept alive
		l.solo = l.solo[:last]
		l.Popped++
	}
	return p
}

func (a *alone[T]) push(p *T) deque.Effect {
	a.l.Pushed++
	a.l.solo = append(a.l.solo, p)
	return deque.Nothing
}

func (a *alone[T]) pop(uint64) (*T, deque.Effect) { return a.l.PopSolo(), deque.Nothing }

// poll clears demand. There is no thief, but a submitter, or the owner itself, may have called Ask.
func (a *alone[T]) poll() deque.Effect {
	a.l.Answer()
	return deque.Nothing
}

func (a *alone[T]) expose() deque.Effect { return deque.Nothing }
func (a *alone[T]) keepOpen(bool)        {}

// share moves all items to the open deque, which is empty, and gives the lane its owner's end for thieves.
func (a *alone[T]) share(l *Lane[T]) {
	for _, p := range l.solo {
		l.open.Push(p)
	}
	l.solo = nil
	l.own = a.next
	l.KeepOpen(false)
}
