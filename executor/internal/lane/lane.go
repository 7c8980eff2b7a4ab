package lane

import (
	"slices"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A Lane has the items of one worker, its owner. [Maker.Init] makes one of the zero value. It must not be copied after that.
type Lane[T any] struct {
	_ pad.Line

	// Constant; thieves read it.
	open  *deque.Deque[T]
	queue deque.Queue[T] // nil of a direct lane
	kind  deque.Kind
	// forksPushed says that the owner shows each fork at once. Demand is always set then.
	forksPushed bool
	asks        bool // thieves ask for what is in queue: demand says that one has
	shuffled    bool // there is no thief, and no order
	_           pad.Line

	// Owner only, plain: the race detector checks the claim.
	own    owner[T] // nil while the lane is direct
	Pushed uint64   // items pushed
	Popped uint64   // items popped
	enough int      // see HasFew
	alone  bool     // there is no thief
	batch  deque.Batch
	stolen []*T // room for StealFrom; nil if the owner takes one item at a time
	_      pad.Line

	// demand says that thieves could do with an item: there is nothing to steal, or one has asked. Thieves set it, the
	// owner clears it.
	demand xatomic.Bool
	_      pad.Line
}

// An owner is the owner's end of a lane that is not direct. What its methods return is explained at those of Lane.
type owner[T any] interface {
	push(p *T) deque.Effect
	pop(limit uint64) (*T, deque.Effect)
	poll() deque.Effect
	expose() deque.Effect
	keepOpen(open bool)
}

// ---- The owner's end ----

// Push adds p. If the effect is Refused there is no room, and p is still the caller's. Owner only.
func (l *Lane[T]) Push(p *T) deque.Effect {
	if l.IsDirect() {
		l.PushDirect(p)
		return deque.Shown
	}
	return l.own.push(p)
}

// Pop removes the item pushed last, of a lane that is first in, first out the oldest; or returns nil if none is left. Of a
// lane of [Lane.InitShuffled] it removes any that was pushed at mark limit or above. The effect is Nothing or Shown. Owner only.
func (l *Lane[T]) Pop(limit uint64) (*T, deque.Effect) {
	if l.IsDirect() {
		return l.PopDirect(), deque.Nothing
	}
	return l.own.pop(limit)
}

// Poll answers thieves that have asked. The effect is Nothing or Shown. Owner only.
func (l *Lane[T]) Poll() deque.Effect {
	if l.IsDirect() {
		return deque.Nothing
	}
	return l.own.poll()
}

// Expose lets thieves see all items, for an owner that will not answer them for long. If the effect is Refused there is no
// place where they would see them in order: the owner has to pop them and give them away otherwise. Owner only.
func (l *Lane[T]) Expose() deque.Effect {
	if l.IsDirect() {
		return deque.Nothing
	}
	return l.own.expose()
}

// KeepOpen has Push show each item at once, or no longer, whatever the kind hides. Owner only.
func (l *Lane[T]) KeepOpen(open bool) {
	if !l.IsDirect() {
		l.own.keepOpen(open)
	}
}

// Mark tells where the owner's end is: how many items were pushed and not popped. It changes with each push and goes back to
// what it was when everything since has been popped, unless the last of it went to a thief. Owner only.
func (l *Lane[T]) Mark() uint64 { return l.Pushed - l.Popped }

// IsAlone reports whether there is no thief. Owner only.
func (l *Lane[T]) IsAlone() bool { return l.alone }

// Share ends the time in which there is no thief. Threads that become thieves begin after it. Owner only.
func (l *Lane[T]) Share(enough int) {
	l.alone, l.enough = false, enough
	if a, ok := l.own.(*alone[T]); ok {
		a.share(l)
	}
	l.NoteEmpty()
}

// MayHaveFew reports whether there may be so few items to steal that the second fork of one function is worth showing. Only
// of a direct lane a yes is sure: see HasFew. Owner only.
func (l *Lane[T]) MayHaveFew() bool { return l.open.Len() < l.enough }

// HasFew is MayHaveFew, to be sure. Owner only.
func (l *Lane[T]) HasFew() bool { return l.Len() < l.enough }

// ---- Demand ----

// Demand reports whether thieves could do with an item, or forks are always pushed. Any thread.
func (l *Lane[T]) Demand() bool { return l.demand.Load() }

// DemandWord is the word that Demand reads.
func (l *Lane[T]) DemandWord() *xatomic.Bool { return &l.demand }

// want sets demand.
func (l *Lane[T]) want() {
	if !l.demand.Load() {
		l.demand.Store(true)
	}
}

// Answer says that the owner is about to show all the forks that it has, since there was demand. Owner only.
func (l *Lane[T]) Answer() {
	if !l.forksPushed && l.demand.Load() {
		l.demand.Store(false)
	}
}

// Answered says that the owner has shown its forks. A thief may have asked since Answer, and gone to sleep, when there was
// nothing for it: demand is set again (L1). Owner only.
func (l *Lane[T]) Answered() {
	if l.asks && !l.alone && l.queue.Wanted() {
		l.want()
	}
}

// NoteEmpty sets demand if there is nothing to steal. Owner only.
func (l *Lane[T]) NoteEmpty() {
	if !l.forksPushed && !l.asks && !l.alone && l.isEmpty() {
		l.want()
	}
}

// IsWanted reports whether thieves could do with an item just now, also where demand is always set. Owner only.
func (l *Lane[T]) IsWanted() bool {
	if !l.Demand() {
		return false
	}
	return !l.forksPushed || !l.alone && l.open.IsEmpty() && (l.queue == nil || l.queue.Wanted())
}

// ---- The thieves' end ----

// Steal removes one of the oldest items that are to steal. Any thread but the owner's.
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
	case outcome == deque.Stolen && !l.forksPushed && l.isEmpty():
		l.want()
	}
}

