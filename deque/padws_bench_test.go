package deque_test

import (
	"fmt"
	"sync"
	_ "sync/atomic" // without it the compiler does not inline atomics of a deque of items, as it does in executor
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// Two pairs across the boundary of two blocks: the most expensive ones.
func BenchmarkPadWSPushPopBoundary(b *testing.B) {
	d, p := deque.NewPadWS[item](deque.PadWSConfig{Entries: 16, Blocks: 16}), new(item)
	for range 15 {
		d.Push(p)
	}
	for b.Loop() {
		d.Push(p)
		d.Push(p)
		d.Pop()
		if got, _ := d.Pop(); got != p {
			b.Fatal("not what was pushed")
		}
	}
	if d.Counts().Takeovers < uint64(b.N) {
		b.Fatal("not over the boundary")
	}
}

// A run of pushes over all blocks, and as many pops. Per pair.
func BenchmarkPadWSRun(b *testing.B) {
	d, p := deque.NewPadWS[item](deque.PadWSConfig{}), new(item)
	const run = 200
	for i := 0; i < b.N; i += run {
		for range run {
			d.Push(p)
		}
		for range run {
			d.Pop()
		}
	}
}

// The same for the deque of Chase and Lev.
func BenchmarkChaseLevRun(b *testing.B) {
	d, p := deque.New[item](256), new(item)
	const run = 200
	for i := 0; i < b.N; i += run {
		for range run {
			d.Push(p)
		}
		for range run {
			d.Pop()
		}
	}
}

// A steal that is granted by the push before it.
func BenchmarkPadWSPushSteal(b *testing.B) {
	d, p := deque.NewPadWS[item](deque.PadWSConfig{}), new(item)
	d.Steal()
	for b.Loop() {
		d.Push(p)
		if got, _ := d.Steal(); got != p {
			b.Fatal("not what was pushed")
		}
	}
}

// robbedSlowly lets an owner push 20 and pop 18, and pop all after ten such runs, while a thief steals and then pauses
// for some loads. Compare the figures for about a tenth stolen.
func robbedSlowly(b *testing.B, push func() bool, pop func() bool, steal func() deque.Outcome) {
	for _, pause := range []int{100, 500, 2000} {
		b.Run(fmt.Sprintf("pause=%d", pause), func(b *testing.B) {
			const run = 20
			var over xatomic.Bool
			var wg sync.WaitGroup
			var outcomes [4]int
			wg.Go(func() {
				for !over.Load() {
					outcome := steal()
					outcomes[outcome]++
					if outcome == deque.Stolen {
						for range pause {
							over.Load()
						}
					}
				}
			})
			pushed := 0
			for i := 0; i < b.N; i += run {
				for range run {
					if push() {
						pushed++
					}
				}
				for range run * 9 / 10 {
					pop()
				}
				if i%(10*run) == 0 {
					for pop() {
					}
				}
			}
			b.StopTimer()
			over.Store(true)
			wg.Wait()
			stolen := float64(outcomes[deque.Stolen])
			b.ReportMetric(100*stolen/float64(pushed), "%stolen")
			b.ReportMetric(float64(outcomes[deque.NotReady]+outcomes[deque.Lost])/stolen, "retries/steal")
			b.ReportMetric(float64(outcomes[deque.Empty])/stolen, "empty/steal")
		})
	}
}
