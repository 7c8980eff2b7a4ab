package executor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/deque"
)

// A worker's items lie in the growable deque of Chase and Lev, or in a queue of the kind that Config.Deque asks for. Then the
// deque has what is older than all that is in the queue: what did not fit there, or was given away.
//
// A queue may hide items from thieves, who then ask for them (deque.Queue). What other workers rely on is kept so: the owner
// polls after each of its operations and before each item that it runs, and a worker that will do neither for long gives away
// what it has. PROTOCOL.md, Queues.

// queueOptions are those of the queues that workers have.
func (c *Config) queueOptions() deque.Options {
	o := deque.Options{Capacity: c.Capacity, BlockSize: c.BlockSize}
	if c.Deque != deque.KindChaseLev {
		o.Capacity = cmp.Or(o.Capacity, queueCapacity)
	}
	return o
}

// checkQueues says all that is wrong with what the configuration, which names a deque, says about it.
func (c *Config) checkQueues() (errs []error) {
	if err := c.queueOptions().Check(c.Deque); err != nil {
		said := strings.NewReplacer("deque: ", "", "\n", "; ").Replace(err.Error())
		errs = append(errs, fmt.Errorf("executor: Config with Deque %v: %s", c.Deque, said))
	}
	if c.Steal != deque.One && !c.Deque.Batches() {
		errs = append(errs, fmt.Errorf("executor: Config.Steal is %v, but from %v thieves take one item at a time: set Steal to %v, or Deque to one of %v",
			c.Steal, c.Deque, deque.One, batching()))
	}
	return errs
}

// queues are what workers have besides their deques of Chase and Lev; nil if nothing. checkQueues has said yes.
func (c *Config) queues() *deque.Group[Item] {
	if c.Deque == deque.KindChaseLev {
		return nil
	}
	group, err := deque.NewGroup[Item](c.Deque, c.Workers+c.Spares, c.queueOptions())
	if err != nil {
		panic(err)
	}
	return group
}

// batching lists the kinds of deque whose thieves can take several items at once.
func batching() []deque.Kind {
	return slices.DeleteFunc(deque.Kinds(), func(k deque.Kind) bool { return !k.Batches() })
}

// queueState is a worker's part of this file. Owner only, plain; others may read what is constant.
type queueState struct {
	aside    bool                 // thieves do not find what is pushed in deque: it goes to queue, or there are no thieves
	hides    bool                 // constant; they do not see all that is in queue
	polled   bool                 // constant; it wants to be polled before each item while hungry is set
	fifo     bool                 // constant; queue gives the oldest item back
	solo     bool                 // alone, unless fifo or shuffled: the worker's items are in deque, which nobody else looks into
	shown    bool                 // an operation of queue has said so, and granted has not been called since
	height   uint64               // see bottom; of a worker with a queue
	moved    []*Item              // for openUp
	loot     []*Item              // for stealBatch
	receiver deque.Receiver[Item] // constant; queue again, if nobody can steal from it
}

// makeQueues gives the worker what it keeps its items in.
func (w *Worker) makeQueues() {
	cfg := &w.ex.cfg
	w.eager = cfg.pushesForks()
	if w.ex.queues == nil {
		w.deque = deque.New[Item](cmp.Or(cfg.Capacity, dequeCapacity))
		w.aside, w.solo = w.alone, w.alone
		return
	}
	kind := cfg.Deque
	w.deque = deque.New[Item](0)
	w.queue = w.ex.queues.Queue(w.id)
	w.aside, w.hides, w.fifo = true, kind.Hides(), kind.FIFO()
	w.solo = w.alone && !w.fifo
	if w.core.asked {
		w.polled = true
	}
	if kind.Receives() {
		w.receiver, w.polled = w.queue.(deque.Receiver[Item]), true
	}
	if cfg.Steal != deque.One {
		w.batcher = w.queue.(deque.Batcher[Item])
		w.loot = make([]*Item, maxLoot)
	}
}

// ErrFIFO is what a run of [Func] or [Call], and all of package parallel, ends with on an executor whose Config.Deque is
// [deque.KindBWoSFIFO].
var ErrFIFO = errors.New("executor: a Scope needs a deque that gives the newest item back, and Config.Deque is " +
	deque.KindBWoSFIFO.String())

// pushAside is Push where the worker's items are not in a deque of Chase and Lev that others see.
func (w *Worker) pushAside(it *Item) {
	w.putAside(it)
	if w.shown {
		w.granted()
	}
}

// put lets the worker have it back by popOwn. Whoever calls it wakes others for what they see in the deque, or polls the queue.
func (w *Worker) put(it *Item) {
	if w.aside {
		w.putAside(it)
		return
	}
	w.deque.Push(it)
}

func (w *Worker) putAside(it *Item) {
	switch {
	case w.solo:
		w.putSolo(it)
	case w.queue != nil:
		w.height += 2
		// What the worker runs while it blocks may wait for the item.
		if w.blocking && w.hides {
			w.spill(it)
			return
		}
		switch w.queue.Push(it) {
		case deque.Shown:
			w.shown = true
		case deque.Refused:
			w.spill(it)
		}
	default:
		w.shuffled.push(it)
	}
}

func (w *Worker) putSolo(it *Item) {
	w.height += 2 // of use if there is a queue
	w.deque.PushAlone(it)
}

// spill puts it, which the queue has no room for or must not hide, above all that is there, where others see it. It does not wait
// for a thief to make room.
func (w *Worker) spill(it *Item) {
	if w.fifo {
		w.height -= 2
		w.ex.inject(it) // there it comes after what is older
		return
	}
	w.openUp()
	w.deque.Push(it)
	// D1(spill): as D1(push), and for all that has been moved as well: who looked meanwhile may have seen it neither here nor there.
	w.wakeForGrant()
}

