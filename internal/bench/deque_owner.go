package bench

import (
	"math"
	"math/rand/v2"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/osthread"
)

// A dequeOwner pushes items and pops them again, in bursts, so that its queue always has something to steal. What it pops it
// pushes again: it touches no item, and needs no more of them than are stolen and kept.
type dequeOwner struct {
	queue deque.Queue[Item]
	keep  int // items that stay in the queue
	work  int // after each operation

	items  ledger
	used   int     // of items, those that were pushed at least once
	popped []*Item // to be pushed again

	bursts *bursts
	burst  int

	pushes, pops int
	stolen       int // as last heard
	lonely       patience
}

// bursts are the lengths of bursts before they begin again: enough of them, and at random, not to be in step with any block.
type bursts [1021]uint8

const longestBurst = 16

func newBursts(seed uint64) *bursts {
	rng := rand.New(rand.NewPCG(seed, seed))
	b := new(bursts)
	for i := range b {
		b[i] = uint8(1 + rng.IntN(longestBurst))
	}
	return b
}

// newDequeOwner returns an owner whose thieves take so many items at most. Its queue has items in it.
func newDequeOwner(r *dequeRun, queue deque.Queue[Item], steals int) *dequeOwner {
	keep := r.keep()
	// No more than are kept, and the longest burst, are in the queue at once, and as many again may have been popped.
	most := keep + longestBurst
	o := &dequeOwner{
		queue: queue, keep: keep, work: r.Work,
		items: newLedger(steals + most), popped: make([]*Item, 0, most),
		bursts: newBursts(r.seed),
		lonely: patience{limit: 16},
	}
	o.supply(keep)
	o.push(keep)
	o.pushes, o.pops = 0, 0
	return o
}

// level is how many items should be in the queue.
func (o *dequeOwner) level() int { return o.used - len(o.popped) - o.stolen }

// round pushes n items, unless it runs out of them, and pops after each burst what is more than to be kept. Nothing in its
// loops is there but the queue and a stack.
func (o *dequeOwner) round(n int) {
	for n > 0 {
		if o.burst++; o.burst == len(o.bursts) {
			o.burst = 0
		}
		burst := min(int(o.bursts[o.burst]), n)
		n -= burst
		o.supply(burst)
		if !o.push(burst) {
			o.makeRoom()
		}
		o.pop(o.level() - o.keep)
	}
}

// supply sees to it that n items can be pushed, as long as there are any that never were.
func (o *dequeOwner) supply(n int) {
	for len(o.popped) < n && o.used < len(o.items) {
		o.popped = append(o.popped, &o.items[o.used])
		o.used++
	}
}

// push pushes n items, or as many as there are. It returns false if there is no room.
func (o *dequeOwner) push(n int) bool {
	queue, popped := o.queue, o.popped
	n = min(n, len(popped))
	last := len(popped) - n
	for i := len(popped) - 1; i >= last; i-- {
		if queue.Push(popped[i]) == deque.Refused {
			o.pushes += len(popped) - 1 - i
			o.popped = popped[:i+1]
			return false
		}
		if o.work > 0 {
			spin(o.work)
		}
	}
	o.pushes += n
	o.popped = popped[:last]
	return true
}

// pop pops n items, or as many as there are, and returns how many.
func (o *dequeOwner) pop(n int) (popped int) {
	queue, into := o.queue, o.popped
	for popped < n {
		p, _ := queue.Pop()
		if p == nil {
			break
		}
		into = append(into, p)
		popped++
		if o.work > 0 {
			spin(o.work)
		}
	}
	o.popped = into
	o.pops += popped
	return popped
}

// hear learns how many items have been stolen. If there are no more for long, the thieves have perhaps no core.
func (o *dequeOwner) hear(stolen int) {
	if stolen == o.stolen {
		o.lonely.pause()
	} else {
		o.stolen, o.lonely.spins = stolen, 0
	}
}

// makeRoom pops everything: a thief is slow, or the indices of abp have come to the end of its array, from where
// they get back only when it is empty.
func (o *dequeOwner) makeRoom() {
	if o.pop(math.MaxInt) == 0 {
		osthread.Yield()
	}
}

// check empties the queue, from which nobody steals any more, and says what is wrong if not every item has come out once:
// was stolen by one of the thieves, or popped and not pushed again.
func (o *dequeOwner) check(thieves ...*dequeThief) error {
	takes := 0
	for _, t := range thieves {
		for t.deals && t.try() { // what was dealt and not yet received
		}
		takes += t.counts.stolen()
	}
	o.pop(math.MaxInt)
	for _, p := range o.popped {
		p.taken++
	}
	return o.items.check(o.used, takes+len(o.popped))
}
