package bench

import (
	"math"
	"math/rand/v2"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/osthread"
)

// A dequeOwner pushes items and pops them again, in bursts, so that its queue always has something to steal. It pushes
// again the items that it pops. So it touches no item, and needs no more items than are stolen and kept.
type dequeOwner struct {
	queue deque.Queue[Item]
	keep  int // items that stay in the queue
	work  int // after each operation

	items  ledger
	used   int     // the number of items that were pushed at least once
	popped []*Item // items to push again

	bursts *bursts
	burst  int

	pushes, pops int
	stolen       int // the last number that it has heard
	lonely       patience
}

// bursts are the lengths of bursts, in a cycle. They are many and random, so as not to be in step with any block.
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

// newDequeOwner returns an owner whose thieves take at most steals items. Its queue has items in it.
func newDequeOwner(r *dequeRun, queue deque.Queue[Item], steals int) *dequeOwner {
	keep := r.keep()
	// At most keep and the longest burst are in the queue at once, and as many again may have been popped.
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

// level returns how many items should be in the queue.
func (o *dequeOwner) level() int { return o.used - len(o.popped) - o.stolen }

// round pushes n items, unless it runs out of them. After each burst it pops the items beyond those to keep. Its loops
// touch only the queue and a stack.
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

// supply makes n items available to push, as long as there are items that never were pushed.
func (o *dequeOwner) supply(n int) {
	for len(o.popped) < n && o.used < len(o.items) {
		o.popped = append(o.popped, &o.items[o.used])
		o.used++
	}
}

// push pushes n items, or as many as are available. It returns false if there is no room.
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

// pop pops n items, or as many as there are, and returns their number.
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

// hear notes how many items have been stolen. If the number stays the same for long, the thieves may have no core.
func (o *dequeOwner) hear(stolen int) {
	if stolen == o.stolen {
		o.lonely.pause()
	} else {
		o.stolen, o.lonely.spins = stolen, 0
	}
}

// makeRoom pops everything. Either a thief is slow, or the indices of abp are at the end of its array, and go back only
// when the queue is empty.
func (o *dequeOwner) makeRoom() {
	if o.pop(math.MaxInt) == 0 {
		osthread.Yield()
	}
}

// check empties the queue, when no thief steals any longer. It returns an error unless every item has come out once: it
// was stolen by one of the thieves, or popped and not pushed again.
func (o *dequeOwner) check(thieves ...*dequeThief) error {
	takes := 0
	for _, t := range thieves {
		for t.deals && t.try() { // receives items that were dealt before
		}
		takes += t.counts.stolen()
	}
	o.pop(math.MaxInt)
	for _, p := range o.popped {
		p.taken++
	}
	return o.items.check(o.used, takes+len(o.popped))
}
