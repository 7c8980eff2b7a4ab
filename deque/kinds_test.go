package deque_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A kind describes a kind of deque for the tests of all kinds. make returns one for at least capacity items, whose
// rounds, if it has any, are about to wrap.
type kind struct {
	name string
	make func(capacity int) subject
}

// A subject is one deque.
type subject struct {
	deque.Queue[item]
	occupied func() int
	// fifo and asked are properties of the kind. unordered means that a thief may get a newer item before an older one
	// if there are other thieves.
	fifo, asked, unordered bool
	// receivers are the other members of a group whose owners deal: thieves receive there instead of stealing.
	receivers []*deque.PDQS[item]
	// unseen is the largest number of items that a deque may have while thieves see none, and passed the largest number
	// of older items that may be left when a thief takes one.
	unseen, passed int
	// mayRefuse reports whether a Push may be refused by a deque with held items, if stolen items have been stolen
	// since the owner last found it empty. Nil: no Push is refused.
	mayRefuse func(held, stolen int) bool
	// round returns a number that changes when an operation of the owner may have made a thief lose. Nil: there is no
	// such operation. Owner only.
	round func() uint64
	// bottom returns a number that a Pop does not change if it takes its item at the top. Nil: no Pop does. Owner only.
	bottom func() uint64
}

// variants are the queues of each kind that the tests make.
var variants = map[deque.Kind][]kind{
	deque.KindChaseLev: {{"", func(int) subject { return chaseLev(deque.NewChaseLevAt[item](2, wrap-3)) }}},
	deque.KindABP: {{"", func(capacity int) subject {
		d := deque.NewABPAt[item](capacity, 1<<40-3)
		return subject{Queue: d, occupied: d.Occupied, round: d.Tag,
			mayRefuse: func(held, stolen int) bool { return held+stolen == capacity }}
	}}},
	deque.KindBWoS:     {{"", bwos(0)}, {",block=1", bwos(1)}, {",block=3", bwos(3)}},
	deque.KindBWoSFIFO: {{"", bwosFIFO(0)}, {",block=1", bwosFIFO(1)}, {",block=3", bwosFIFO(3)}},
	deque.KindPadWS: {
		{"", padWS(deque.PadWSConfig{})},
		{",block=1", padWS(deque.PadWSConfig{Entries: 1})},
		{",block=3", padWS(deque.PadWSConfig{Entries: 3, Window: 2})},
	},
	deque.KindADWS: {{"", func(int) subject {
		d := deque.NewADWS[item](0)
		round := func() uint64 { return uint64(d.Len()) }
		return subject{Queue: d, occupied: d.Occupied, unseen: math.MaxInt, round: round}
	}}},
	deque.KindPDQR: {{"", func(int) subject {
		d := deque.NewPDQR[item](0)
		round := func() uint64 { return uint64(d.Len()) }
		return subject{Queue: d, occupied: d.Occupied, unseen: math.MaxInt, round: round}
	}}},
	deque.KindPDQS: {{"", pdqs(2)}},
	deque.KindLocked: {{"", func(capacity int) subject {
		d := deque.NewLocked[item](capacity)
		return subject{Queue: d, occupied: d.Occupied}
	}}},
}

// kinds returns the variants of all kinds. It panics if a kind has none, since no test would run it.
var kinds = func() (all []kind) {
	for _, k := range deque.Kinds() {
		if len(variants[k]) == 0 {
			panic(fmt.Sprintf("the tests have no %v", k))
		}
		for _, v := range variants[k] {
			all = append(all, kind{k.String() + v.name, func(capacity int) subject {
				s := v.make(capacity)
				s.fifo, s.asked = k.FIFO(), k.Asks()
				return s
			}})
		}
	}
	return all
}()

const receivers = 3

// pdqs makes a deque whose owner tries to deal about every mean of its operations.
func pdqs(mean int) func(capacity int) subject {
	return func(int) subject {
		g := deque.NewPDQSGroup[item](1+receivers, 0, mean)
		d := g.Queue(0)
		s := subject{Queue: d, occupied: d.Occupied, unseen: math.MaxInt}
		for i := range receivers {
			s.receivers = append(s.receivers, g.Queue(1+i))
		}
		return s
	}
}

func chaseLev(d *deque.ChaseLev[item]) subject {
	round := func() uint64 { return uint64(d.Generation()) }
	return subject{Queue: d, occupied: d.Occupied, round: round, bottom: d.Bottom}
}

func bwos(size int) func(capacity int) subject {
	return func(capacity int) subject {
		d := deque.NewBWoSAt[item](capacity, size, math.MaxUint64-2)
		blocks, size := d.Blocks()
		return subject{Queue: d, occupied: d.Occupied, round: d.Number, unseen: size,
			mayRefuse: func(held, _ int) bool { return held > (blocks-1)*size }}
	}
}

