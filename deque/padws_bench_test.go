package deque_test

import (
	"fmt"
	"sync"
	_ "sync/atomic" // or the compiler would not inline atomics of a deque of items, as it does in package executor
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// Nobody steals.
func BenchmarkPadWSPushPop(b *testing.B) {
	d, p := deque.NewPadWS[item](deque.PadWSConfig{}), new(item)
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if d.Pop() != p {
			b.Fatal("not what was pushed")
		}
	}
}

func BenchmarkADWSPushPop(b *testing.B) {
	d, p := deque.NewADWS[item](0), new(item)
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if d.Pop() != p {
			b.Fatal("not what was pushed")
		}
	}
}

// The same for the deque of Chase and Lev.
func BenchmarkChaseLevPushPop(b *testing.B) {
	d, p := deque.New[item](64), new(item)
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if d.Pop() != p {
			b.Fatal("not what was pushed")
		}
	}
}

// A push that asks whom to notify.
func BenchmarkPadWSPushGrantedPop(b *testing.B) {
	d, p := deque.NewPadWS[item](deque.PadWSConfig{}), new(item)
	told := 0
	for b.Loop() {
		d.Push(p)
		told += d.Granted()
		if d.Pop() != p {
			b.Fatal("not what was pushed")
		}
	}
	if told > 0 {
		b.Fatal("something was granted")
	}
}

// Two pairs over the boundary of two blocks: the dearest there are.
func BenchmarkPadWSPushPopBoundary(b *testing.B) {
	d, p := deque.NewPadWS[item](deque.PadWSConfig{Entries: 16, Blocks: 16}), new(item)
	for range 15 {
		d.Push(p)
	}
	for b.Loop() {
		d.Push(p)
		d.Push(p)
		d.Pop()
		if d.Pop() != p {
			b.Fatal("not what was pushed")
		}
	}
	if d.Stats().Takeovers < uint64(b.N) {
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

// robbedSlowly has an owner push 20 and pop 18, and pop all after ten such runs, while a thief steals and then pauses for some
// loads: the figures for about a tenth stolen are the ones to compare.
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

func BenchmarkPadWSRobbed(b *testing.B) {
	d, p := deque.NewPadWS[item](deque.PadWSConfig{}), new(item)
	robbedSlowly(b, func() bool { return d.Push(p) }, func() bool { return d.Pop() != nil },
		func() deque.Outcome { _, outcome := d.Steal(); return outcome })
}

func BenchmarkChaseLevRobbed(b *testing.B) {
	d, p := deque.New[item](256), new(item)
	robbedSlowly(b, func() bool { d.Push(p); return true }, func() bool { return d.Pop() != nil },
		func() deque.Outcome { _, outcome := d.Steal(); return outcome })
}

func BenchmarkADWSRobbed(b *testing.B) {
	d, p := deque.NewADWS[item](0), new(item)
	robbedSlowly(b, func() bool { d.Push(p); return true }, func() bool { return d.Pop() != nil },
		func() deque.Outcome { _, outcome := d.Steal(); return outcome })
}
