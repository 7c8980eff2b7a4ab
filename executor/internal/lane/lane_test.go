package lane

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

type item struct{ number int }

// A variant is one way to make the lanes of an executor's workers.
type variant struct {
	Options
	alone bool
}

func (v variant) String() string {
	alone, forks := "shared", "private"
	if v.alone {
		alone = "alone"
	}
	if v.ForksPushed {
		forks = "pushed"
	}
	return fmt.Sprintf("%v/%s/%s/%v", v.Kind, alone, forks, v.Batch)
}

// variants has every kind of deque, alone and shared, with pushed and private forks, and each batch that the kind has.
func variants() (all []variant) {
	for _, k := range deque.Kinds() {
		for _, alone := range []bool{false, true} {
			for _, pushed := range []bool{false, true} {
				for batch := deque.One; batch <= deque.Block && (batch == deque.One || k.Batches()); batch++ {
					all = append(all, variant{Options{Kind: k, ForksPushed: pushed, Batch: batch, Enough: 3}, alone})
				}
			}
		}
	}
	return all
}

// hasBlocks reports whether queues of kind k take a BlockSize.
func hasBlocks(k deque.Kind) bool { return deque.Options{BlockSize: 1}.Check(k) == nil }

// small returns v with small queues, as random chooses: what can overflow does.
func (v variant) small(random func(int) int) variant {
	v.Capacity = 1 + random(8)
	if hasBlocks(v.Kind) {
		v.BlockSize = random(4)
	}
	return v
}

// A pupil is the lane of a worker, with a list that knows what the lane has. A thief may be asleep: it has asked, and
// has not been told since.
type pupil struct {
	t      testing.TB
	v      variant
	maker  *Maker[item]
	l      *Lane[item]
	thief  *Lane[item] // that of the worker that steals
	list   []*item     // the oldest first
	open   bool        // KeepOpen
	asleep bool
	pushed int
	marks  int // what Mark is to be

	shown, refused, stolen int
}

func newPupil(t testing.TB, v variant) *pupil {
	m, err := NewMaker[item](2, v.Options)
	require.NoError(t, err)
	p := &pupil{t: t, v: v, maker: m, l: new(Lane[item]), thief: new(Lane[item])}
	m.Init(p.l, 0, v.alone)
	m.Init(p.thief, 1, false)
	p.rest()
	return p
}

func (p *pupil) check(ok bool, format string, args ...any) {
	if !ok {
		p.t.Helper()
		p.t.Fatalf("%v, capacity %d, blocks of %d: %s", p.v, p.v.Capacity, p.v.BlockSize, fmt.Sprintf(format, args...))
	}
}

// own does an operation of the owner's and acts on its effect. answers says that it is one of those that answer
// requests.
func (p *pupil) own(name string, answers bool, op func() deque.Effect) deque.Effect {
	asleep := p.asleep
	effect := op()
	if effect == deque.Shown {
		p.shown++
		p.asleep = false
		p.check(p.v.Kind.Hides() || len(p.list) > 0, "%s shows an empty lane", name)
	}
	p.check(!p.asleep || p.l.Len() == 0, "%s does not tell a thief that sleeps of %d items", name, p.l.Len())
	if asleep && answers && p.v.Kind.Asks() && len(p.list) > 0 {
		p.check(effect == deque.Shown, "%s does not answer a request (L1)", name)
	}
	p.rest()
	return effect
}

// rest checks what holds after each operation.
func (p *pupil) rest() {
	l := p.l
	p.check(l.Mark() == uint64(p.marks), "the mark is %d, want %d", l.Mark(), p.marks)
	p.check(l.Len() <= len(p.list), "thieves see %d of %d items", l.Len(), len(p.list))
	p.check(l.IsAlone() == p.v.alone, "alone")
	p.check(!p.v.PushesForks() || l.Demand(), "forks are pushed, and there is no demand")
	p.check(!p.asleep || !p.v.Kind.Asks() || l.Demand(), "a thief has asked, and there is no demand (L1)")
	switch {
	case p.v.alone && !p.v.Kind.FIFO():
		p.check(l.Len() == 0, "thieves see %d items of a worker that is alone", l.Len())
	case !p.v.Kind.Hides():
		p.check(l.Len() == len(p.list), "thieves see %d of %d items", l.Len(), len(p.list))
	}
}

