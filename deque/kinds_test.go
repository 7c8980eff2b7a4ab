package deque_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A kind of deque, as the tests of all kinds see it. Its make returns one for at least capacity items, whose rounds, where
// there are such, are about to wrap.
type kind struct {
	name string
	make func(capacity int) subject
}

// A subject is one deque.
type subject struct {
	ends
	occupied func() int
	// fifo says that the owner, too, takes the oldest item.
	fifo bool
	// unseen is how many items a deque may have of which thieves see none, and passed how many older ones may be there when
	// they take one.
	unseen, passed int
	// mayRefuse reports whether a Push may be refused by a deque with held items, of which stolen have been stolen since the
	// owner last found it empty. Nil: no Push is.
	mayRefuse func(held, stolen int) bool
	// round tells, by another number than before, that an operation of the owner may have made a thief lose; bottom, by the
	// same number as before, that a Pop took its item at the top. Nil: there is no such operation. Owner only.
	round, bottom func() uint64
	// length is about the number of items. Nil: there is no such function.
	length func() int
}

type ends interface {
	Push(*item) bool
	Pop() *item
	Steal() (*item, deque.Outcome)
	IsEmpty() bool
}

// unbounded makes ends of a kind that takes everything.
type unbounded struct{ growable }

type growable interface {
	Push(*item)
	Pop() *item
	Steal() (*item, deque.Outcome)
	IsEmpty() bool
}

func (u unbounded) Push(it *item) bool {
	u.growable.Push(it)
	return true
}

var kinds = []kind{
	{"chaselev", func(int) subject { return chaseLev(deque.NewAt[item](2, wrap-3)) }},
	{"locked", func(capacity int) subject {
		d := deque.NewLocked[item](capacity)
		return subject{ends: d, occupied: d.Occupied, length: d.Len}
	}},
	{"abp", func(capacity int) subject {
		d := deque.NewABPAt[item](capacity, 1<<40-3)
		return subject{ends: d, occupied: d.Occupied, round: d.Tag, length: d.Len,
			mayRefuse: func(held, stolen int) bool { return held+stolen == capacity }}
	}},
	{"bwos", bwos(0)},
	{"bwos,block=1", bwos(1)},
	{"bwos,block=3", bwos(3)},
	{"bwosfifo", bwosFIFO(0)},
	{"bwosfifo,block=1", bwosFIFO(1)},
	{"bwosfifo,block=3", bwosFIFO(3)},
}

func chaseLev(d *deque.Deque[item]) subject {
	return subject{ends: unbounded{d}, occupied: d.Occupied, length: d.Len,
		round: func() uint64 { return uint64(d.Generation()) }, bottom: d.Bottom}
}

func bwos(size int) func(capacity int) subject {
	return func(capacity int) subject {
		d := deque.NewBWoSAt[item](capacity, size, math.MaxUint64-2)
		blocks, size := d.Blocks()
		return subject{ends: d, occupied: d.Occupied, round: d.Number, unseen: size,
			mayRefuse: func(held, _ int) bool { return held > (blocks-1)*size }}
	}
}

func bwosFIFO(size int) func(capacity int) subject {
	return func(capacity int) subject {
		d := deque.NewBWoSFIFOAt[item](capacity, size, math.MaxUint64-2)
		blocks, size := d.Blocks()
		return subject{ends: d, occupied: d.Occupied, fifo: true, unseen: 2 * size, passed: size,
			mayRefuse: func(held, stolen int) bool { return held+stolen >= (blocks-1)*size }}
	}
}

// A pupil is a deque that is told what to do, and a list that knows what the answer should be.
type pupil struct {
	subject
	t       *testing.T
	list    []*item
	pushed  int
	stolen  int // since the owner last found the deque empty
	refused int
}

func (p *pupil) push() {
	it := &item{number: p.pushed}
	p.pushed++
	if p.Push(it) {
		p.list = append(p.list, it)
		return
	}
	p.refused++
	p.check(p.mayRefuse != nil && p.mayRefuse(len(p.list), p.stolen), "a push was refused")
}

func (p *pupil) pop() bool {
	it := p.Pop()
	if len(p.list) == 0 {
		p.check(it == nil, "popped from an empty deque")
		p.stolen = 0
		return false
	}
	i := len(p.list) - 1
	if p.fifo {
		i = 0
	}
	p.check(it == p.list[i], "pop")
	p.list = slices.Delete(p.list, i, i+1)
	if len(p.list) == 0 {
		p.stolen = 0
	}
	return true
}

func (p *pupil) steal() bool {
	it, outcome := p.Steal()
	p.check((it != nil) == (outcome == deque.Stolen), "item and outcome")
	p.check(outcome != deque.Lost, "with no other thread there is nobody to lose to")
	if outcome == deque.Empty {
		p.check(len(p.list) <= p.unseen, "empty")
		return false
	}
	i := slices.Index(p.list, it)
	p.check(0 <= i && i <= p.passed, "steal")
	p.list = slices.Delete(p.list, i, i+1)
	p.stolen++
	return true
}

func (p *pupil) check(ok bool, what string) {
	if !ok {
		p.t.Helper()
		p.t.Fatalf("%s, with %d items, %d stolen", what, len(p.list), p.stolen)
	}
}

// obey runs a tape of bytes, each of them several pushes, pops or steals.
func (p *pupil) obey(tape []byte) {
	for _, b := range tape {
		op := [...]func(){p.push, func() { p.pop() }, func() { p.steal() }}[b%3]
		for range b/3%12 + 1 {
			op()
		}
		p.check(p.occupied() == len(p.list), "slots of items that are gone must be empty")
		empty := p.IsEmpty()
		p.check(!empty || len(p.list) <= p.unseen, "IsEmpty")
		p.check(empty || len(p.list) > 0, "not IsEmpty")
	}
	for p.pop() {
	}
	p.check(p.IsEmpty() && p.occupied() == 0 && !p.steal(), "an item is left")
}

// TestKinds: with one thread, each kind does what a list does.
func TestKinds(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
			refused := 0
			for range testkit.Scale(2000) {
				p := &pupil{t: t, subject: k.make(2 + rng.IntN(40))}
				tape := make([]byte, rng.IntN(60))
				for i := range tape {
					tape[i] = byte(rng.Uint32())
				}
				p.obey(tape)
				refused += p.refused
			}
			require.Equal(t, k.make(8).mayRefuse != nil, refused > 0, "%d refused", refused)
		})
	}
}

// FuzzKinds is the same with tapes that fuzzing finds. The first byte chooses the kind, the second the capacity.
func FuzzKinds(f *testing.F) {
	for i := range kinds {
		f.Add([]byte{byte(i), 6, 33, 7, 35, 0, 34, 33, 33, 35, 35, 34, 34})
		f.Add([]byte{byte(i), 0, 3, 2, 0, 1, 0, 2, 0, 1, 1, 0, 0, 2, 2, 0})
	}
	f.Fuzz(func(t *testing.T, tape []byte) {
		if len(tape) < 2 || len(tape) > 2000 {
			return
		}
		p := &pupil{t: t, subject: kinds[int(tape[0])%len(kinds)].make(2 + int(tape[1])%64)}
		p.obey(tape[2:])
	})
}

// TestKindsAllocs: nothing is allocated as long as there is room.
func TestKindsAllocs(t *testing.T) {
	for _, k := range kinds {
		d, its := k.make(64), make([]item, 64)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			for i := range its {
				d.Push(&its[i])
			}
			for d.Pop() != nil {
				d.Steal()
			}
		}), k.name)
		require.Zero(t, d.occupied(), k.name)
	}
}
