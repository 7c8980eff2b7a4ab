package lane

import "github.com/magpie-go/magpie/deque"

// An owner deals only to an owner that waits at that moment, and one without items waits for microseconds before it
// sleeps. Between two long items, or to a thread whose core another thread has, nothing is ever dealt. So a thief that
// is about to sleep begs: it leaves a request in each lane. For that the owner shows all that it has.

// beg leaves a request. Any thread.
func (l *Lane[T]) beg() {
	if l.begged.Load() == 0 {
		l.begged.Store(1)
	}
}

// give moves all items to the open deque if a thief has begged. The effect is Nothing or Shown. Without an item to
// spare, or if others have taken all at once, the request stands (L1).
//
// L1: the owner ends the request before it looks for thieves, because of Shown. A request that give ends is that of a
// thief that has prepared to sleep before it begged, so the owner finds that one there, or another that is awake.
//
// Owner only.
func (l *Lane[T]) give() deque.Effect {
	if l.begged.Load() == 0 || l.alone || l.queue.Wanted() {
		return deque.Nothing
	}
	_ = l.own.(*queued[T]).openUp()
	if l.open.IsEmpty() {
		return deque.Nothing
	}
	l.begged.Store(0)
	return deque.Shown
}