func (p *pupil) push() deque.Effect {
	it := &item{p.pushed}
	p.pushed++
	effect := p.own("a push", true, func() deque.Effect {
		effect := p.l.Push(it)
		if effect != deque.Refused {
			p.list = append(p.list, it)
			p.marks++
		}
		return effect
	})
	if effect == deque.Refused {
		p.refused++
		p.check(p.v.Kind.FIFO(), "a push was refused")
	}
	if !p.v.alone && !p.v.Kind.Hides() {
		p.check(effect == deque.Shown, "a push that thieves see tells %v", effect)
	}
	if !p.v.alone && p.open && !p.v.Kind.FIFO() {
		p.check(effect == deque.Shown && p.l.Len() == len(p.list), "an open lane hides something")
	}
	return effect
}

func (p *pupil) pop() *item {
	var it *item
	p.own("a pop", true, func() (effect deque.Effect) {
		it, effect = p.l.Pop(0)
		p.check(effect != deque.Refused, "a pop was refused")
		if len(p.list) == 0 {
			p.check(it == nil, "popped from an empty lane")
			return effect
		}
		i := len(p.list) - 1
		if p.v.Kind.FIFO() {
			i = 0
		}
		p.check(it == p.list[i], "popped %v, want %v", it, p.list[i])
		p.remove(i)
		p.marks--
		return effect
	})
	return it
}

func (p *pupil) remove(i int) { p.list = slices.Delete(p.list, i, i+1) }

func (p *pupil) poll() {
	effect := p.own("a poll", true, p.l.Poll)
	p.check(effect != deque.Refused, "a poll was refused")
}

func (p *pupil) expose() {
	effect := p.own("an exposure", false, p.l.Expose)
	want := deque.Nothing
	switch {
	case !p.v.Kind.Hides() || p.v.alone:
	case p.v.Kind.FIFO():
		want = deque.Refused
	default:
		p.check(p.l.Len() == len(p.list), "after Expose thieves see %d of %d items", p.l.Len(), len(p.list))
		if len(p.list) > 0 {
			want = deque.Shown
		}
	}
	p.check(effect == want, "Expose tells %v, want %v", effect, want)
}

func (p *pupil) keepOpen(open bool) {
	p.l.KeepOpen(open)
	p.open = open && p.v.Kind.Hides() && (!p.v.alone || p.v.Kind.FIFO())
	p.rest()
}

func (p *pupil) share() {
	if !p.v.alone {
		return
	}
	p.l.Share(p.maker.Enough())
	p.v.alone = false
	p.rest()
	if !p.v.Kind.FIFO() {
		p.check(p.l.Len() == len(p.list), "after Share thieves see %d of %d items", p.l.Len(), len(p.list))
	}
	if !p.v.Kind.Asks() && p.l.Len() == 0 {
		p.check(p.l.Demand(), "after Share there is nothing to steal and no demand")
	}
}

// take takes an item out of the list that a thief has, and returns where it was.
func (p *pupil) take(it *item) (at int) {
	at = slices.Index(p.list, it)
	p.check(at >= 0, "stolen what is not there")
	p.remove(at)
	p.stolen++
	return at
}

