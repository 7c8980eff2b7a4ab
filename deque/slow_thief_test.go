package deque_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// The owner comes round to a slot whose item a thief has claimed and not yet read.
func TestGrowPastClaimedSlot(t *testing.T) {
	for _, start := range []uint64{0, wrap - 3, wrap - 9} {
		d := deque.NewAt[int](8, start)
		d.Push(new(-1))
		thief := deque.NewSlowThief(d)
		thief.LookTop()
		require.True(t, thief.LookBottom())
		require.True(t, thief.Fetch())
		require.True(t, thief.Claim())

		for i := range 7 {
			d.Push(&i)
		}
		require.Equal(t, 8, d.Cap())
		d.Push(new(7)) // would be the claimed slot
		require.Equal(t, 16, d.Cap(), "the owner must not wait for the thief")
		d.CheckRest()
		require.Equal(t, -1, *thief.Yield(), "the claim outlives the ring")
		for i := range 4 {
			p, _ := d.Steal()
			require.Equal(t, i, *p)
			require.Equal(t, 7-i, *d.Pop())
		}
		require.Nil(t, d.Pop())
		require.Zero(t, d.Occupied())
	}
}

// A thief that looked before the growth must not claim after it: the item is in both rings.
func TestClaimAfterGrowth(t *testing.T) {
	for steps := 1; steps <= 3; steps++ {
		d := deque.NewAt[int](2, 0)
		d.Push(new(0))
		d.Push(new(1))
		thief := deque.NewSlowThief(d)
		thief.LookTop()
		if steps >= 2 {
			require.True(t, thief.LookBottom())
		}
		if steps >= 3 {
			require.True(t, thief.Fetch())
		}
		d.Push(new(2)) // grows
		require.Equal(t, 4, d.Cap())
		if steps < 3 {
			require.False(t, thief.Fetch(), "another ring than that of the top it saw")
		}
		require.False(t, thief.Claim(), "seen before the growth, claimed after it")
		for want := 2; want >= 0; want-- {
			require.Equal(t, want, *d.Pop())
		}
	}
}

// A program is a sequence of owner's operations and whole steals, with the steps of one or more slow thieves in
// between. It runs against a slice. A slow thief must claim the oldest item at the time of the claim, and a claim may
// fail only if top has moved or the ring has grown since the thief looked.
type program struct {
	t      *testing.T
	name   func() string
	d      *deque.Deque[int]
	model  []int
	pushed int
	moved  int // counts the operations that make a thief's look out of date
	thief  []thiefState
	won    int
	lost   int
}

type thiefState struct {
	*deque.SlowThief[int]
	step  int // how many steps have been taken; over: finished
	moved int // program.moved when it looked
	item  int
}

const thiefSteps, over = 5, 100

func (p *program) push() {
	before := p.d.Cap()
	p.d.Push(new(p.pushed))
	p.model = append(p.model, p.pushed)
	p.pushed++
	if p.d.Cap() != before {
		p.moved++
	}
}

func (p *program) pop() {
	got := p.d.Pop()
	if len(p.model) == 0 {
		p.check(got == nil, "pop of an empty deque")
		return
	}
	last := len(p.model) - 1
	p.check(got != nil && *got == p.model[last], "pop")
	p.model = p.model[:last]
	if last == 0 {
		p.moved++
	}
}

func (p *program) steal() {
	got, outcome := p.d.Steal()
	if len(p.model) == 0 {
		p.check(outcome == deque.Empty && got == nil, "steal of an empty deque")
		return
	}
	p.check(outcome == deque.Stolen && *got == p.model[0], "steal")
	p.model = p.model[1:]
	p.moved++
}

func (p *program) advance(i int) {
	th := &p.thief[i]
	step := th.step
	th.step++
	switch step {
	case 0:
		th.LookTop()
		th.moved = p.moved
	case 1:
		if !th.LookBottom() {
			p.check(len(p.model) == 0, "the thief found nothing")
			th.step = over
		}
	case 2:
		if !th.Fetch() {
			p.check(p.moved != th.moved, "the thief found another ring")
			th.step = over
			p.lost++
		}
	case 3:
		if !th.Claim() {
			p.check(p.moved != th.moved, "the thief lost to nobody")
			th.step = over
			p.lost++
			return
		}
		p.check(len(p.model) > 0, "the thief claimed an item from an empty deque")
		th.item, p.model = p.model[0], p.model[1:]
		p.moved++
		p.won++
	case 4:
		got := th.Yield()
		p.check(got != nil && *got == th.item, "the thief read something else than it claimed")
	}
}

