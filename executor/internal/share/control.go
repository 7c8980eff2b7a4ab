// Package share keeps the workers of an executor to the processors that it is allotted (document 003, chapter 6:
// process control).
//
// Workers beyond the allotment rest: they sleep until the allotment grows, or until other workers sleep. A worker rests
// only between two tasks, at a Fork or a Join, or while it looks for work. A [Control] decides which workers rest. It
// runs, wakes and ends no thread: its [Host] does.
package share

import (
	"slices"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A Control is the process control of one executor. It has the document's thread state array: the workers that are
// awake, those that rest with work, and those that rest without. The first zone is only a number here. A worker has
// work if its lane may have items or its stack has a task.
//
// A worker is awake unless it rests, sleeps because it has found no work, sleeps in a wait, or blocks. Between a change
// of the allotment and the next boundaries of the workers, more of them may be awake than allotted. An allotment of 0
// is for a short time only: S1 to S3 let few workers run meanwhile.
//
// While a worker rests, as many as allotted are awake or can be woken for any item (S1). While a worker rests with
// work, as many as allotted are awake (S2). Workers that rest change places with others (S3, see [Control.BeginCycle]),
// those with work one in a cycle at most. So resting loses no item, and a lock that a resting worker holds is released
// some time. If the workers that are awake come to no boundary, more are woken: their tasks may wait, outside Blocking,
// for an item that no other worker would run.
type Control struct {
	host Host

	_ pad.Line
	// wanted says that a worker is to call Rest at its next boundary: more workers are awake than allotted, a swap is
	// due, or BeginCycle wants to see whether any worker comes to a boundary.
	wanted xatomic.Bool
	_      pad.Line

	awake   xatomic.Int32
	most    xatomic.Int32  // how many may be awake: allotment + extra; written under mu
	resting xatomic.Int32  // written under mu
	laden   xatomic.Int32  // those that rest with work; written under mu
	rests   xatomic.Uint64 // how often workers went to rest; written under mu
	ladens  []xatomic.Bool // by worker: it rests with work; written under mu
	_       pad.Line

	mu        xsync.Mutex // guards what follows
	allotment int
	withWork  []rest // in the order in which they went to rest
	without   []int  // the last has rested for the shortest time
	cycle     uint64
	boundary  uint64 // the cycle in which a worker last came to a boundary, or an extra one was woken
	extra     int    // workers that may be awake beyond the allotment, because others come to no boundary
	extraEnd  uint64 // the first cycle in which a boundary ends that
	swapDue   bool   // the next worker at a boundary changes places with the first of withWork
	newDue    bool   // the next worker at a boundary changes places with one that rests without work
	unserved  uint64 // the last cycle in which no worker rested without work, or there was no item for one
	looks     bool   // BeginCycle wants to see whether any worker comes to a boundary, and none has since
	open      bool   // after Close nobody rests
}

// A rest is that of a worker with work.
type rest struct {
	worker int
	since  uint64 // cycle
}

// A Host is an executor as its control sees it. Its methods may be called on any thread, with locks held.
type Host interface {
	// AnyWork reports whether there was an item to take, and AnySubmitted whether there was one that was submitted.
	AnyWork() bool
	AnySubmitted() bool
	// Signal makes each worker that is awake look at Wanted soon.
	Signal()
	// Wake ends the rest of a worker, or its next one if it is about to rest.
	Wake(worker int)
}

// Init makes c the control of a host with up to limit workers, which is allotted as many processors.
func (c *Control) Init(host Host, limit int) {
	c.host, c.ladens = host, make([]xatomic.Bool, limit)
	c.allotment = limit
	c.most.Store(int32(limit))
}

// Wanted reports whether a worker at a boundary is to call Rest. Any thread.
func (c *Control) Wanted() bool { return c.wanted.Load() }

// Word returns the word that Wanted reads.
func (c *Control) Word() *xatomic.Bool { return &c.wanted }

// HasLeftWork reports whether a worker rests with work. Any thread.
func (c *Control) HasLeftWork(worker int) bool { return c.ladens[worker].Load() }

// Awake returns the number of workers that are awake: the usage. Any thread.
func (c *Control) Awake() int { return int(c.awake.Load()) }

// Resting returns the number of workers that rest. Any thread.
func (c *Control) Resting() int { return int(c.resting.Load()) }

// Rests returns how often workers have gone to rest. Any thread.
func (c *Control) Rests() uint64 { return c.rests.Load() }

// CountAwake counts the calling worker as awake. It returns the usage, the caller included.
func (c *Control) CountAwake() int {
	n := c.awake.Add(1)
	// D1(wanted): count, then look at wanted. Pairs with settle.
	if n > c.most.Load() {
		c.want()
	}
	return int(n)
}

// CountAsleep undoes CountAwake. able says that the worker, while it sleeps, can be woken for any item. It returns the
// usage.
func (c *Control) CountAsleep(able bool) int {
	// D1(sleeps): cease to count, then look for workers that rest. Pairs with D1(rest).
	n := c.awake.Add(-1)
	if c.laden.Load() > 0 || !able && c.resting.Load() > 0 {
		c.mu.Lock()
		c.fill(able)
		c.mu.Unlock()
	}
	return int(n)
}

// fill wakes workers that rest with work while fewer workers are awake than allotted or, if there is none, one that
// rests without if the worker that goes to sleep is not able. The caller holds mu.
func (c *Control) fill(able bool) {
	for c.isBelow() && len(c.withWork) > 0 {
		c.wakeLaden(0)
	}
	if !able && c.isBelow() && len(c.without) > 0 {
		c.wakeOther()
	}
}

// Rest puts the calling worker, which is awake, to rest if more workers are awake than allotted, or if another is to
// change places with it. It reports whether it did. The caller then sleeps until Host.Wake, and is awake again. laden
// says that it has work, all of which others can see except what is on its stack.
func (c *Control) Rest(worker int, laden bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.settle()
	c.boundary, c.looks = c.cycle, false
	if c.open {
		return false
	}
	c.endExtra()
	if c.awake.Load() <= c.most.Load() {
		switch {
		case c.swapDue:
			c.changePlaces(worker, laden, 0)
		case c.newDue && laden && len(c.without) > 0: // a thief finds the item itself
			c.newDue, c.unserved = false, c.cycle
			c.changePlaces(worker, laden, nobody)
		default:
			return false
		}
		return true
	}
	// D1(rest): count as resting, cease to count as awake, and look at the usage. Pairs with D1(sleeps): of two workers
	// that go to rest and to sleep at the same time, one sees the other.
	c.count(laden, 1)
	if c.awake.Add(-1) < c.most.Load() {
		c.awake.Add(1)
		c.count(laden, -1)
		return false
	}
	c.enterZone(worker, laden)
	return true
}

func (c *Control) enterZone(worker int, laden bool) {
	c.rests.Add(1)
	if laden {
		c.withWork = append(c.withWork, rest{worker, c.cycle})
		c.ladens[worker].Store(true)
	} else {
		c.without = append(c.without, worker)
	}
}

// nobody is no worker with work.
const nobody = -1

// changePlaces puts the calling worker to rest and wakes the i-th of those that rest with work or, if that is nobody,
// one that rests without.
func (c *Control) changePlaces(worker int, laden bool, i int) {
	c.count(laden, 1)
	c.awake.Add(-1)
	if i == nobody {
		c.wakeOther()
	} else {
		c.wakeLaden(i)
	}
	c.enterZone(worker, laden)
}

// Swap wakes a worker that rests with work, and puts the calling thief to rest in its place, without work. It returns
// false if the victim does not rest with work.
func (c *Control) Swap(thief, victim int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.withWork, func(r rest) bool { return r.worker == victim })
	if i < 0 {
		return false
	}
	c.changePlaces(thief, false, i)
	return true
}