// steal is a steal of one item, or as many as the thief's lane is made for.
func (p *pupil) steal(many bool) {
	if p.v.alone {
		return
	}
	length, wasOpen := p.l.Len(), !p.l.open.IsEmpty()
	var first *item
	var rest []*item
	var outcome deque.Outcome
	if many {
		first, rest, outcome = p.thief.StealFrom(p.l)
	} else {
		first, outcome = p.l.Steal()
	}
	p.check((first != nil) == (outcome == deque.Stolen), "item and outcome %v", outcome)
	p.check((first != nil) == (length > 0), "of %d items a steal is %v", length, outcome)
	p.check(outcome != deque.Lost, "a steal was lost, and there is no other thread")
	p.check(len(rest) < max(1, length), "%d more of %d", len(rest), length)
	p.check(p.v.Batch != deque.One && many && !wasOpen || rest == nil, "a steal of one item took %d more", len(rest))
	if first != nil {
		at := p.take(first)
		p.check(at == 0 || p.v.Kind.Hides() && !wasOpen, "stolen the item at %d", at)
		oldest := slices.Clone(rest)
		if !p.v.Kind.FIFO() {
			slices.Reverse(oldest)
		}
		for _, it := range oldest {
			p.check(p.take(it) == at, "a batch is not in the owner's order")
		}
		clear(rest)
	}
	if !p.v.PushesForks() && p.l.Len() == 0 && (first != nil || p.v.Kind.Asks()) {
		p.check(p.l.Demand(), "a steal has left nothing, and there is no demand")
	}
	p.rest()
}

// ask is a thief that looks a last time and, if there is nothing, sleeps.
func (p *pupil) ask() {
	length := p.l.Len()
	found := p.l.Ask()
	p.check(found == (length > 0), "of %d items Ask says %v", length, found)
	if !found && !p.v.alone {
		p.asleep = true
	}
	if !found && p.v.Kind.Asks() {
		p.check(p.l.Demand(), "a thief has asked, and there is no demand")
	}
	p.rest()
}

// answer is the owner's publication of n forks.
func (p *pupil) answer(n int) {
	p.l.Answer()
	p.check(p.l.Demand() == p.v.PushesForks(), "after Answer there is demand: %v", p.l.Demand())
	asleep := p.asleep
	p.asleep = false // there may be no demand before Answered
	for range n {
		p.push()
	}
	if p.asleep = asleep && p.l.Len() == 0; p.asleep && n > 0 && p.v.Kind.Asks() {
		p.check(p.v.alone, "forks pushed, and the thief that asked sees nothing (L1)")
	}
	p.l.Answered()
	p.rest()
}

func (p *pupil) noteEmpty() {
	p.l.NoteEmpty()
	if p.l.Len() == 0 && !p.v.alone && !p.v.Kind.Asks() {
		p.check(p.l.Demand(), "there is nothing to steal and no demand")
	}
	p.check(!p.l.IsWanted() || p.l.Demand(), "wanted without demand")
	p.rest()
}

// finish pops what is left.
func (p *pupil) finish() {
	for p.pop() != nil {
	}
	p.check(len(p.list) == 0, "%d items are lost", len(p.list))
	p.check(p.l.Len() == 0 && !p.l.Ask(), "thieves see something in an empty lane")
}

// A script is a list of operations, taken one after the other.
const (
	opPush = iota
	opPushMany
	opPop
	opPopMany
	opPoll
	opExpose
	opKeepOpen
	opClose
	opShare
	opSteal
	opStealMany
	opAsk
	opAnswer
	opNoteEmpty
	ops
)

func (p *pupil) do(op, n int) {
	switch op {
	case opPush:
		p.push()
	case opPushMany:
		for range n {
			p.push()
		}
	case opPop:
		p.pop()
	case opPopMany:
		for range n {
			p.pop()
		}
	case opPoll:
		p.poll()
	case opExpose:
		p.expose()
	case opKeepOpen, opClose:
		p.keepOpen(op == opKeepOpen)
	case opShare:
		p.share()
	case opSteal, opStealMany:
		p.steal(op == opStealMany)
	case opAsk:
		p.ask()
	case opAnswer:
		p.answer(n)
	case opNoteEmpty:
		p.noteEmpty()
	}
}

