//go:build modelcheck

package lane

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// onKinds checks a program on a lane of each kind for which is returns true, with queues as small as can be.
func onKinds(t *testing.T, is func(deque.Kind) bool, program func(o Options)) {
	checked := 0
	for _, k := range deque.Kinds() {
		if !is(k) {
			continue
		}
		checked++
		o := Options{Kind: k, Capacity: 2}
		if k.Blocks() {
			o.BlockSize = 1
		}
		t.Run(k.String(), func(t *testing.T) { model.Check(t, func() { program(o) }) })
	}
	if checked == 0 {
		t.Fatal("there is no such kind")
	}
}

// A scene is an owner with a lane, and a thief that sleeps when it finds nothing.
type scene struct {
	maker       *Maker[int]
	lanes       [2]Lane[int] // the owner's and the thief's
	all         []int
	own, stolen []int // how often each item came out
	pushed      int
	woken, over xatomic.Bool
}

func newScene(o Options, items int, alone bool) *scene {
	s := &scene{all: make([]int, items), own: make([]int, items), stolen: make([]int, items)}
	for i := range s.all {
		s.all[i] = i
	}
	m, err := NewMaker[int](2, o)
	model.Assert(err == nil, "NewMaker: %v", err)
	s.maker = m
	m.Init(&s.lanes[0], 0, alone)
	m.Init(&s.lanes[1], 1, false)
	return s
}

func (s *scene) lane() *Lane[int] { return &s.lanes[0] }

// tell is what the owner does about an effect: it wakes the thief.
func (s *scene) tell(effect deque.Effect) {
	if effect == deque.Shown {
		s.woken.Store(true)
	}
}

// put pushes the next item and returns the effect. What is refused comes out there and then.
func (s *scene) put() deque.Effect {
	p := &s.all[s.pushed]
	s.pushed++
	effect := s.lane().Push(p)
	if effect == deque.Refused {
		s.own[*p]++
	}
	return effect
}

func (s *scene) push() { s.tell(s.put()) }

// thief starts a thread that takes one item, and sleeps while it finds none.
func (s *scene) thief() (join func()) {
	return model.Go(func() {
		for !s.steal() {
			s.woken.Store(false) // prepares
			if !s.lane().Ask() {
				s.woken.Await()
			}
		}
		s.over.Store(true)
	})
}

func (s *scene) steal() bool {
	first, rest, outcome := s.lanes[1].StealFrom(s.lane())
	model.Assert((first != nil) == (outcome == deque.Stolen), "stolen %v with outcome %v", first, outcome)
	if outcome == deque.Lost {
		model.GiveWay() // the owner may be making the deque larger
	}
	if first == nil {
		return false
	}
	s.stolen[*first]++
	for _, p := range rest {
		s.stolen[*p]++
	}
	clear(rest)
	return true
}

// drain pops what is left and checks that each item that was pushed came out once. No thief is left.
func (s *scene) drain() {
	for {
		p, _ := s.lane().Pop(0)
		if p == nil {
			break
		}
		s.own[*p]++
	}
	for i := range s.pushed {
		own, stolen := s.own[i], s.stolen[i]
		model.Assert(own+stolen == 1, "item %d was popped %d times and stolen %d times", i, own, stolen)
	}
	model.Assert(s.lane().Len() == 0, "an empty lane shows %d items", s.lane().Len())
}

// polls answers the thief, as an owner does before each item while there is demand, until the thief has something.
func (s *scene) polls() {
	for !s.over.Load() {
		if s.lane().Demand() {
			s.tell(s.lane().Poll())
		}
		model.Spin()
	}
}

// TestModelLaneOverflow: what could be stolen, and is on its way from a full queue to the open deque when a thief
// looks for the last time, that thief is told of (D1(overflow)).
func TestModelLaneOverflow(t *testing.T) {
	overflows := func(k deque.Kind) bool {
		return k != deque.KindChaseLev && !k.FIFO() && !k.Receives() // nobody can steal what is dealt
	}
	onKinds(t, overflows, func(o Options) {
		s := newScene(o, 4, false)
		join := s.thief()
		for range s.all {
			s.push()
		}
		s.polls()
		join()
		s.drain()
	})
}

// TestModelLaneExpose: an owner that exposes what it has, and does nothing any more, has told a thief that sleeps.
func TestModelLaneExpose(t *testing.T) {
	exposes := func(k deque.Kind) bool { return !k.FIFO() }
	onKinds(t, exposes, func(o Options) {
		s := newScene(o, 2, false)
		join := s.thief()
		for range s.all {
			s.push()
		}
		s.tell(s.lane().Expose())
		s.over.Await()
		join()
		s.drain()
	})
}

// TestModelLaneKeepOpen: the same of an owner that pushes while its lane is kept open.
func TestModelLaneKeepOpen(t *testing.T) {
	hides := func(k deque.Kind) bool { return k.Hides() && !k.FIFO() }
	onKinds(t, hides, func(o Options) {
		s := newScene(o, 2, false)
		join := s.thief()
		s.push()
		s.lane().KeepOpen(true)
		s.push()
		s.over.Await()
		join()
		s.drain()
	})
}