// SetAllotment changes the allotment to n. If it has grown, it wakes workers that rest, first those with
// work.
func (c *Control) SetAllotment(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setAllotment(n)
}

func (c *Control) setAllotment(n int) {
	c.allow(n, c.extra)
	for c.isBelow() && len(c.withWork) > 0 {
		c.wakeLaden(0)
	}
	for c.isBelow() && len(c.without) > 0 {
		c.wakeOther()
	}
	c.settle()
}

// allow changes how many workers may be awake. The caller holds mu.
func (c *Control) allow(allotment, extra int) {
	c.allotment, c.extra = allotment, extra
	c.most.Store(int32(allotment + extra))
}

// endExtra takes back that more workers than allotted may be awake, if that has lasted long enough.
func (c *Control) endExtra() {
	if c.extra > 0 && c.cycle >= c.extraEnd {
		c.allow(c.allotment, 0)
	}
}

// BeginCycle begins a cycle. If a worker with work has rested for some cycles, the next worker at a boundary changes
// places with the one that has rested for longest. If there is a submitted item, or has been any item for many cycles,
// it changes places with one that rests without work. If workers are awake and none has come to a boundary for many
// cycles, and there is work for a worker that rests, BeginCycle wakes one.
func (c *Control) BeginCycle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cycle++
	if c.resting.Load() == 0 {
		c.boundary = c.cycle
		c.unserved = c.cycle
		c.endExtra()
		c.settle()
		if c.isWanted() {
			c.host.Signal() // a worker may have ceased to see the last one
		}
		return
	}
	c.swapDue = len(c.withWork) > 0 && c.cycle-c.withWork[0].since >= swapAfter
	if len(c.without) == 0 || !c.host.AnyWork() {
		c.unserved = c.cycle
	}
	c.newDue = c.cycle-c.unserved >= patience || len(c.without) > 0 && c.host.AnySubmitted()
	if c.awake.Load() == 0 {
		c.boundary = c.cycle // with an allotment of 0: no worker could have come to one
	}
	if c.cycle-c.boundary >= patience && (len(c.withWork) > 0 || c.host.AnyWork()) {
		c.boundary, c.extraEnd = c.cycle, c.cycle+patience
		c.allow(c.allotment, max(int(c.awake.Load())+1-c.allotment, 0))
		if len(c.withWork) > 0 {
			c.wakeLaden(0)
		} else {
			c.wakeOther()
		}
	}
	c.looks = true
	c.wanted.Store(true)
	c.host.Signal()
}