// TestRandom: whatever owner and thieves do, each item comes out once, in the order that the lane promises, and a
// thief that sleeps is told whenever it could see something.
func TestRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) {
			shown, refused, stolen := 0, 0, 0
			seen := func() bool { return shown > 0 && stolen > 0 && (refused > 0 || !v.Kind.FIFO()) }
			for i := 0; i < testkit.Scale(150) || !seen() && i < 1000; i++ {
				p := newPupil(t, v.small(rng.IntN))
				for range rng.IntN(80) {
					p.do(rng.IntN(ops), rng.IntN(8))
				}
				p.finish()
				shown, refused, stolen = shown+p.shown, refused+p.refused, stolen+p.stolen
			}
			require.True(t, seen(), "%d operations have shown something, %d refused, %d items stolen", shown, refused, stolen)
		})
	}
}

// TestOrder: the owner gets back all that it pushes, the newest first, or the oldest of a first-in-first-out lane,
// however much more than a queue has room for it is.
func TestOrder(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 10, 100} {
				v.Capacity = 4
				p := newPupil(t, v)
				for range n {
					p.push()
				}
				if !v.Kind.FIFO() {
					require.Len(t, p.list, n)
				}
				p.finish()
			}
		})
	}
}

// TestRefused: a first-in-first-out lane that is full refuses, and keeps what it has in its order.
func TestRefused(t *testing.T) {
	for _, v := range variants() {
		if !v.Kind.FIFO() {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			v.Capacity, v.BlockSize = 4, 1
			p := newPupil(t, v)
			for p.refused < 3 {
				p.push()
			}
			held := len(p.list)
			require.GreaterOrEqual(t, held, 3)
			for p.pop(); p.push() == deque.Refused; p.pop() {
			}
			p.finish()
			for range held {
				require.NotEqual(t, deque.Refused, p.push(), "an empty lane has no room")
			}
			p.finish()
		})
	}
}

// TestMark: the mark changes with each push and goes back with the pops, so that a worker knows what it has pushed
// since.
func TestMark(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) {
			p := newPupil(t, v)
			p.push()
			before := p.l.Mark()
			for range 3 {
				at := p.l.Mark()
				p.push()
				require.NotEqual(t, at, p.l.Mark())
			}
			for range 3 {
				require.NotEqual(t, before, p.l.Mark())
				p.pop()
			}
			require.Equal(t, before, p.l.Mark())
			p.pop()
			require.Nil(t, p.pop())
			require.Equal(t, before-1, p.l.Mark(), "nothing was popped")
		})
	}
}

// TestShare: what a worker has pushed while it was alone is to steal when the time ends, the oldest first, and the
// worker goes on with what is left.
func TestShare(t *testing.T) {
	for _, v := range variants() {
		if !v.alone {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			for n := range 8 {
				v.Capacity = 4
				if hasBlocks(v.Kind) {
					v.BlockSize = 1
				}
				p := newPupil(t, v)
				for range n {
					p.push()
				}
				p.ask()
				p.share()
				require.False(t, p.l.IsAlone())
				require.Equal(t, v.Kind == deque.KindChaseLev, p.l.IsDirect())
				for range n / 2 {
					p.steal(n%2 == 0)
				}
				p.push()
				p.ask()
				p.poll()
				p.finish()
			}
		})
	}
}

// TestExpose: an owner that will not answer has nothing that thieves do not see, or is told that it must give it away.
func TestExpose(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) {
			p := newPupil(t, v)
			p.expose()
			for n := range 5 {
				for range n {
					p.push()
				}
				p.ask()
				p.expose()
				if v.alone || v.Kind.FIFO() {
					continue
				}
				for range n {
					p.steal(false)
				}
				require.Empty(t, p.list, "exposed, and not to steal")
			}
			p.finish()
		})
	}
}

