//go:build modelcheck

package policy

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/notifier"
)

// A plant is an executor reduced to what policies see: counters in place of queues, and the notifier. It is a Machine.
type plant struct {
	policy   Policy
	notifier *notifier.Notifier
	injector xatomic.Int32
	lanes    []xatomic.Int32
	ran      xatomic.Int32
	left     xatomic.Int32 // items that have not been run
	stop     xatomic.Bool
	hands    []*hand
	joins    []func()
	run      func(h *hand) // what an item does, if that is not nothing
}

// A hand is a worker of a plant. It is a Host.
type hand struct {
	p      *plant
	id     int
	thief  Thief
	turn   int
	asked  int
	items  uint64
	stolen bool
	paused int // for so many looks at the injector
	alive  bool
	leaves xatomic.Bool   // it is to go
	parked xatomic.Tell32 // 1 if it sleeps or is about to
}

// newPlant makes a plant of n workers under policy kind. None of them lives yet.
func newPlant(kind, n int, o Options) *plant {
	p := &plant{notifier: notifier.New(n), lanes: make([]xatomic.Int32, n)}
	p.policy = Table[kind].New(p, o)
	for i := range n {
		h := &hand{p: p, id: i}
		h.thief = p.policy.Attach(h)
		p.hands = append(p.hands, h)
	}
	return p
}

// live starts the worker's thread.
func (h *hand) live() {
	h.alive = true
	h.p.joins = append(h.p.joins, model.Go(func() {
		for h.thief.Find() {
			h.work()
		}
	}))
}

// work runs the item that has been found, and what follows.
func (h *hand) work() {
	p := h.p
	h.thief.Busy(h.stolen)
	for more := true; more; {
		h.items++
		if p.run != nil {
			p.run(h)
		}
		p.ran.Add(1)
		p.left.Add(-1)
		more = take(&p.lanes[h.id])
		if !more && p.policy.Refills() && p.injector.Load() > 0 {
			more = take(&p.injector)
		}
	}
	h.thief.Idle()
}

// take takes an item, if there is one.
func take(from *xatomic.Int32) bool {
	for n := from.Load(); n > 0; n = from.Load() {
		if from.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

// push shows an item, as a worker that runs one does (D1(push)).
func (h *hand) push() {
	h.p.left.Add(1)
	h.p.lanes[h.id].Add(1)
	if h.p.policy.Thieves().Load() == 0 && h.p.notifier.Waiting() {
		h.p.policy.Shown()
	}
}

// submit puts an item into the injector (D1(inject)).
func (p *plant) submit() { p.submitAll(1) }

// submitAll is submit for several items at once.
func (p *plant) submitAll(n int) {
	p.left.Add(int32(n))
	p.injector.Add(int32(n))
	p.policy.Submitted(n)
}

// busy makes worker 0 one that runs an item, on the program's own thread. idle ends the item.
func (p *plant) busy() (h *hand, idle func()) {
	h = p.hands[0]
	p.left.Add(1)
	h.thief.Busy(false)
	return h, func() {
		h.thief.Idle()
		p.left.Add(-1)
	}
}

// busyAmongOthers is busy beside the other workers, which live.
func (p *plant) busyAmongOthers() (h *hand, idle func()) {
	h, idle = p.busy()
	for _, h := range p.hands[1:] {
		h.live()
	}
	return h, idle
}

// await waits until so many items have been run. If a wake-up is lost, nobody can go on.
func (p *plant) await(items int32) { p.ran.Await(func(n int32) bool { return n == items }) }

// close stops the workers (D1(stop)) and waits for their threads, and looks at what is counted.
func (p *plant) close() {
	p.stop.Store(true)
	p.notifier.NotifyAll()
	for _, join := range p.joins {
		join()
	}
	model.Assert(p.policy.Actives() == 0, "at the end %d workers are active", p.policy.Actives())
	model.Assert(!p.AnyWork(), "an item is left")
}

// rest waits until the workers that live sleep and no thief is counted. If the count is wrong nobody can go on.
func (p *plant) rest() {
	model.Calm(func() {
		for !p.rests() {
			model.Spin()
		}
	})
}

func (p *plant) rests() bool {
	for _, h := range p.hands {
		if h.alive && h.parked.Load() == 0 {
			return false
		}
	}
	return p.policy.Thieves().Load() == 0
}

func (p *plant) Workers() int  { return len(p.lanes) }
func (p *plant) Limit() int    { return len(p.lanes) }
func (p *plant) Running() bool { return p.left.Load() > 0 }

func (p *plant) AnyWork() bool {
	if p.injector.Load() > 0 {
		return true
	}
	for i := range p.lanes {
		if p.lanes[i].Load() > 0 {
			return true
		}
	}
	return false
}

func (p *plant) anyShown() bool { return p.lanes[0].Load() > 0 }

func (p *plant) AnySubmitted() bool { return p.injector.Load() > 0 }
func (p *plant) Stopping() bool     { return p.stop.Load() }
func (p *plant) AnyWaiter() bool    { return p.notifier.Waiting() }
func (p *plant) Notify(n int) int   { return p.notifier.Notify(n) }
func (p *plant) NotifyAll()         { p.notifier.NotifyAll() }
func (p *plant) NotifyHelpers()     {}

func (h *hand) ID() int { return h.id }

// Random takes turns, so that each victim's comes.
func (h *hand) Random(n int) int { h.turn++; return h.turn % n }

func (h *hand) Sees(victim int) bool { return h.p.lanes[victim].Load() > 0 }

func (h *hand) Try(victim int) deque.Outcome {
	from := &h.p.injector
	if victim != h.id {
		from = &h.p.lanes[victim]
	}
	if from.Load() == 0 || !take(from) {
		return deque.Empty
	}
	h.stolen = victim != h.id
	return deque.Stolen
}

func (h *hand) Leave() bool { return h.leaves.Load() }

func (h *hand) Prepare()      { h.p.notifier.Prepare(h.id) }
func (h *hand) Cancel() bool  { return h.p.notifier.Cancel(h.id) }
func (h *hand) Searching()    {}
func (h *hand) Yield()        { model.GiveWay() }
func (h *hand) Items() uint64 { return h.items }
func (h *hand) YieldTo(int)   { model.GiveWay() }
func (h *hand) Pull(int) bool { model.GiveWay(); return true }

// Preempted is true every other time.
func (h *hand) Preempted(int, Sign) bool { h.asked++; return h.asked%2 == 0 }
func (h *hand) Nanotime() int64          { return 0 }

func (h *hand) Pause(n int) {
	h.paused += n
	for ; n > 0 && h.p.injector.Load() == 0; n-- {
		model.GiveWay()
	}
}

func (h *hand) Commit() {
	h.parked.Store(1)
	h.p.notifier.Commit(h.id)
	h.parked.Store(0)
}