// Recall wakes the workers that rest without work, so that surplus spares among them leave service. The others rest
// again.
func (c *Control) Recall() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.without) > 0 {
		c.wakeOther()
	}
	c.settle()
}

// Close wakes all workers that rest. None rests afterwards.
func (c *Control) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = true
	c.setAllotment(len(c.ladens))
}

// isBelow reports whether fewer workers are awake than allotted.
func (c *Control) isBelow() bool { return c.awake.Load() < c.most.Load() }

// wakeLaden wakes the i-th of the workers that rest with work. The caller holds mu.
func (c *Control) wakeLaden(i int) {
	worker := c.withWork[i].worker
	c.withWork = slices.Delete(c.withWork, i, i+1)
	c.ladens[worker].Store(false)
	c.swapDue = c.swapDue && i > 0
	c.awake.Add(1)
	c.count(true, -1)
	c.host.Wake(worker)
}

// wakeOther wakes a worker that rests without work. The caller holds mu.
func (c *Control) wakeOther() {
	last := len(c.without) - 1
	worker := c.without[last]
	c.without = c.without[:last]
	c.awake.Add(1)
	c.count(false, -1)
	c.host.Wake(worker)
}

// count adds n to the workers that rest.
func (c *Control) count(laden bool, n int32) {
	if laden {
		c.laden.Add(n)
	}
	c.resting.Add(n)
}

// settle clears wanted if no worker has to rest. The caller holds mu.
func (c *Control) settle() {
	if c.isWanted() {
		c.want()
		return
	}
	if c.wanted.Load() {
		c.wanted.Store(false)
		// D1(wanted): clear wanted, then look at the usage. Pairs with CountAwake.
		if c.isWanted() {
			c.want()
		}
	}
}

func (c *Control) isWanted() bool {
	return c.swapDue || c.newDue && len(c.without) > 0 || c.looks && c.resting.Load() > 0 ||
		c.awake.Load() > c.most.Load()
}

// want sets wanted. Any thread.
func (c *Control) want() {
	if !c.wanted.Load() {
		c.wanted.Store(true)
		c.host.Signal()
	}
}
