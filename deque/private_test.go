package deque_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A privateProgram has the expected items of a private deque, oldest first: those pushed that have not come out.
type privateProgram struct {
	t      *testing.T
	keep   int
	list   []int
	pushed int
}

func (p *privateProgram) push(d deque.Queue[int]) {
	require.NotEqual(p.t, deque.Refused, d.Push(new(p.pushed)))
	p.list = append(p.list, p.pushed)
	p.pushed++
}

// pop: the owner has the newest of all, since thieves and the mailbox have older ones.
func (p *privateProgram) pop(d deque.Queue[int]) {
	got := pop(d)
	if got == nil {
		require.Empty(p.t, p.list)
	} else {
		require.Equal(p.t, p.list[len(p.list)-1], *got)
		p.list = p.list[:len(p.list)-1]
	}
}

func (p *privateProgram) poll(d deque.Queue[int]) {
	if d.Poll() == deque.Shown {
		require.NotZero(p.t, p.pushed)
	}
	require.Equal(p.t, deque.Nothing, d.Poll(), "told twice")
}

func (p *privateProgram) look(d deque.Queue[int]) {
	require.LessOrEqual(p.t, d.Len(), len(p.list))
	if d.Len() > 0 {
		require.False(p.t, d.Wanted())
	}
}

// stolen notes the end of a steal: it gets the oldest.
func (p *privateProgram) stolen(got *int, outcome deque.Outcome) {
	require.Equal(p.t, outcome == deque.Stolen, got != nil)
	if got != nil {
		require.Equal(p.t, p.list[0], *got)
		p.list = slices.Delete(p.list, 0, 1)
	}
}

func (p *privateProgram) finish(d deque.Queue[int]) {
	for len(p.list) > 0 {
		p.pop(d)
	}
	p.pop(d)
}

// TestPrivate: with one thread a private deque does what a list does. Now and then many items are pushed, so that it
// grows, and many are stolen, so that it moves items instead.
func TestPrivate(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	stolen := 0
	for range testkit.Scale(500) {
		p := &privateProgram{t: t, keep: rng.IntN(3)}
		d := deque.NewPDQR[int](p.keep)
		for range rng.IntN(60) {
			op := rng.IntN(4)
			for range 1 + rng.IntN(1<<rng.IntN(6)) {
				switch op {
				case 0:
					p.push(d)
				case 1:
					p.pop(d)
				default:
					d.Ask()
					p.poll(d)
					got, outcome := d.Steal()
					p.stolen(got, outcome)
					if got != nil {
						stolen++
					}
				}
			}
			p.look(d)
		}
		p.finish(d)
	}
	require.Positive(t, stolen)
}

// TestPrivateRetention: a deque that moves its items to the beginning of its slice leaves none behind.
func TestPrivateRetention(t *testing.T) {
	d := deque.NewPDQR[heavy](0)
	var pointers []weak.Pointer[heavy]
	moved := false
	for range 64 {
		for range 2 {
			p := new(heavy)
			pointers = append(pointers, weak.Make(p))
			before := d.First()
			d.Push(p)
			moved = moved || d.First() < before
		}
		for range 2 {
			d.Ask()
			d.Poll()
			d.Steal()
		}
		if d.Private() < 4 {
			p := new(heavy)
			pointers = append(pointers, weak.Make(p))
			d.Push(p)
		}
	}
	require.True(t, moved)
	for pop(d) != nil {
	}
	requireCollected(t, pointers, true)
	runtime.KeepAlive(d)
}