// TestModelLaneAnswer: an owner that has a private fork, and looks at the demand between other things, shows it to a
// thief that sleeps, also if it has answered somebody before (L1).
func TestModelLaneAnswer(t *testing.T) {
	private := func(k deque.Kind) bool { return !(Options{Kind: k}).PushesForks() && !k.FIFO() }
	onKinds(t, private, func(o Options) {
		s := newScene(o, 2, false)
		l := s.lane()
		join := model.Go(func() {
			for range s.all {
				s.over.Store(false)
				for !s.steal() {
					s.woken.Store(false)
					if !l.Ask() {
						s.woken.Await()
					}
				}
			}
			s.over.Store(true)
		})
		l.NoteEmpty()
		for range s.all {
			for !l.Demand() {
				model.Spin()
			}
			l.Answer()
			effect := s.put()
			l.Answered()
			s.tell(effect)
		}
		s.polls()
		join()
		s.drain()
	})
}

// TestModelLaneDemand: after a request that has not been answered there is demand, whatever was answered at the same
// time (L1).
func TestModelLaneDemand(t *testing.T) {
	onKinds(t, deque.Kind.Asks, func(o Options) {
		s := newScene(o, 1, false)
		l := s.lane()
		l.Ask()
		asked := false
		join := model.Go(func() {
			s.steal()
			asked = !l.Ask()
		})
		if model.Choose(2) == 0 {
			s.put()
		} else {
			l.Answer()
			s.put()
			l.Answered()
		}
		join()
		model.Assert(!asked || l.Len() > 0 || l.Demand(), "a request stands, and there is no demand")
		s.drain()
	})
}

// TestModelLaneBeg: a thief that begs and sleeps is told of what an owner that deals has from then on, while another
// takes what it finds, or is dealt an item (L1).
func TestModelLaneBeg(t *testing.T) {
	dealt := 0
	onKinds(t, deque.Kind.Receives, func(o Options) {
		o.Begging = true
		s := newScene(o, 4, false)
		if model.Choose(2) == 1 { // then the alarm does not ring for the next operations
			s.push()
			s.own[0]++
			s.lane().Pop(0)
		}
		join := s.thief()
		other := model.Go(func() {
			if s.steal() {
				return
			}
			if p, _ := s.lanes[1].Receive(); p != nil {
				s.stolen[*p]++
				dealt++
			}
		})
		s.tell(s.lane().Poll())
		s.push()
		s.tell(s.lane().Poll())
		s.push()
		s.push()
		s.polls()
		join()
		other()
		s.drain()
	})
	model.Reached(t, dealt, "an item dealt")
}

// TestModelLaneBegAlarm: the same of an owner that pushes and pops, and does not poll: it looks when its alarm rings.
func TestModelLaneBegAlarm(t *testing.T) {
	onKinds(t, deque.Kind.Receives, func(o Options) {
		o.Begging = true
		s := newScene(o, 2, false)
		join := s.thief()
		s.push()
		own := &s.all[1]
		for !s.over.Load() {
			for range 64 { // it has rung by then
				s.tell(s.lane().Push(own))
				p, effect := s.lane().Pop(0)
				model.Assert(p == own, "the owner gets item %v", p)
				s.tell(effect)
			}
			model.Spin()
		}
		join()
		s.drain()
	})
}

// TestModelLaneSlack: demand is not lost when the owner changes the slack at the same time, and the slack is then what
// the owner has set.
func TestModelLaneSlack(t *testing.T) {
	private := func(k deque.Kind) bool { return !(Options{Kind: k}).PushesForks() }
	onKinds(t, private, func(o Options) {
		l := newScene(o, 0, false).lane()
		l.Answer()
		join := model.Go(l.Want)
		l.SetSlack(7)
		join()
		model.Assert(l.Demand(), "a thief wants an item, and there is no demand")
		l.Answer()
		model.Assert(l.Slack() == 7, "the slack is not what was set")
	})
}

// TestModelLaneShare: a submitter that looks for work while a worker ceases to be alone disturbs nothing, and a thief
// that begins after that gets what the worker had.
func TestModelLaneShare(t *testing.T) {
	any := func(deque.Kind) bool { return true }
	onKinds(t, any, func(o Options) {
		s := newScene(o, 3, true)
		l := s.lane()
		join := model.Go(func() { l.Ask() })
		s.push()
		s.push()
		s.tell(l.Poll())
		l.Share(s.maker.Enough())
		s.tell(l.Expose())
		if l.IsFIFO() {
			join()
			s.push()
			s.drain()
			return
		}
		thief := s.thief()
		s.over.Await()
		s.push()
		thief()
		join()
		s.drain()
	})
}

// TestModelLaneBatch: of what a thief takes at once each item comes out once, while the queue overflows.
func TestModelLaneBatch(t *testing.T) {
	for _, batch := range []deque.Batch{deque.Half, deque.Block} {
		t.Run(batch.String(), func(t *testing.T) {
			onKinds(t, deque.Kind.Batches, func(o Options) {
				o.Batch = batch
				s := newScene(o, 4, false)
				join := model.Go(func() {
					for range 2 {
						s.steal()
					}
				})
				for range s.all {
					s.push()
				}
				join()
				s.drain()
			})
		})
	}
}
