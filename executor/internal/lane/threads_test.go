package lane

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A bell is where thieves sleep.
type bell struct {
	mu    sync.Mutex
	rung  sync.Cond
	rings int
}

// prepare returns a ticket for sleep.
func (b *bell) prepare() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rings
}

// sleep waits until the bell has been rung after ticket was given out.
func (b *bell) sleep(ticket int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.rings == ticket {
		b.rung.Wait()
	}
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rings++
	b.rung.Broadcast()
}

// TestThreads: with thieves on threads of their own, which sleep when they find nothing, each item comes out once,
// and a thief is woken for what the owner cannot run. While a worker is alone, submitters ask.
func TestThreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) {
			for range testkit.Scale(10) {
				testkit.Within(t, testkit.Patience, func() { threads(t, v.small(rng.IntN), rng) })
			}
		})
	}
}

func threads(t *testing.T, v variant, rng *rand.Rand) {
	const thieves = 2
	m, err := NewMaker[atomic.Int32](1+thieves, v.Options)
	require.NoError(t, err)
	lanes := make([]Lane[atomic.Int32], 1+thieves)
	l := &lanes[0]
	m.Init(l, 0, v.alone)
	b := &bell{}
	b.rung.L = &b.mu
	var over atomic.Bool
	var stolen atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() { // a submitter
		for range 100 {
			l.Ask()
			l.Demand()
			l.Len()
			runtime.Gosched()
		}
	})
	items := make([]atomic.Int32, 300)
	next := 0
	tell := func(effect deque.Effect) {
		if effect == deque.Shown {
			b.ring()
		}
	}
	push := func() {
		it := &items[next]
		next++
		effect := l.Push(it)
		if effect == deque.Refused {
			it.Add(1)
		}
		tell(effect)
	}
	pop := func() bool {
		it, effect := l.Pop(0)
		tell(effect)
		if it != nil {
			it.Add(1)
		}
		return it != nil
	}
	for range rng.IntN(20) {
		push()
	}
	if v.alone {
		l.Share(m.Enough())
		tell(l.Expose())
	}
	for i := range thieves {
		mine := &lanes[1+i]
		m.Init(mine, 1+i, false)
		wg.Go(func() {
			steal := func() bool {
				first, rest, _ := mine.StealFrom(l)
				if first == nil && mine.CanReceive() {
					first, _ = mine.Receive()
				}
				if first == nil {
					return false
				}
				for _, it := range rest {
					it.Add(1)
				}
				first.Add(1)
				stolen.Add(int64(1 + len(rest)))
				clear(rest)
				return true
			}
			for {
				if steal() {
					continue
				}
				ticket := b.prepare()
				if over.Load() {
					return
				}
				if !l.Ask() {
					b.sleep(ticket)
				}
			}
		})
	}
	for next < len(items) {
		switch rng.IntN(8) {
		case 0:
			pop()
		case 1:
			l.Answer()
			push()
			l.Answered()
		case 2:
			tell(l.Poll())
			l.NoteEmpty()
			l.IsWanted()
		default:
			push()
		}
		if rng.IntN(16) == 0 {
			runtime.Gosched()
		}
	}
	// The owner has nothing to do: what can be shown the thieves take.
	if tell(l.Expose()); !v.Kind.FIFO() || !v.Kind.Hides() {
		for l.Len() > 0 {
			runtime.Gosched()
		}
	}
	for pop() {
	}
	over.Store(true)
	b.ring()
	wg.Wait()
	for i := range items {
		if n := items[i].Load(); n != 1 {
			panic(fmt.Sprintf("%v: item %d of %d came out %d times, %d stolen", v, i, len(items), n, stolen.Load()))
		}
	}
}