// TestKeepOpen: while a lane is kept open thieves see each item that is pushed, and those that were hidden before.
func TestKeepOpen(t *testing.T) {
	for _, v := range variants() {
		if v.alone || v.Kind.FIFO() {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			p := newPupil(t, v)
			p.push()
			p.keepOpen(true)
			p.ask()
			for range 5 {
				require.Equal(t, deque.Shown, p.push())
				require.Equal(t, len(p.list), p.l.Len())
				p.pop()
				p.push()
			}
			p.keepOpen(false)
			p.push()
			p.finish()
		})
	}
	for _, v := range variants() {
		if !v.Kind.FIFO() || !v.Kind.Hides() {
			continue
		}
		p := newPupil(t, v)
		p.keepOpen(true)
		require.Equal(t, deque.Refused, p.push(), "what is pushed would be hidden")
		p.keepOpen(false)
		require.NotEqual(t, deque.Refused, p.push())
		p.finish()
	}
}

// TestBatches: a thief takes several items at once where it is made for that, and goes on with the oldest.
func TestBatches(t *testing.T) {
	for _, v := range variants() {
		if v.alone || v.Batch == deque.One {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			v.Capacity = 32
			if hasBlocks(v.Kind) {
				v.BlockSize = 4
			}
			p := newPupil(t, v)
			for range 16 {
				p.push()
			}
			p.ask()
			p.poll()
			var first *item
			var rest []*item
			for range 4 { // of kinds that are asked the first has one item
				if f, r, _ := p.thief.StealFrom(p.l); len(r) > 0 {
					first, rest = f, r
					break
				}
				p.l.Poll()
			}
			require.NotEmpty(t, rest)
			for _, it := range rest {
				require.NotEqual(t, deque.Refused, p.thief.Push(it))
			}
			clear(rest)
			last := first.number
			for range rest {
				it, _ := p.thief.Pop(0)
				require.Greater(t, it.number, last, "the oldest is to be run first")
				last = it.number
			}
		})
	}
}

// TestDemand: the owner of private forks sees demand as soon as thieves have left nothing, or have asked, until it
// answers.
func TestDemand(t *testing.T) {
	for _, v := range variants() {
		if v.alone || v.PushesForks() {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			p := newPupil(t, v)
			l := p.l
			require.False(t, l.Demand(), "nobody has been here")
			require.False(t, l.IsWanted())
			p.noteEmpty()
			require.Equal(t, !v.Kind.Asks(), l.Demand())
			p.ask()
			if v.Kind.Asks() {
				require.True(t, l.Demand())
				require.True(t, l.IsWanted())
			}
			p.answer(2)
			require.False(t, l.Demand(), "the thief has been answered")
			require.False(t, l.IsWanted())
			p.steal(false)
			require.Equal(t, v.Kind.Asks() || l.Len() == 0, l.Demand())
			p.steal(false)
			require.True(t, l.Demand(), "there is nothing to steal")
			p.answer(0)
			require.Equal(t, v.Kind.Asks(), l.Demand(), "Answered clears a request that stands")
			p.noteEmpty()
			p.finish()
		})
	}
}

// TestDemandOfPushedForks: where each fork is shown at once there is always demand, and IsWanted tells whether
// thieves could do with an item.
func TestDemandOfPushedForks(t *testing.T) {
	for _, v := range variants() {
		if v.alone || !v.PushesForks() {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			p := newPupil(t, v)
			require.True(t, p.l.Demand())
			p.answer(0)
			require.True(t, p.l.Demand())
			require.True(t, p.l.IsWanted())
			p.push()
			p.expose()
			if !v.Kind.FIFO() {
				require.False(t, p.l.IsWanted(), "there is something to steal")
			}
			p.finish()
		})
	}
}

