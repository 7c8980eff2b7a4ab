package lane

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

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
				if v.Kind.Blocks() {
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
			if v.Kind.Blocks() {
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

// TestSlack: a lane has the slack that its owner has set whenever there is no demand.
func TestSlack(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) {
			l := newPupil(t, v).l
			l.Answer()
			if v.PushesForks() {
				l.SetSlack(7)
				require.Zero(t, l.Slack())
				return
			}
			require.Equal(t, uintptr(1), l.Slack())
			l.SetSlack(7)
			require.Equal(t, uintptr(7), l.Slack())
			l.Want()
			require.Zero(t, l.Slack())
			l.SetSlack(9)
			require.True(t, l.Demand())
			l.Answer()
			require.Equal(t, uintptr(9), l.Slack())
			require.False(t, l.Demand())
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
					require.True(t, p.l.MayHaveFewer(p.l.Enough()), "sure, and not even likely")
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

// TestSmallBlocks: with the default of small blocks thieves see some of a few items, of every kind with blocks, or can
// ask for them. What the caller says goes first.
func TestSmallBlocks(t *testing.T) {
	for _, k := range deque.Kinds() {
		for _, small := range []bool{false, true} {
			o := Options{Kind: k, SmallBlocks: small}
			if !k.Blocks() {
				require.Zero(t, o.Queue().BlockSize, "%v has no blocks", k)
				continue
			}
			m, err := NewMaker[item](2, o)
			require.NoError(t, err)
			var l Lane[item]
			m.Init(&l, 0, false)
			for range 3 * smallBlock {
				l.Push(new(item))
			}
			require.Equal(t, k.Asks() || !small, l.Len() == 0, "%v, small blocks %v: thieves see %d items", k, small, l.Len())
			o.BlockSize = 7
			require.Equal(t, 7, o.Queue().BlockSize)
		}
	}
}

// TestTake: an item is taken from anywhere in an inline worker's lane, and from no other lane.
func TestTake(t *testing.T) {
	var l, direct Lane[item]
	l.InitShuffled(1)
	m, err := NewMaker[item](1, Options{})
	require.NoError(t, err)
	m.Init(&direct, 0, false)
	for i := range 5 {
		l.Push(&item{i})
		direct.Push(&item{i})
	}
	is := func(n int) func(*item) bool { return func(it *item) bool { return it.number == n } }
	for _, n := range []int{1, 0, 4} {
		require.Equal(t, &item{n}, l.Take(is(n)))
		require.Nil(t, l.Take(is(n)))
	}
	require.EqualValues(t, 2, l.Mark())
	require.Nil(t, direct.Take(is(1)))
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