func bwosFIFO(size int) func(capacity int) subject {
	return func(capacity int) subject {
		d := deque.NewBWoSFIFOAt[item](capacity, size, math.MaxUint64-2)
		blocks, size := d.Blocks()
		return subject{Queue: d, occupied: d.Occupied, unseen: 2 * size, passed: size,
			mayRefuse: func(held, stolen int) bool { return held+stolen >= (blocks-1)*size }}
	}
}

func padWS(c deque.PadWSConfig) func(capacity int) subject {
	return func(capacity int) subject {
		c.Capacity = capacity
		d := deque.NewPadWSAt[item](c, deque.PadEpochs-3)
		blocks, size := d.Blocks()
		return subject{Queue: d, occupied: d.Occupied, unordered: true, unseen: math.MaxInt,
			mayRefuse: func(held, _ int) bool { return held > (blocks-1)*size }}
	}
}

// A pupil is a deque that runs a tape, and a list as its oracle.
type pupil struct {
	subject
	t       *testing.T
	list    []*item
	pushed  int
	stolen  int // since the owner last found the deque empty
	refused int
	batches int
}

// own does an operation of the owner's, and checks that it returns Shown if there is more to steal.
func (p *pupil) own(op func() deque.Effect) deque.Effect {
	length := p.Len()
	effect := op()
	p.check(effect == deque.Shown || p.Len() <= length, "an operation does not tell what has come to be to steal")
	return effect
}

func (p *pupil) push() {
	it := &item{number: p.pushed}
	p.pushed++
	effect := p.own(func() deque.Effect { return p.Push(it) })
	if effect == deque.Refused {
		p.refused++
		p.check(p.mayRefuse != nil && p.mayRefuse(len(p.list), p.stolen), "a push was refused")
		return
	}
	p.list = append(p.list, it)
	p.check(p.unseen > 0 || effect == deque.Shown, "a push that thieves see does not tell")
}

func (p *pupil) pop() bool {
	var it *item
	p.own(func() (effect deque.Effect) {
		it, effect = p.Pop()
		p.check(effect != deque.Refused, "a pop was refused")
		return effect
	})
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
	p.remove(i)
	if len(p.list) == 0 {
		p.stolen = 0
	}
	return true
}

// receive is a thief's wait until the owner deals.
func (p *pupil) receive() bool {
	r := p.receivers[p.stolen%len(p.receivers)]
	for r.Wait(); r.Dealt() == nil && len(p.list) > 0; {
		p.Poll()
	}
	it, outcome := r.Withdraw()
	p.check((it != nil) == (outcome == deque.Stolen), "item and outcome")
	p.check((it != nil) == (len(p.list) > 0), "received")
	if it == nil {
		return false
	}
	p.check(it == p.list[0], "received another than the oldest")
	p.remove(0)
	p.stolen++
	return true
}

func (p *pupil) steal() bool {
	if p.receivers != nil && p.receive() {
		return true
	}
	length := p.Len()
	it, outcome := p.Steal()
	p.check((it != nil) == (outcome == deque.Stolen), "item and outcome")
	p.check(outcome != deque.Lost, "with no other thread there is nobody to lose to")
	p.check((it != nil) == (length > 0), "Len and Steal do not agree")
	p.check(p.asked || outcome != deque.NotReady, "not ready")
	if it == nil {
		p.check(len(p.list) <= p.unseen, "empty")
		p.check(p.receivers != nil || p.Wanted(), "a thief has found nothing and wants nothing")
		return false
	}
	i := slices.Index(p.list, it)
	p.check(0 <= i && i <= p.passed, "steal")
	p.remove(i)
	p.stolen++
	return true
}

// batch steals several items, or one if the kind has no batches.
func (p *pupil) batch() {
	b, ok := p.Queue.(deque.Batcher[item])
	if !ok {
		p.steal()
		return
	}
	length := p.Len()
	into, batch := make([]*item, 1+p.batches%5), deque.Batch(p.batches%3)
	p.batches++
	n, outcome := b.StealBatch(into, batch)
	p.check(outcome != deque.Lost, "with no other thread there is nobody to lose to")
	p.check((n > 0) == (outcome == deque.Stolen) && (n > 0) == (length > 0), "Len and StealBatch do not agree")
	p.check(p.Len() == length-n, "Len after StealBatch")
	p.check(batch != deque.One || n <= 1, "more than one")
	if n == 0 {
		return
	}
	at := slices.Index(p.list, into[0])
	p.check(0 <= at && at <= p.passed, "batch")
	for i, it := range into {
		p.check((it != nil) == (i < n), "another number of items than StealBatch says")
		if it != nil {
			p.check(it == p.list[at], "a batch is not oldest first")
			p.remove(at)
			p.stolen++
		}
	}
}