// TestFew: a fork stays private only while there are enough items to steal.
func TestFew(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) {
			p := newPupil(t, v)
			if v.alone {
				require.False(t, p.l.HasFew(), "nobody steals")
				p.share()
			}
			asked := v.Kind.Asks() && !v.PushesForks()
			require.Equal(t, !asked, p.l.HasFew(), "forks wait for a request where thieves ask")
			for range 20 {
				if p.l.HasFew() {
					require.True(t, p.l.MayHaveFew(), "sure, and not even likely")
				}
				p.push()
			}
			p.expose()
			if !v.Kind.FIFO() {
				require.False(t, p.l.HasFew())
			}
		})
	}
}

// TestTraits: a lane tells of its kind what the executor goes by.
func TestTraits(t *testing.T) {
	for _, v := range variants() {
		p := newPupil(t, v)
		require.Equal(t, v.Kind.Hides(), p.l.Hides())
		require.Equal(t, v.Kind.FIFO(), p.l.IsFIFO())
		require.Equal(t, v.Kind.Receives(), p.l.CanReceive())
		require.Equal(t, v.Kind.Asks() || v.Kind.Receives(), p.l.IsPolled())
		require.False(t, p.l.KeepsForks())
		require.Equal(t, !v.alone && v.Kind == deque.KindChaseLev, p.l.IsDirect())
		if v.Kind.Hides() && !v.Kind.Asks() {
			require.True(t, v.PushesForks(), "a fork would stay hidden, and no thief would cause another to be pushed")
		}
	}
}

// TestMaker: options that queues refuse are an error.
func TestMaker(t *testing.T) {
	_, err := NewMaker[item](1, Options{Kind: deque.KindABP, Capacity: -1})
	require.Error(t, err)
	_, err = NewMaker[item](1, Options{Kind: deque.Kind(len(deque.Kinds()))})
	require.Error(t, err)
	for _, k := range deque.Kinds() {
		m, err := NewMaker[item](1, Options{Kind: k, Enough: 5})
		require.NoError(t, err)
		require.Equal(t, k.Asks(), m.Enough() == 0, "where thieves ask, forks wait for that")
	}
}

// TestShuffled: an inline worker's lane gives back each item once, in an order that is the seed's, and from a mark on
// only what was pushed there.
func TestShuffled(t *testing.T) {
	order := func(seed uint64) (numbers []int) {
		var l Lane[item]
		l.InitShuffled(seed)
		require.True(t, l.IsAlone() && l.KeepsForks() && !l.IsDirect() && !l.IsPolled())
		for i := range 5 {
			require.Equal(t, deque.Nothing, l.Push(&item{i}))
		}
		mark := l.Mark()
		for i := range 10 {
			l.Push(&item{5 + i})
		}
		seen := make(map[int]bool)
		take := func(limit uint64, n, from int) {
			for range n {
				it, effect := l.Pop(limit)
				require.NotNil(t, it)
				require.Equal(t, deque.Nothing, effect)
				require.False(t, seen[it.number], "popped twice")
				require.GreaterOrEqual(t, it.number, from, "popped what lies below the limit")
				seen[it.number] = true
				numbers = append(numbers, it.number)
			}
			it, _ := l.Pop(limit)
			require.Nil(t, it)
			require.Equal(t, limit, l.Mark())
		}
		take(mark, 10, 5)
		require.Equal(t, deque.Nothing, max(l.Poll(), l.Expose()))
		require.Zero(t, l.Len())
		require.False(t, l.Ask())
		take(0, 5, 0)
		return numbers
	}
	first, orders := make(map[int]bool), make(map[string]bool)
	for seed := range uint64(200) {
		numbers := order(seed)
		require.Equal(t, numbers, order(seed), "another order with the same seed")
		first[numbers[0]] = true
		orders[fmt.Sprint(numbers)] = true
	}
	require.Len(t, first, 10, "some item never comes first")
	require.Greater(t, len(orders), 190)
}
