package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// For spotting regressions, not for comparing machines. Every figure is per pair.

func BenchmarkPushPop(b *testing.B) {
	d, p := deque.New[item](64), new(item)
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if d.Pop() != p {
			b.Fatal("not what was pushed")
		}
	}
}

// The pair with other items below, as in the middle of a computation.
func BenchmarkPushPopDeep(b *testing.B) {
	d, p := deque.New[item](64), new(item)
	for range 10 {
		d.Push(p)
	}
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if d.Pop() != p {
			b.Fatal("not what was pushed")
		}
	}
}

func BenchmarkPushSteal(b *testing.B) {
	d, p := deque.New[item](64), new(item)
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if got, _ := d.Steal(); got != p {
			b.Fatal("not what was pushed")
		}
	}
}

func BenchmarkStealEmpty(b *testing.B) {
	d := deque.New[item](64)
	b.ReportAllocs()
	for b.Loop() {
		if _, outcome := d.Steal(); outcome != deque.Empty {
			b.Fatal(outcome)
		}
	}
}

// The owner pushes and pops while a thief on another core steals all the time.
func BenchmarkPushPopRobbed(b *testing.B) {
	d, p := deque.New[item](1024), new(item)
	var over xatomic.Bool
	stolen := make(chan int)
	go func() {
		n := 0
		for !over.Load() {
			if _, outcome := d.Steal(); outcome == deque.Stolen {
				n++
			}
		}
		stolen <- n
	}()
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		d.Pop()
	}
	over.Store(true)
	b.ReportMetric(float64(<-stolen)/float64(b.N), "stolen/op")
}
