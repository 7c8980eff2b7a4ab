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

// Two threads wake each other in turn: one wake-up and one sleep each. They have different conditions, so each has a
// notifier of its own.
func BenchmarkPingPong(b *testing.B) {
	ping, pong := notifier.New(1), notifier.New(1)
	var turn xatomic.Int64
	next := func(n *notifier.Notifier, mine int64) {
		for turn.Load() < mine {
			n.Prepare(0)
			if turn.Load() >= mine {
				n.Cancel(0)
				return
			}
			n.Commit(0)
		}
	}
	var over xatomic.Bool
	var other group
	other.start(func() {
		for t := int64(1); ; t += 2 {
			next(ping, t)
			if over.Load() {
				return
			}
			turn.Add(1)
			pong.Notify(1)
		}
	})
	b.ReportAllocs()
	t := int64(0)
	for b.Loop() {
		turn.Add(1)
		ping.Notify(1)
		t += 2
		next(pong, t)
	}
	over.Store(true)
	turn.Add(1)
	ping.Notify(1)
	other.wait()
}