// openUp moves all that is in the queue to the deque, the oldest first.
func (w *Worker) openUp() {
	hidden := w.moved[:0]
	for it, _ := w.queue.Pop(); it != nil; it, _ = w.queue.Pop() { // what it tells is moved as well
		hidden = append(hidden, it)
	}
	for i := len(hidden) - 1; i >= 0; i-- {
		w.deque.Push(hidden[i])
	}
	clear(hidden)
	w.moved = hidden
}

// popAside is popOwn for such a worker, without counting.
func (w *Worker) popAside() *Item {
	switch {
	case w.solo:
		it := w.deque.PopAlone()
		if it != nil {
			w.height -= 2
		}
		return it
	case w.queue != nil:
		it, effect := w.queue.Pop()
		if effect == deque.Shown || w.shown {
			w.granted()
		}
		return w.popped(it)
	default:
		return w.popShuffled()
	}
}

// popped is what is popped if the queue gives it.
func (w *Worker) popped(it *Item) *Item {
	if it == nil {
		it = w.deque.Pop()
	}
	if it != nil {
		w.height -= 2
	}
	return it
}

// poll answers thieves that have asked the worker's queue, and wakes somebody if there is more to steal than before.
func (w *Worker) poll() {
	if w.queue.Poll() == deque.Shown || w.shown {
		w.granted()
	}
}

// granted is called when there is more to steal than before.
func (w *Worker) granted() {
	w.shown = false
	if w.core.asked && !w.eager && w.hungry.Load() {
		w.hungry.Store(false)
		if w.queue.Wanted() {
			w.hungry.Store(true) // L1: somebody has asked since, or for more, and may have seen it set
		}
	}
	// D1(poll): to steal, then look for somebody who will look there. Pairs with D1(park) in the policies and D1(help), as
	// D1(push) does. Whoever announced first, and looked before, has left a request, for which the next poll grants (L1).
	switch {
	case w.receiver == nil:
		w.wakeForGrant()
	case w.core.thieves.Load() == 0:
		w.wakeThief() // helpers are dealt nothing
	}
}

// wakeForGrant wakes somebody for items that may be of any run.
func (w *Worker) wakeForGrant() {
	if w.core.thieves.Load() == 0 {
		w.wakeFor(nil)
	}
}

// giveAway lets others have what they cannot see of the worker's queue, which it will not answer for: it is going to sleep, or
// to block.
func (w *Worker) giveAway() {
	if !w.hides || w.alone {
		return
	}
	if w.fifo {
		for it := w.popOwn(); it != nil; it = w.popOwn() {
			w.ex.inject(it)
		}
		return
	}
	w.openUp()
	if !w.deque.IsEmpty() {
		w.wakeForGrant() // D1(spill)
	}
}

// bottom identifies the worker's end of what it has: it is even, changes with each item that is put, and goes back to what it
// was when everything since has been popped, unless the last of it went to a thief.
func (w *Worker) bottom() uint64 {
	if !w.aside {
		return w.deque.Bottom()
	}
	switch {
	case w.queue != nil:
		return w.height
	case w.shuffled != nil:
		return w.shuffled.bottom()
	default:
		return w.deque.Bottom()
	}
}

// offers reports whether a thief could take something from the worker just now. If not, the worker, if it has something, will
// be told by its next poll that somebody has asked. Any thread.
func (w *Worker) offers() bool {
	if !w.deque.IsEmpty() || w.queue != nil && w.queue.Ask() {
		return true
	}
	// A submitter may be here too, while the only worker gets company: alone is not for it to read.
	if w.queue != nil && w.core.asked && w.core.crewed.Load() > 1 && !w.hungry.Load() {
		w.hungry.Store(true) // L1: after the request, which the owner then sees
	}
	return false
}

// isWanted reports whether thieves could do with an item of the worker's. Owner only.
func (w *Worker) isWanted() bool {
	return w.deque.IsEmpty() && (w.queue == nil || w.queue.Wanted())
}

// steal takes an item of the worker's, the oldest if that is to be had. Any thread.
func (w *Worker) steal() (*Item, deque.Outcome) {
	if w.queue != nil && w.deque.IsEmpty() {
		return w.queue.Steal()
	}
	return w.deque.Steal()
}

// toSteal is about how many items thieves see. Any thread.
func (w *Worker) toSteal() int {
	n := w.deque.Len()
	if w.queue != nil {
		n += w.queue.Len()
	}
	return n
}

// stealBatch takes several items of the victim's at once. The oldest it returns; the others are the worker's from then on. The
// worker is a thief, has nothing and waits for nothing.
func (w *Worker) stealBatch(victim *Worker) (*Item, deque.Outcome) {
	n, outcome := victim.batcher.StealBatch(w.loot, w.ex.cfg.Steal)
	if n == 0 {
		return nil, outcome
	}
	// Nobody is woken for them: the worker is a thief, and looks for more itself when it ceases to be one.
	rest := w.loot[1:n]
	if !w.fifo {
		slices.Reverse(rest) // the oldest last, and so first to be run
	}
	for _, it := range rest {
		if it.Body.forks {
			// A fork's joiner may need it before the worker comes to it: in the injector the joiner finds it
			// (retrieve).
			w.ex.inject(it)
			continue
		}
		it.Body.Run().visit(w)
		w.put(it)
	}
	it := w.loot[0]
	clear(w.loot[:n])
	return it, outcome
}