func (p *pupil) remove(i int) { p.list = slices.Delete(p.list, i, i+1) }

func (p *pupil) poll() {
	effect := p.own(p.Poll)
	p.check(effect != deque.Refused, "a poll was refused")
	p.check(p.unseen > 0 || effect == deque.Nothing, "a poll tells of what the pushes have told")
}

// ask is a thief's Ask before it sleeps, and the owner's answer (L1).
func (p *pupil) ask() {
	found, length := p.Ask(), p.Len()
	p.check(found == (length > 0), "Len and Ask do not agree")
	if found {
		return
	}
	p.check(p.receivers != nil || p.Wanted(), "a thief has found nothing and wants nothing")
	p.poll()
	p.check(!p.asked || p.Ask() == (len(p.list) > 0), "the owner does not answer")
}

func (p *pupil) check(ok bool, what string) {
	if !ok {
		p.t.Helper()
		p.t.Fatalf("%s, with %d items, %d stolen", what, len(p.list), p.stolen)
	}
}

// Operations of a tape. Each byte is one operation, repeated.
const (
	tapePush = iota
	tapePop
	tapeSteal
	tapePoll
	tapeAsk
	tapeBatch
	tapeOps
	again = tapeOps
)

// obey runs a tape.
func (p *pupil) obey(tape []byte) {
	ops := [tapeOps]func(){p.push, func() { p.pop() }, func() { p.steal() }, p.poll, p.ask, p.batch}
	for _, b := range tape {
		for range b/again%12 + 1 {
			ops[b%tapeOps]()
		}
		p.check(p.occupied() == len(p.list), "slots of items that are gone must be empty")
		length := p.Len()
		p.check(length <= len(p.list) && len(p.list)-length <= p.unseen, "Len")
		p.check(length > 0 || p.receivers != nil || p.Wanted(), "there is nothing to steal, and it is not wanted")
		p.check(p.asked || length == 0 || !p.Wanted(), "there is something to steal, and more is wanted")
	}
	for p.pop() {
	}
	p.check(!p.Ask() && p.Len() == 0 && p.occupied() == 0 && !p.steal(), "an item is left")
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

// FuzzKinds is TestKinds with tapes that fuzzing finds. The first byte chooses the kind, the second the capacity.
func FuzzKinds(f *testing.F) {
	for i := range kinds {
		f.Add([]byte{byte(i), 6, tapePush + 11*again, tapePop + 2*again, tapeSteal + 11*again, tapePush,
			tapePop + 11*again, tapePoll,
			tapePush + 11*again, tapePush + 11*again, tapeBatch + 3*again, tapeAsk, tapePop + 11*again,
			tapePop + 11*again})
		f.Add([]byte{byte(i), 0, tapePush + again, tapeSteal, tapePush, tapePop, tapePush, tapeSteal, tapeAsk,
			tapePush, tapePop, tapePop,
			tapePush, tapeAsk, tapePush + 4*again, tapeSteal, tapeBatch + 5*again, tapePush})
	}
	f.Fuzz(func(t *testing.T, tape []byte) {
		if len(tape) < 2 || len(tape) > 2000 {
			return
		}
		p := &pupil{t: t, subject: kinds[int(tape[0])%len(kinds)].make(2 + int(tape[1])%64)}
		p.obey(tape[2:])
	})
}

// TestKindsAllocs: no operation allocates as long as there is room.
func TestKindsAllocs(t *testing.T) {
	for _, k := range kinds {
		d, its := k.make(64), make([]item, 64)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			for i := range its {
				d.Push(&its[i])
			}
			for pop(d.Queue) != nil {
				d.Steal()
			}
		}), k.name)
		require.Zero(t, d.occupied(), k.name)
	}
}

// A nil item, which must not be pushed, comes out as nil. The other items keep their places.
func TestNilItem(t *testing.T) {
	for _, k := range deque.Kinds() {
		t.Run(k.String(), func(t *testing.T) {
			g, err := deque.NewGroup[int](k, 1, deque.Options{})
			require.NoError(t, err)
			q := g.Queue(0)
			items := []int{1, 2, 3}
			for _, p := range []*int{&items[0], nil, &items[1], nil, nil, &items[2]} {
				require.NotEqual(t, deque.Refused, q.Push(p))
			}
			var got []int
			for range 12 {
				if p, _ := q.Steal(); p != nil {
					got = append(got, *p)
				}
				if p := pop(q); p != nil {
					got = append(got, *p)
				}
			}
			require.ElementsMatch(t, items, got)
		})
	}
}
