//go:build !modelcheck

package peer

import (
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
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

// A way is a way to give a CPU up to a thread that waits for it, with what has come of it.
type way struct {
	name          string
	giveUp        func()
	tries, worked int   // worked: the thread ran before the caller was back
	away, gain    int64 // how long the caller was away, and how long the thread ran meanwhile
}

// try gives the CPU up once.
func (w *way) try(v *actor, giveUp func()) {
	before, _ := v.Clock()
	begin := sinceStart()
	giveUp()
	end := sinceStart()
	after, _ := v.Clock()
	w.tries++
	w.away += end - begin
	w.gain += after - before
	if after > before {
		w.worked++
	}
}

func report(b *testing.B, all []way) {
	b.ReportMetric(0, "ns/op")
	for _, w := range all {
		n := float64(w.tries)
		b.ReportMetric(100*float64(w.worked)/n, w.name+"-worked-%")
		b.ReportMetric(float64(w.away)/n/1e3, w.name+"-away-us")
		b.ReportMetric(float64(w.gain)/n/1e3, w.name+"-gain-us")
	}
}

// BenchmarkGiveUp compares ways to let the one other thread of a CPU run. The ways take turns, so that a noisy machine
// disturbs all alike.
func BenchmarkGiveUp(b *testing.B) {
	need(b, SameCPU, Clock, Pull, Records)
	manyPs(b, 2)
	me, v := newActor(b), newActor(b)
	me.pin(b, cpus(b, 1)[0])
	v.pin(b, cpus(b, 1)[0])
	r := v.record(b)
	defer v.spin()()
	ways := compared()
	me.do(func() {
		for range b.N {
			for i := range ways {
				// Both have run for a while since they were switched.
				for begin := sinceStart(); sinceStart() < begin+int64(300*time.Microsecond) || r.State() != Preempted; {
				}
				ways[i].try(v, ways[i].giveUp)
			}
		}
	})
	report(b, ways)
}

func compared() []way {
	return []way{
		{name: "nothing", giveUp: func() {}},
		{name: "yield", giveUp: osthread.Yield},
		{name: "sleep1", giveUp: func() { pause(1000) }},
		{name: "sleep50", giveUp: func() { pause(50_000) }},
		{name: "sleep200", giveUp: func() { pause(200_000) }},
	}
}

// BenchmarkGiveUpAfterPull compares the same ways after a pull of a thread that another thread keeps from its core.
func BenchmarkGiveUpAfterPull(b *testing.B) {
	need(b, SameCPU, Clock, Pull, Records)
	all := cpus(b, 2)
	manyPs(b, 3)
	me, v, hog := newActor(b), newActor(b), newActor(b)
	me.pin(b, all[0])
	hog.pin(b, all[1])
	r := v.record(b)
	defer hog.spin()()
	defer v.spin()()
	// pull waits until v is preempted on the other CPU, and pulls it.
	pull := func(w *way) (done bool) {
		v.pin(b, all[1])
		v.unpin(b)
		me.do(func() {
			for end := time.Now().Add(20 * time.Millisecond); ; {
				if r.State() == Preempted && int(v.lastCPU()) == all[1] {
					break
				}
				if time.Now().After(end) {
					return
				}
			}
			v.again.Store(0)
			done = true
			w.try(v, func() { done = me.Pull(&v.Thread) == nil })
		})
		return done
	}
	was := afterPull
	defer func() { afterPull = was }()
	ways := compared()
	for range b.N {
		for i := range ways {
			afterPull = ways[i].giveUp
			testkit.Until(b, "a peer is preempted", func() bool { return pull(&ways[i]) })
		}
	}
	report(b, ways)
}
