package lane

import (
	"slices"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A Lane holds the items of one worker, its owner. [Maker.Init] or [Lane.InitShuffled] prepares the zero value. A Lane
// must not be copied after that.
type Lane[T any] struct {
	_ pad.Line

	// Constant; thieves read it.
	open  *deque.Deque[T]
	queue deque.Queue[T] // nil if direct, or shuffled
	// batcher is queue, if the lanes' owners steal several items at once.
	batcher deque.Batcher[T]
	kind    deque.Kind
	// forksPushed says that the owner shows each fork at once. Then demand is always set.
	forksPushed bool
	stacksForks bool // see StacksForks
	asks        bool // thieves ask for items of queue, and set demand when they have
	begs        bool // owners deal, and thieves that are about to sleep leave a request in begged
	shuffled    bool // there is no thief, and no order
	_           pad.Line

	// Owner only, plain: the race detector checks the claim.
	own    owner[T]       // nil while the lane is direct
	plain  deque.Queue[T] // the queue, unless it must not hide items; see PushPlain
	near   *deque.Near[T] // of plain, or one that has no room
	solo   []*T           // the items of an owner that is alone, see alone; without capacity in every other lane
	Pushed uint64         // items pushed
	Popped uint64         // items popped
	enough int            // see Enough
	quiet  uintptr        // what slack is without demand
	alone  bool           // there is no thief
	batch  deque.Batch
	stolen []*T // buffer of StealFrom; nil if the owner steals one item at a time
	_      pad.Line

	// slack is 0 if there is demand: there is nothing to steal, or a thief has asked. Thieves and the owner set it to
	// 0, and the owner to quiet.
	slack xatomic.Uintptr
	// begged is 1 if a thief has found nothing and may sleep, see begs. Thieves set it, and the owner clears it.
	begged xatomic.Uint32
	// hushed is not 0 while thieves are to pass the lane by, see Hush. The owner sets it, and any thread sets it to 0.
	hushed xatomic.Uint32
	_      pad.Line
}

// An owner is the owner's end of a lane that is not direct. Its methods are those of Lane with the same names.
type owner[T any] interface {
	push(p *T) deque.Effect
	pop(limit uint64) (*T, deque.Effect)
	poll() deque.Effect
	expose() deque.Effect
	keepOpen(open bool)
}

// ---- The owner's end ----

// Push adds p. If the effect is Refused, there is no room, and p is still the caller's. Owner only.
func (l *Lane[T]) Push(p *T) deque.Effect {
	if l.IsDirect() {
		l.PushDirect(p)
		return deque.Shown
	}
	if effect := l.PushPlain(p); effect != deque.Refused {
		l.Pushed++
		return l.Told(effect)
	}
	return l.own.push(p)
}

// Pop removes the item that was pushed last, or the oldest if the lane is first in, first out. It returns nil if none
// is left. In a lane of [Lane.InitShuffled], Pop removes any item that lies at mark limit or above, and another may
// then lie below the mark at which it was pushed, see [Lane.Take]. The effect is Nothing or Shown. Owner only.
func (l *Lane[T]) Pop(limit uint64) (*T, deque.Effect) {
	if l.IsDirect() {
		return l.PopDirect(), deque.Nothing
	}
	p, effect := l.PopPlain()
	effect = l.Told(effect)
	if p != nil {
		l.Popped++
		return p, effect
	}
	p, more := l.own.pop(limit)
	return p, max(effect, more)
}

// Poll answers thieves that have asked. The effect is Nothing or Shown. Owner only.
func (l *Lane[T]) Poll() deque.Effect {
	if l.IsDirect() {
		return deque.Nothing
	}
	return l.own.poll()
}

// Expose shows all items to thieves. The owner calls it before it sleeps or blocks and so cannot answer thieves. If the
// effect is Refused, the lane is first in, first out, and has no place where thieves would find the items in order: the
// owner has to pop them and inject them. Owner only.
func (l *Lane[T]) Expose() deque.Effect {
	if l.IsDirect() {
		return deque.Nothing
	}
	return l.own.expose()
}

// KeepOpen determines whether Push shows each item at once even if the kind of queue hides items. Owner only.
func (l *Lane[T]) KeepOpen(open bool) {
	if !l.IsDirect() {
		l.own.keepOpen(open)
	}
}

// Mark returns the number of items pushed less that of items popped by the owner. Each push adds one, and each pop
// takes one off. So once the owner has popped everything that it has pushed since a mark, and thieves have taken none
// of it, Mark returns that mark again. Owner only.
func (l *Lane[T]) Mark() uint64 { return l.Pushed - l.Popped }

// IsAlone reports whether there is no thief. Owner only.
func (l *Lane[T]) IsAlone() bool { return l.alone }

// Share ends the state in which there is no thief. It is called before the first thief begins. Owner only.
func (l *Lane[T]) Share(enough int) {
	l.alone, l.enough = false, enough
	if a, ok := l.own.(*alone[T]); ok {
		a.share(l)
	}
	l.NoteEmpty()
}

// Enough returns the number of items to steal with which the second fork of one function is not worth showing without
// demand. It is 0 if that is never worth it, and MayHaveFewer need not be asked. Owner only.
func (l *Lane[T]) Enough() int { return l.enough }

// MayHaveFewer reports whether there may be fewer than n items to steal, n being at least 1. It counts the open deque
// only: if it returns true, HasFew has the exact answer for Enough. Owner only.
func (l *Lane[T]) MayHaveFewer(n int) bool { return l.open.HasFewer(n) }

// HasFew reports whether there are so few items to steal that the second fork of one function is worth showing. Owner
// only.
func (l *Lane[T]) HasFew() bool { return l.Len() < l.enough }

// ---- Demand ----

// Demand reports whether thieves need an item, or forks are always pushed. Any thread.
func (l *Lane[T]) Demand() bool { return l.slack.Load() == 0 }

// Slack returns 0 if there is demand, and otherwise the number of SetSlack, or 1. The owner has to compare a number
// with that one anyway, and so learns of demand at no cost. Any thread.
func (l *Lane[T]) Slack() uintptr { return l.slack.Load() }

// SetSlack determines what Slack returns without demand. n is not 0. Owner only.
func (l *Lane[T]) SetSlack(n uintptr) {
	l.quiet = n
	if now := l.slack.Load(); now != 0 && now != n {
		l.slack.CompareAndSwap(now, n) // else there is demand by now
	}
}

// SlackWord returns the word that Slack reads.
func (l *Lane[T]) SlackWord() *xatomic.Uintptr { return &l.slack }

// want sets demand.
func (l *Lane[T]) want() {
	if l.slack.Load() != 0 {
		l.slack.Store(0)
	}
}

// Want sets demand, so that the owner attends to it at its next Fork or Join. Any thread.
func (l *Lane[T]) Want() { l.want() }

// Answer clears demand. The owner calls it before it shows all its private forks. Owner only.
func (l *Lane[T]) Answer() {
	if !l.forksPushed && l.Demand() {
		l.slack.Store(l.quiet)
	}
}

// Answered sets demand again if a thief has asked since Answer and got nothing: it may sleep (L1). The owner calls it
// after it has shown its forks. Owner only.
func (l *Lane[T]) Answered() {
	if l.asks && !l.alone && l.queue.Wanted() {
		l.want()
	}
}

// NoteEmpty sets demand if there is nothing to steal. Owner only.
func (l *Lane[T]) NoteEmpty() {
	if !l.forksPushed && !l.asks && !l.alone && l.IsEmpty() {
		l.want()
	}
}

// IsWanted reports whether thieves need an item now. Unlike Demand it is exact where demand is always set. Owner only.
func (l *Lane[T]) IsWanted() bool {
	if !l.Demand() {
		return false
	}
	return !l.forksPushed || !l.alone && l.open.IsEmpty() && (l.queue == nil || l.queue.Wanted())
}

// ---- The thieves' end ----

// Steal removes one of the oldest items that thieves see. Any thread but the owner's.
func (l *Lane[T]) Steal() (p *T, outcome deque.Outcome) {
	if l.queue == nil || !l.open.IsEmpty() {
		p, outcome = l.open.Steal()
	} else {
		p, outcome = l.queue.Steal()
	}
	l.robbed(outcome)
	return p, outcome
}

// robbed sets demand after a steal, if the thief has asked (L1) or has taken the last item.
func (l *Lane[T]) robbed(outcome deque.Outcome) {
	switch {
	case l.asks:
		l.want()
	case outcome == deque.Stolen && !l.forksPushed && l.IsEmpty():
		l.want()
	}
}

// StealFrom steals from victim for the owner of l, up to as many items as l's Batch says. first is the oldest. rest has
// the others in the order in which the owner is to push them, and the owner clears it afterwards. l is empty, and the
// owner is in no wait. Owner of l only.
func (l *Lane[T]) StealFrom(victim *Lane[T]) (first *T, rest []*T, outcome deque.Outcome) {
	if l.stolen == nil || !victim.open.IsEmpty() {
		first, outcome = victim.Steal()
		return first, nil, outcome
	}
	n, outcome := victim.batcher.StealBatch(l.stolen, l.batch)
	victim.robbed(outcome)
	if n == 0 {
		return nil, nil, outcome
	}
	first, rest = l.stolen[0], l.stolen[1:n]
	l.stolen[0] = nil
	if !l.IsFIFO() {
		slices.Reverse(rest) // the oldest is pushed last, and so run first
	}
	return first, rest, outcome
}

// Ask reports whether there was something to steal at some moment during the call. If there was not, and the lane is of
// a kind whose thieves ask, it leaves a request: the owner's next operation shows an item if there is one. Any thread.
func (l *Lane[T]) Ask() bool {
	if !l.open.IsEmpty() || l.queue != nil && l.queue.Ask() {
		return true
	}
	switch {
	case l.asks:
		l.want() // L1: after the request: the owner sees demand, and then the request
	case l.begs:
		l.beg()
	}
	return false
}

// Hush has workers that look for work pass the lane by, until it is called with 0, or [Lane.Unhush]. by is a number of
// the owner's. It changes nothing for Steal, Ask and IsEmpty. Owner only.
func (l *Lane[T]) Hush(by uint32) { l.hushed.Store(by) }

// Unhush ends what Hush has begun with that number, which is not 0. It reports whether it did. Any thread.
func (l *Lane[T]) Unhush(by uint32) bool { return l.hushed.CompareAndSwap(by, 0) }

// HushedBy returns the number that Hush was called with, or 0 if thieves need not pass the lane by. Any thread.
func (l *Lane[T]) HushedBy() uint32 { return l.hushed.Load() }

// Len returns about how many items thieves see. Any thread.
func (l *Lane[T]) Len() int {
	n := l.open.Len()
	if l.queue != nil {
		n += l.queue.Len()
	}
	return n
}

// IsEmpty reports whether thieves see no item. It leaves no request. Any thread.
func (l *Lane[T]) IsEmpty() bool { return l.open.IsEmpty() && (l.queue == nil || l.queue.Len() == 0) }

// Hides reports whether the owner may have items that thieves do not see. Any thread.
func (l *Lane[T]) Hides() bool { return l.kind.Hides() }

// StacksForks reports whether the owner shows each fork at once, and Pop returns the newest. Owner only.
func (l *Lane[T]) StacksForks() bool { return l.stacksForks }

// IsPolled reports whether the owner must call Poll before each item while there is demand, because thieves ask, or
// wait for items to be dealt. Constant.
func (l *Lane[T]) IsPolled() bool { return l.kind.Asks() || l.kind.Receives() }

// KeepsForks reports whether forks must stay private, because the lane does not return items in their order. Owner
// only.
func (l *Lane[T]) KeepsForks() bool { return l.shuffled }

// IsFIFO reports whether Pop, too, returns the oldest item. Any thread.
func (l *Lane[T]) IsFIFO() bool { return l.kind.FIFO() }
