package deque_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A bell lets thieves sleep until it is rung.
type bell struct {
	mu    sync.Mutex
	rung  sync.Cond
	rings int
	slept int
}

func newBell() *bell {
	b := &bell{}
	b.rung.L = &b.mu
	return b
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
		b.slept++
		b.rung.Wait()
	}
}

// ring wakes one sleeper, if there is one.
func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rings++
	b.rung.Signal()
}

func (b *bell) ringForAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rings++
	b.rung.Broadcast()
}

// TestKindsSleep: owner and thieves keep the rules of [deque.Queue] for thieves that sleep, and all items that can be
// stolen are stolen: the owner waits for that and only polls. If a sleeping thief is not notified, the test hangs.
func TestKindsSleep(t *testing.T) {
	crowd(t)
	for _, k := range kinds {
		if k.make(2).receivers != nil {
			continue // a sleeping thief gets no item
		}
		t.Run(k.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
			stolen, slept := 0, 0
			testkit.Within(t, 2*testkit.Patience, func() {
				rounds(t, 4, func(int) {
					n, s := sleepers(t, k.make(2<<rng.IntN(7)), 1+rng.IntN(3), testkit.Scale(10000), rng)
					stolen += n
					slept += s
				}, func() error {
					if stolen == 0 || slept == 0 {
						return fmt.Errorf("%d stolen, %d times slept", stolen, slept)
					}
					return nil
				})
			})
			t.Logf("%d stolen, %d times slept", stolen, slept)
		})
	}
}

// sleepers lets thieves steal some of n items, and returns the number of stolen items and of sleeps.
func sleepers(t *testing.T, d subject, thieves, n int, rng *rand.Rand) (stolen, slept int) {
	var over xatomic.Bool
	var taken xatomic.Uint32
	var wg sync.WaitGroup
	b := newBell()
	for range thieves {
		wg.Go(func() {
			for {
				if it, _ := d.Steal(); it != nil {
					it.taken++
					taken.Add(1)
					continue
				}
				ticket := b.prepare()
				if over.Load() {
					return
				}
				if !d.Ask() {
					b.sleep(ticket)
				}
			}
		})
	}
	tell := func(effect deque.Effect) {
		if effect == deque.Shown {
			b.ring()
		}
	}
	items := make([]item, n)
	pushed := uint32(0)
	for i := 0; i < n; {
		for burst := 1 + rng.IntN(1<<rng.IntN(6)); burst > 0 && i < n; burst-- {
			it := &items[i]
			i++
			effect := d.Push(it)
			if effect != deque.Refused {
				pushed++
			} else {
				it.taken++
				effect = d.Poll()
			}
			tell(effect)
		}
		for rng.IntN(8) == 0 {
			it, effect := d.Pop()
			if it != nil {
				it.taken++
				pushed--
			}
			tell(effect)
		}
		for d.Len() > 0 || d.asked && taken.Load() != pushed {
			tell(d.Poll())
			runtime.Gosched()
		}
	}
	for it := pop(d); it != nil; it = pop(d) {
		it.taken++
	}
	over.Store(true)
	b.ringForAll()
	wg.Wait()
	requireOnce(t, items)
	return int(taken.Load()), b.slept
}
