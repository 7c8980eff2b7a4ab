package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
)

// queues makes a group of two queues of a kind.
func queues(b *testing.B, k deque.Kind, o deque.Options) (d, other deque.Queue[item]) {
	g, err := deque.NewGroup[item](k, 2, o)
	if err != nil {
		b.Fatal(err)
	}
	return g.Queue(0), g.Queue(1)
}

// BenchmarkQueue measures the owner's pair of push and pop, of each kind, through the interface, without thieves.
func BenchmarkQueue(b *testing.B) {
	for _, k := range deque.Kinds() {
		b.Run(k.String(), func(b *testing.B) {
			d, _ := queues(b, k, deque.Options{})
			p, shown := new(item), 0
			b.ReportAllocs()
			for b.Loop() {
				if d.Push(p) == deque.Shown {
					shown++
				}
				if got, _ := d.Pop(); got != p {
					b.Fatal("not what was pushed")
				}
			}
			if !k.Hides() && shown != b.N {
				b.Fatal("Push does not tell")
			}
		})
	}
}

// BenchmarkQueueRobbed measures an owner with a thief. See robbedSlowly.
func BenchmarkQueueRobbed(b *testing.B) {
	for _, k := range deque.Kinds() {
		b.Run(k.String(), func(b *testing.B) {
			d, other := queues(b, k, deque.Options{})
			steal, p := d.Steal, new(item)
			if k.Receives() {
				steal = other.(deque.Receiver[item]).Receive
			}
			robbedSlowly(b, func() bool { return d.Push(p) != deque.Refused }, func() bool { return pop(d) != nil },
				func() deque.Outcome { _, outcome := steal(); return outcome })
		})
	}
}

// BenchmarkQueueSteal measures a thief, or an owner that waits for a dealt item. See stealing.
func BenchmarkQueueSteal(b *testing.B) {
	for _, k := range deque.Kinds() {
		b.Run(k.String(), func(b *testing.B) {
			d, other := queues(b, k, deque.Options{})
			steal, p := d.Steal, new(item)
			if k.Receives() {
				steal = other.(deque.Receiver[item]).Receive
			}
			stealing(b, func() { d.Push(p) }, func() { d.Pop() },
				func() deque.Outcome { _, outcome := steal(); return outcome })
		})
	}
}

// BenchmarkStealBatch measures a thief alone with a deque, in blocks of 32 if it has any, for each Batch. Per item,
// with the push.
func BenchmarkStealBatch(b *testing.B) {
	for _, k := range deque.Kinds() {
		if !k.Batches() {
			continue
		}
		for _, batch := range []deque.Batch{deque.One, deque.Half, deque.Block} {
			b.Run(k.String()+"/"+batch.String(), func(b *testing.B) {
				d, _ := queues(b, k, deque.Options{Capacity: 1024})
				p, into := new(item), make([]*item, 32)
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
					for pop(d) != nil {
						items++
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(items), "ns/item")
			})
		}
	}
}

// The pair of push and pop with other items below, so that none is the last.
func BenchmarkABPPushPopDeep(b *testing.B) {
	d, p := deque.NewABP[item](64), new(item)
	for range 10 {
		d.Push(p)
	}
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if got, _ := d.Pop(); got != p {
			b.Fatal("not what was pushed")
		}
	}
}

// Two pairs of push and pop at the end of a block: one of them goes on to the next block and back.
func BenchmarkBWoSPushPopCrossing(b *testing.B) {
	d, p := deque.NewBWoS[item](256, 0), new(item)
	_, size := d.Blocks()
	for range size {
		d.Push(p)
	}
	b.ReportAllocs()
	for b.Loop() {
		d.Push(p)
		if first, _ := d.Pop(); first != p {
			b.Fatal("not what was pushed")
		}
		if second, _ := d.Pop(); second != p {
			b.Fatal("not what was pushed")
		}
		d.Push(p)
	}
}

// Waves of 200 pushes and 200 pops, which change the block once in sixteen operations. Per pair.
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
