package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// The owner's pair of push and pop, of each kind but the Deque, whose benchmarks are in bench_test.go. What an interface in
// between would cost is left out, so each has a loop of its own.

func BenchmarkLockedPushPop(b *testing.B) {
	d, p := deque.NewLocked[item](64), new(item)
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if d.Pop() != p {
			b.Fatal("not what was pushed")
		}
	}
}

func BenchmarkABPPushPop(b *testing.B) {
	d, p := deque.NewABP[item](64), new(item)
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if d.Pop() != p {
			b.Fatal("not what was pushed")
		}
	}
}

// The pair with other items below, so that none is the last.
func BenchmarkABPPushPopDeep(b *testing.B) {
	d, p := deque.NewABP[item](64), new(item)
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

func BenchmarkBWoSPushPop(b *testing.B) {
	d, p := deque.NewBWoS[item](256, 0), new(item)
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if d.Pop() != p {
			b.Fatal("not what was pushed")
		}
	}
}

// Two pairs at the end of a block, of which one goes on to the next block and back.
func BenchmarkBWoSPushPopCrossing(b *testing.B) {
	d, p := deque.NewBWoS[item](256, 0), new(item)
	_, size := d.Blocks()
	for range size {
		d.Push(p)
	}
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if d.Pop() != p || d.Pop() != p {
			b.Fatal("not what was pushed")
		}
		d.Push(p)
	}
}

// Waves of 200 pushes and 200 pops, which cross from block to block once in sixteen operations. Per pair.
func BenchmarkBWoSWaves(b *testing.B) {
	d, p := deque.NewBWoS[item](256, 0), new(item)
	b.ReportAllocs()
	for b.Loop() {
		for range 200 {
			d.Push(p)
		}
		for range 200 {
			d.Pop()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/pair")
}

// robbed lets a thief take what it can until the function that it returns is called, which says how much that was.
func robbed(b *testing.B, steal func() (*item, deque.Outcome)) (stop func()) {
	var over xatomic.Bool
	stolen := make(chan int)
	go func() {
		n := 0
		for !over.Load() {
			if _, outcome := steal(); outcome == deque.Stolen {
				n++
			}
		}
		stolen <- n
	}()
	return func() {
		over.Store(true)
		b.ReportMetric(float64(<-stolen)/float64(b.N), "stolen/op")
	}
}

func BenchmarkLockedPushPopRobbed(b *testing.B) {
	d, p := deque.NewLocked[item](1024), new(item)
	defer robbed(b, d.Steal)()
	for b.Loop() {
		d.Push(p)
		d.Pop()
	}
}

func BenchmarkABPPushPopRobbed(b *testing.B) {
	d, p := deque.NewABP[item](1024), new(item)
	defer robbed(b, d.Steal)()
	for b.Loop() {
		d.Push(p)
		d.Pop()
	}
}

// With three blocks of items below, which is what the thief can get at.
func BenchmarkBWoSPushPopRobbed(b *testing.B) {
	d, p := deque.NewBWoS[item](1024, 0), new(item)
	for range 100 {
		d.Push(p)
	}
	defer robbed(b, d.Steal)()
	for b.Loop() {
		d.Push(p)
		d.Pop()
	}
}

func BenchmarkBWoSFIFOPushPop(b *testing.B) {
	d, p := deque.NewBWoSFIFO[item](256, 0), new(item)
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if d.Pop() != p {
			b.Fatal("not what was pushed")
		}
	}
}

// What a worker does with any kind: push, tell whom to notify, pop; over an interface.
func BenchmarkQueue(b *testing.B) {
	for _, k := range deque.Kinds() {
		g, err := deque.NewGroup[item](k, 1, deque.Options{})
		if err != nil {
			continue
		}
		b.Run(k.String(), func(b *testing.B) {
			d, p, told := g.Queue(0), new(item), 0
			for b.Loop() {
				d.Push(p)
				told += d.Poll()
				if d.Pop() != p {
					b.Fatal("not what was pushed")
				}
			}
			if !k.Hides() && told != b.N {
				b.Fatal("Poll does not tell")
			}
		})
	}
}

// A thief alone with a deque, in blocks of 32 if it has any, by how it takes the items. Per item, with the push.
func BenchmarkStealBatch(b *testing.B) {
	for _, k := range []deque.Kind{deque.KindBWoS, deque.KindPadWS, deque.KindLocked} {
		g, err := deque.NewGroup[item](k, 1, deque.Options{Capacity: 1024})
		if err != nil {
			b.Fatal(err)
		}
		for _, batch := range []deque.Batch{deque.One, deque.Half, deque.Block} {
			b.Run(k.String()+"/"+batch.String(), func(b *testing.B) {
				d, p := g.Queue(0), new(item)
				into := make([]*item, 32)
				items := 0
				for b.Loop() {
					for range 512 {
						d.Push(p)
					}
					for {
						n, outcome := d.(deque.Batcher[item]).StealBatch(into, batch)
						items += n
						if outcome != deque.Stolen {
							break
						}
					}
					for d.Pop() != nil {
						items++
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(items), "ns/item")
			})
		}
	}
}