func (p *program) check(ok bool, what string) {
	if !ok {
		p.t.Helper()
		p.t.Fatalf("%s: %s; model %v", p.name(), what, p.model)
	}
}

// finish lets the thieves go on to their end and empties the deque.
func (p *program) finish() {
	for i := range p.thief {
		for p.thief[i].step < thiefSteps {
			p.advance(i)
		}
	}
	for len(p.model) > 0 {
		p.pop()
	}
	p.pop()
	p.steal()
	p.d.CheckRest()
	p.check(p.d.Occupied() == 0, "an item is left in the ring")
}

func newProgram(t *testing.T, thieves int, start uint64, name func() string) *program {
	p := &program{t: t, name: name, d: deque.NewAt[int](2, start)}
	for range thieves {
		p.thief = append(p.thief, thiefState{SlowThief: deque.NewSlowThief(p.d)})
	}
	return p
}

// TestSlowThief runs every sequence of a number of operations with every placement of a thief's steps among them, on a
// ring of two slots whose indices are about to wrap. With that few slots and that many pushes most programs grow the
// ring under the thief.
func TestSlowThief(t *testing.T) {
	length := 6
	if testkit.Quick() {
		length = 5 // one goroutine: there is nothing for the race detector to see
	}
	programs, won, lost, grown := 0, 0, 0, 0
	tape := make([]byte, length+thiefSteps)
	var run func(at, ops, steps int)
	run = func(at, ops, steps int) {
		if at == len(tape) {
			p := newProgram(t, 1, wrap-3, func() string { return fmt.Sprintf("%s", tape) })
			for _, op := range tape {
				switch op {
				case '+':
					p.push()
				case '-':
					p.pop()
				case '<':
					p.steal()
				default:
					if p.thief[0].step < thiefSteps {
						p.advance(0)
					}
				}
			}
			p.finish()
			programs++
			won += p.won
			lost += p.lost
			grown += p.d.Generation()
			return
		}
		if ops > 0 {
			for _, op := range []byte("+-<") {
				tape[at] = op
				run(at+1, ops-1, steps)
			}
		}
		if steps > 0 {
			tape[at] = 't'
			run(at+1, ops, steps-1)
		}
	}
	run(0, length, thiefSteps)
	t.Logf("%d programs: %d claims, %d lost, %d times grown", programs, won, lost, grown)
	require.Positive(t, won)
	require.Positive(t, lost)
	require.Positive(t, grown)
}

// TestSlowThieves is the same with three thieves and longer programs, sampled.
func TestSlowThieves(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	won, lost, grown := 0, 0, 0
	for n := range testkit.Scale(30000) {
		var tape []byte
		p := newProgram(t, 3, wrap-uint64(rng.IntN(20)),
			func() string { return fmt.Sprintf("program %d: %s", n, tape) })
		pushes := 1 + rng.IntN(6) // of eight operations that are not a thief's
		for range 60 {
			switch r := rng.IntN(16); {
			case r < pushes:
				tape = append(tape, '+')
				p.push()
			case r < 8-(8-pushes)/2:
				tape = append(tape, '-')
				p.pop()
			case r < 8:
				tape = append(tape, '<')
				p.steal()
			default:
				i := r % 3
				tape = append(tape, byte('0'+i))
				if p.thief[i].step >= thiefSteps {
					p.thief[i] = thiefState{SlowThief: deque.NewSlowThief(p.d)}
				}
				p.advance(i)
			}
		}
		p.finish()
		won += p.won
		lost += p.lost
		grown += p.d.Generation()
	}
	t.Logf("%d claims, %d lost, %d times grown", won, lost, grown)
	require.Positive(t, won)
	require.Positive(t, lost)
	require.Positive(t, grown)
}
