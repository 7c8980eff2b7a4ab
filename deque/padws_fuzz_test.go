package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

// FuzzPadWS runs a tape of bytes against a slice. The first bytes choose sizes and where epochs start; each of the
// others is an operation: several pushes, pops or steals, a poll, or one step of a thief that is suspended in between.
func FuzzPadWS(f *testing.F) {
	const push, pop, poll, steal, a, b = 0, 2, 3, 4, 6, 7
	const again = 1 << 5
	f.Add([]byte{0, 0, push, steal, poll, steal, pop})
	f.Add([]byte{0x12, 0, push + 7*again, steal + 3*again, push + 7*again, pop + 7*again, steal, pop})
	f.Add([]byte{0x00, 9, steal, push, a, a, a, a, a, pop, push, push, push, a, a}) // copying
	// a claim after a revocation
	f.Add([]byte{0x00, 1, steal, push, a, a, a, a, pop, push, a})
	// exhausted above
	f.Add([]byte{0x10, 0, a, a, steal, push, steal, push, steal, push + 2*again, a, a, a, a, a, pop})
	f.Add([]byte{0x01, 2, push + 4*again, a, b, a, b, a, b, a, b, pop + 3*again, a, b, a, b, a, b, pop}) // takeover
	f.Fuzz(func(t *testing.T, tape []byte) {
		if len(tape) < 2 || len(tape) > 500 {
			return
		}
		config := deque.PadWSConfig{
			Entries: 1 + int(tape[0]&3), Blocks: 2 + int(tape[0]>>4&3), Window: 1 + int(tape[0]>>2&3),
			Keep: int(tape[0] >> 6 & 1),
		}
		p := newPadProgram(t, config, deque.PadEpochs-uint64(tape[1]&15))
		for _, op := range tape[2:] {
			for range int(op>>5) + 1 {
				switch op & 7 {
				case 0, 1:
					p.push()
				case 2:
					p.pop()
				case 3:
					p.d.Poll()
				case 4, 5:
					p.steal(p.d.Steal())
				default:
					p.step(int(op&7) - 6)
				}
				p.d.CheckRest()
			}
		}
		p.finish()
	})
}

// A padProgram is a PadWS, two suspended thieves, and the expected items.
type padProgram struct {
	t       *testing.T
	d       *deque.PadWS[int]
	thieves [2]*deque.SlowPadThief[int]
	inside  []int // in the order of the pushes, with those that a suspended thief has claimed
	next    int
}

func newPadProgram(t *testing.T, c deque.PadWSConfig, epoch uint64) *padProgram {
	d := deque.NewPadWSAt[int](c, epoch)
	return &padProgram{t: t, d: d,
		thieves: [2]*deque.SlowPadThief[int]{deque.NewSlowPadThief(d), deque.NewSlowPadThief(d)}}
}

func (p *padProgram) claimed() (n int) {
	for _, th := range p.thieves {
		if th.Claimed() {
			n++
		}
	}
	return n
}

func (p *padProgram) push() {
	before := p.d.Counts()
	if p.d.Push(new(p.next)) != deque.Refused {
		p.inside = append(p.inside, p.next)
		p.next++
		return
	}
	after := p.d.Counts()
	switch {
	case after.NoRoom == before.NoRoom+1:
		require.Greater(p.t, len(p.inside), p.claimed(), "no room, says Push, and the oldest block is exhausted")
	case after.Copying == before.Copying+1:
		require.Positive(p.t, p.claimed(), "nobody is copying")
	default:
		require.Fail(p.t, "Push has failed and not counted why")
	}
}

func (p *padProgram) pop() {
	got := pop(p.d)
	if got == nil {
		require.Equal(p.t, p.claimed(), len(p.inside), "Pop says that there is nothing")
		return
	}
	p.remove(*got, true)
}

func (p *padProgram) steal(got *int, outcome deque.Outcome) {
	require.Equal(p.t, outcome == deque.Stolen, got != nil)
	switch {
	case got != nil:
		p.remove(*got, false)
	case outcome != deque.Lost:
		require.Positive(p.t, p.d.Asked(), "no request stands")
	}
}

func (p *padProgram) step(id int) {
	if got, outcome, over := p.thieves[id].Step(); over {
		p.steal(got, outcome)
	}
}

// remove removes an item from the model. The owner pops the newest item that no thief has claimed.
func (p *padProgram) remove(item int, popped bool) {
	for i := len(p.inside) - 1; i >= 0; i-- {
		if p.inside[i] == item {
			if popped {
				require.LessOrEqual(p.t, len(p.inside)-1-i, p.claimed(), "popped item %d of %v", item, p.inside)
			}
			p.inside = append(p.inside[:i], p.inside[i+1:]...)
			return
		}
	}
	require.Fail(p.t, "an item came out that is not there", "item %d of %v", item, p.inside)
}

func (p *padProgram) finish() {
	for id, th := range p.thieves {
		for th.Claimed() {
			p.step(id)
		}
	}
	for len(p.inside) > 0 {
		p.pop()
	}
	p.pop()
	require.Zero(p.t, p.d.Occupied())
}
