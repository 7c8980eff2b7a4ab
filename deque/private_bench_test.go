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

// No owner waits, so alarms are in vain.
func BenchmarkPDQSPushPop(b *testing.B) {
	for _, mean := range []int{1, 2, 4, 8, 16, 32, 64, 1024} {
		b.Run(fmt.Sprintf("mean=%d", mean), func(b *testing.B) {
			d, p := deque.NewPDQSGroup[item](8, 0, mean).Queue(0), new(item)
			b.ReportAllocs()
			for b.Loop() {
				d.Push(p)
				if got, _ := d.Pop(); got != p {
					b.Fatal("not what was pushed")
				}
			}
		})
	}
}

// stealing times steals from an owner that is busy all the time. The median is the duration of a steal. The mean also
// has the time for which the owner is off its core.
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

func BenchmarkPDQSReceive(b *testing.B) {
	for _, mean := range []int{1, 4, 16, 64, 1024} {
		b.Run(fmt.Sprintf("mean=%d", mean), func(b *testing.B) {
			g, p := deque.NewPDQSGroup[item](2, 0, mean), new(item)
			d, to := g.Queue(0), g.Queue(1)
			stealing(b, func() { d.Push(p) }, func() { pop(d) },
				func() deque.Outcome { _, outcome := to.Receive(); return outcome })
		})
	}
}