// StealFrom is Steal from the lane of a victim by the owner of l, which takes as many items as l is made for. The first is
// the oldest; the rest follow in the order in which the owner is to push them. The owner clears rest, and has nothing and waits
// for nothing.
func (l *Lane[T]) StealFrom(victim *Lane[T]) (first *T, rest []*T, outcome deque.Outcome) {
	if l.stolen == nil || !victim.open.IsEmpty() {
		first, outcome = victim.Steal()
		return first, nil, outcome
	}
	n, outcome := victim.queue.(deque.Batcher[T]).StealBatch(l.stolen, l.batch)
	victim.robbed(outcome)
	if n == 0 {
		return nil, nil, outcome
	}
	first, rest = l.stolen[0], l.stolen[1:n]
	l.stolen[0] = nil
	if !l.IsFIFO() {
		slices.Reverse(rest) // the oldest last, and so first to be run
	}
	return first, rest, outcome
}

// Ask reports whether there was something to steal at some moment during the call. If it says no, thieves that ask have asked:
// the owner's next operation shows something if it can. Any thread.
func (l *Lane[T]) Ask() bool {
	if !l.open.IsEmpty() || l.queue != nil && l.queue.Ask() {
		return true
	}
	if l.asks {
		l.want() // L1: after the request, which the owner then sees
	}
	return false
}

// Len is about how many items thieves see. Any thread.
func (l *Lane[T]) Len() int {
	n := l.open.Len()
	if l.queue != nil {
		n += l.queue.Len()
	}
	return n
}

// isEmpty reports whether thieves see nothing, without asking.
func (l *Lane[T]) isEmpty() bool { return l.open.IsEmpty() && (l.queue == nil || l.queue.Len() == 0) }

// Hides reports whether thieves may find nothing although the owner has items. Any thread.
func (l *Lane[T]) Hides() bool { return l.kind.Hides() }

// IsPolled reports whether the owner is to poll before each item while there is demand: thieves ask, or wait to be dealt to.
// Constant.
func (l *Lane[T]) IsPolled() bool { return l.kind.Asks() || l.kind.Receives() }

// KeepsForks reports whether forks are to stay private: the lane does not give them back in their order. Owner only.
func (l *Lane[T]) KeepsForks() bool { return l.shuffled }

// IsFIFO reports whether the owner, too, gets the oldest item. Any thread.
func (l *Lane[T]) IsFIFO() bool { return l.kind.FIFO() }
