//go:build !modelcheck

package peer

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
)

// bench has an actor measure f. The other one spins meanwhile.
func bench(b *testing.B, f func(me, v *actor)) {
	need(b, SameCPU, Clock, Pull)
	manyPs(b, 2)
	me, v := newActor(b), newActor(b)
	end := v.spin()
	b.ResetTimer()
	me.do(func() { f(me, v) })
	b.StopTimer()
	end()
}

func BenchmarkSharesCPU(b *testing.B) {
	bench(b, func(me, v *actor) {
		for b.Loop() {
			me.SharesCPU(&v.Thread)
		}
	})
}

func BenchmarkClock(b *testing.B) {
	bench(b, func(_, v *actor) {
		for b.Loop() {
			v.Clock()
		}
	})
}

func BenchmarkEnterLeave(b *testing.B) {
	bench(b, func(me, _ *actor) {
		for b.Loop() {
			me.Leave()
			_ = me.Enter()
		}
	})
}

// BenchmarkPull moves nothing: the peer is on the caller's CPU or gets there at once. The caller does not sleep.
func BenchmarkPull(b *testing.B) {
	replace(b, &afterPull, func() {})
	for _, name := range []string{"too soon", "done"} {
		b.Run(name, func(b *testing.B) {
			bench(b, func(me, v *actor) {
				for b.Loop() {
					if name == "done" {
						v.again.Store(0)
					}
					_ = me.Pull(&v.Thread)
				}
			})
		})
	}
}

func BenchmarkRecorder(b *testing.B) {
	need(b, Records)
	b.Run("State", func(b *testing.B) {
		bench(b, func(_, v *actor) {
			r, err := Record(v.ID())
			if err != nil {
				b.Error(err)
				return
			}
			for b.Loop() {
				r.State()
			}
			_ = r.Close()
		})
	})
	b.Run("Check", func(b *testing.B) {
		bench(b, func(_, v *actor) {
			r, err := Record(v.ID())
			if err != nil {
				b.Error(err)
				return
			}
			var c Counts
			for b.Loop() {
				r.Check(&c, func() bool { return true })
			}
			_ = r.Close()
		})
	})
}

// BenchmarkPullLatency compares what a puller may do after it has moved a peer that another thread keeps from its core:
// how long the peer then waits for a core, and how long the puller is away. The median in microseconds of b.N pulls.
func BenchmarkPullLatency(b *testing.B) {
	need(b, SameCPU, Pull, Records)
	all := cpus(b, 2)
	manyPs(b, 3)
	me, v, hog := newActor(b), newActor(b), newActor(b)
	me.pin(b, all[0])
	hog.pin(b, all[1])
	r := v.record(b)
	defer hog.spin()()
	var back atomic.Int64 // when v was last back on a core after some time without one
	last := sinceStart()
	defer v.begin(func() {
		now := sinceStart()
		if now-last > int64(50*time.Microsecond) {
			back.Store(now)
		}
		last = now
	})()
	for _, c := range []struct {
		name string
		then func()
	}{
		{"nothing", func() {}},
		{"yield", osthread.Yield},
		{"sleep 1us", func() { pause(1000) }},
		{"sleep 50us", func() { pause(50_000) }},
		{"sleep 200us", func() { pause(200_000) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			replace(b, &afterPull, c.then)
			var waits, away []int64
			for range b.N {
				waits, away = append(waits, 0), append(away, 0)
				i := len(waits) - 1
				await(b, "no peer is preempted", func() bool {
					v.pin(b, all[1])
					v.unpin(b)
					pulled := false
					me.do(func() {
						preempted := func() bool {
							return r.State() == Preempted && int(v.area.Load().cpu.Load()) == all[1]
						}
						for end := time.Now().Add(20 * time.Millisecond); !preempted(); {
							if time.Now().After(end) {
								return
							}
						}
						v.again.Store(0)
						begin := sinceStart()
						pulled = me.Pull(&v.Thread) == nil
						away[i] = sinceStart() - begin
						for back.Load() < begin && sinceStart() < begin+int64(50*time.Millisecond) {
						}
						waits[i] = back.Load() - begin
					})
					return pulled
				})
			}
			slices.Sort(waits)
			slices.Sort(away)
			b.ReportMetric(float64(waits[len(waits)/2])/1e3, "wait-us")
			b.ReportMetric(float64(away[len(away)/2])/1e3, "away-us")
			b.ReportMetric(0, "ns/op")
		})
	}
}
