package notifier_test

import (
	"testing"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/notifier"
)

// For spotting regressions, not for comparing machines.

func BenchmarkNotifyNobody(b *testing.B) {
	n := notifier.New(2)
	b.ReportAllocs()
	for b.Loop() {
		if n.Notify(1) != 0 {
			b.Fatal("woke somebody")
		}
	}
}

func BenchmarkPrepareCancel(b *testing.B) {
	n := notifier.New(2)
	b.ReportAllocs()
	for b.Loop() {
		n.Prepare(0)
		n.Cancel(0)
	}
}

func BenchmarkPrepareNotifyCommit(b *testing.B) {
	n := notifier.New(2)
	b.ReportAllocs()
	for b.Loop() {
		n.Prepare(0)
		n.Notify(1)
		n.Commit(0)
	}
}

// Two threads wake each other in turn: one wake-up and one sleep each.
func BenchmarkPingPong(b *testing.B) {
	n := notifier.New(2)
	var turn xatomic.Int64
	next := func(w int, mine int64) {
		for turn.Load() < mine {
			n.Prepare(w)
			if turn.Load() >= mine {
				n.Cancel(w)
				return
			}
			n.Commit(w)
		}
	}
	var over xatomic.Bool
	var other group
	other.start(func() {
		for t := int64(1); ; t += 2 {
			next(1, t)
			if over.Load() {
				return
			}
			turn.Add(1)
			n.Notify(1)
		}
	})
	b.ReportAllocs()
	t := int64(0)
	for b.Loop() {
		turn.Add(1)
		n.Notify(1)
		t += 2
		next(0, t)
	}
	over.Store(true)
	turn.Add(1)
	n.Notify(1)
	other.wait()
}
