package deque_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// Nobody steals.
func BenchmarkPDQRPushPop(b *testing.B) {
	d, p := deque.NewPDQR[item](0), new(item)
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if d.Pop() != p {
			b.Fatal("not what was pushed")
		}
	}
}

// Nobody waits, so alarms are in vain.
func BenchmarkPDQSPushPop(b *testing.B) {
	for _, mean := range []int{1, 2, 4, 8, 16, 32, 64, 1024} {
		b.Run(fmt.Sprintf("mean=%d", mean), func(b *testing.B) {
			d, p := deque.NewPDQSGroup[item](8, 0, mean).Queue(0), new(item)
			b.ReportAllocs()
			for b.Loop() {
				d.Push(p)
				if d.Pop() != p {
					b.Fatal("not what was pushed")
				}
			}
		})
	}
}

func BenchmarkPDQRRobbed(b *testing.B) {
	d, p := deque.NewPDQR[item](0), new(item)
	robbedSlowly(b, func() bool { return d.Push(p) }, func() bool { return d.Pop() != nil },
		func() deque.Outcome { _, outcome := d.Steal(); return outcome })
}

// stealing times steals from an owner that is busy all the time. The median says what a steal takes; the mean, how long an
// owner is off its core.
func stealing(b *testing.B, push func(), pop func(), steal func() deque.Outcome) {
	var over xatomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !over.Load() {
			for range 20 {
				push()
			}
			for range 20 {
				pop()
			}
		}
	})
	tries, last := 0, time.Now()
	times := make([]time.Duration, 0, 1<<20)
	for b.Loop() {
		for outcome := deque.Lost; outcome != deque.Stolen; tries++ {
			outcome = steal()
		}
		if now := time.Now(); len(times) < cap(times) {
			times = append(times, now.Sub(last))
			last = now
		}
	}
	over.Store(true)
	wg.Wait()
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2]), "ns/median")
	b.ReportMetric(float64(tries)/float64(b.N), "tries/steal")
}

func BenchmarkPDQRSteal(b *testing.B) {
	d, p := deque.NewPDQR[item](0), new(item)
	stealing(b, func() { d.Push(p) }, func() { d.Pop() },
		func() deque.Outcome { _, outcome := d.Steal(); return outcome })
}

func BenchmarkPDQSReceive(b *testing.B) {
	for _, mean := range []int{1, 4, 16, 64, 1024} {
		b.Run(fmt.Sprintf("mean=%d", mean), func(b *testing.B) {
			g, p := deque.NewPDQSGroup[item](2, 0, mean), new(item)
			d, to := g.Queue(0), g.Queue(1)
			stealing(b, func() { d.Push(p) }, func() { d.Pop() },
				func() deque.Outcome { _, outcome := to.Receive(); return outcome })
		})
	}
}

func BenchmarkADWSSteal(b *testing.B) {
	d, p := deque.NewADWS[item](0), new(item)
	stealing(b, func() { d.Push(p) }, func() { d.Pop() },
		func() deque.Outcome { _, outcome := d.Steal(); return outcome })
}

func BenchmarkChaseLevSteal(b *testing.B) {
	d, p := deque.New[item](64), new(item)
	stealing(b, func() { d.Push(p) }, func() { d.Pop() },
		func() deque.Outcome { _, outcome := d.Steal(); return outcome })
}
