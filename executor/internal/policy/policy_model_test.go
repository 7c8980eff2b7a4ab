//go:build modelcheck

package policy

import (
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// variants are options of policies that change the protocol.
var variants = []struct {
	kind int
	name string
	o    Options
}{
	{MBWS, "mbws+busywakes", Options{BusyWakes: true}},
	{MBWSRole, "mbws-role+busywakes", Options{BusyWakes: true}},
}

// onPolicies checks a program under the default policy and those of the table that are drawn, with each of these
// numbers of workers.
func onPolicies(t *testing.T, workers []int, program func(kind, n int, o Options)) {
	for _, n := range workers {
		check := func(name string, kind int, o Options) {
			if kind != Adaptive && !model.IsDrawn() {
				return
			}
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				model.Check(t, func() { program(kind, n, o) })
			})
		}
		for kind, row := range Table {
			if kind == BWSClock || kind == BWSPull {
				continue // to this machine they are bws-same: they differ in what they ask the host
			}
			check(row.Name, kind, Options{})
		}
		for _, v := range variants {
			check(v.name, v.kind, v.o)
		}
	}
}

// TestModelPolicyShown: an item that a busy worker shows while the last thief goes to sleep is found by that one.
func TestModelPolicyShown(t *testing.T) {
	onPolicies(t, []int{2, 3}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		busy, idle := p.busyAmongOthers()
		busy.push()
		p.await(1)
		idle()
		p.close()
	})
}

// TestModelPolicyShownAgain: the same when the thief has just run an item, and goes to sleep again.
func TestModelPolicyShownAgain(t *testing.T) {
	onPolicies(t, []int{2}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		busy, idle := p.busyAmongOthers()
		for i := range int32(2) {
			busy.push()
			p.await(1 + i)
		}
		idle()
		p.close()
	})
}

// TestModelPolicySubmitted: what is submitted while the workers go to sleep is found.
func TestModelPolicySubmitted(t *testing.T) {
	onPolicies(t, []int{1, 2}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		for _, h := range p.hands {
			h.live()
		}
		submissions := int32(2)
		if n > 1 {
			submissions = 1 // a hundred thousand schedules otherwise
		}
		for i := range submissions {
			p.submit()
			p.await(1 + i)
		}
		p.close()
	})
}

// TestModelPolicySubmitters: workers that sleep are woken for two items of two submitters, each of which needs a
// worker of its own.
func TestModelPolicySubmitters(t *testing.T) {
	onPolicies(t, []int{2}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		p.run = meet()
		for _, h := range p.hands {
			h.live()
		}
		p.rest()
		join := model.Go(p.submit)
		p.submit()
		join()
		p.await(2)
		p.close()
	})
}

// TestModelPolicyBatch: the same of two items that are submitted at once.
func TestModelPolicyBatch(t *testing.T) {
	onPolicies(t, []int{2}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		p.run = meet()
		for _, h := range p.hands {
			h.live()
		}
		p.rest()
		p.submitAll(2)
		p.await(2)
		p.close()
	})
}

// meet returns what an item does that waits for another to have begun.
func meet() func(*hand) {
	var begun xatomic.Int32
	return func(*hand) {
		begun.Add(1)
		begun.Await(func(n int32) bool { return n >= 2 })
	}
}

// TestModelPolicyLastThief: two items are shown, each of which needs a worker of its own. The thief that takes the
// first is the last, and sees to the second.
func TestModelPolicyLastThief(t *testing.T) {
	onPolicies(t, []int{3}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		p.run = meet()
		busy, idle := p.busyAmongOthers()
		busy.push()
		busy.push()
		p.await(2)
		idle()
		p.close()
	})
}

// TestModelPolicyHandOver: the thief that has stayed awake takes an item that needs another worker. That worker, which
// may be about to sleep or sleep, finds the item that is shown after that.
func TestModelPolicyHandOver(t *testing.T) {
	onPolicies(t, []int{3}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		p.run = meet()
		busy, idle := p.busyAmongOthers()
		busy.push()
		for p.anyShown() {
			model.Spin()
		}
		busy.push()
		p.await(2)
		idle()
		p.close()
	})
}

// TestModelPolicyWide: the first item of a run, which one of the sleeping workers is woken for, shows another that
// needs a worker of its own.
func TestModelPolicyWide(t *testing.T) {
	onPolicies(t, []int{2}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		meets, first := meet(), true
		p.run = func(h *hand) {
			if first {
				first = false
				h.push()
			}
			meets(h)
		}
		for _, h := range p.hands {
			h.live()
		}
		p.rest()
		p.submit()
		p.await(2)
		p.close()
	})
}

// TestModelPolicyLeave: a worker leaves, that may have been notified of what is submitted. Another runs that.
func TestModelPolicyLeave(t *testing.T) {
	onPolicies(t, []int{2}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		for _, h := range p.hands {
			h.live()
		}
		p.hands[0].leaves.Store(true)
		p.submit()
		p.await(1)
		p.submit()
		p.await(2)
		p.close()
	})
}

// TestModelPolicyLeaveNotified: the same of one that is told to leave, and notified, when it and the other are about
// to sleep: the notification is for either.
func TestModelPolicyLeaveNotified(t *testing.T) {
	onPolicies(t, []int{2}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		for _, h := range p.hands {
			h.live()
		}
		for !p.notifier.Waiting() {
			model.Spin()
		}
		p.hands[0].leaves.Store(true)
		p.submit()
		p.await(1)
		p.close()
	})
}

// TestModelPolicyLeaveShown: the same of what a busy worker shows, trusting in the thief that leaves.
func TestModelPolicyLeaveShown(t *testing.T) {
	onPolicies(t, []int{3}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		busy, idle := p.busyAmongOthers()
		p.hands[1].leaves.Store(true)
		busy.push()
		p.await(1)
		idle()
		p.close()
	})
}

// TestModelPolicyWakeAll: the workers are woken while they go to sleep, and nobody is counted as a thief that is
// none: what is submitted after that is found.
func TestModelPolicyWakeAll(t *testing.T) {
	onPolicies(t, []int{1, 2}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		for _, h := range p.hands {
			h.live()
		}
		p.policy.WakeAll()
		p.submit()
		p.await(1)
		p.rest()
		p.close()
	})
}

// TestModelPolicyStop: the workers end, wherever they are on their way to sleep.
func TestModelPolicyStop(t *testing.T) {
	onPolicies(t, []int{1, 2, 3}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		for _, h := range p.hands {
			h.live()
		}
		p.close()
	})
}

// TestModelPolicyTrivial: a thief that pauses, because its last steals were trivial, finds all the same what is
// shown, and what is submitted.
func TestModelPolicyTrivial(t *testing.T) {
	onPolicies(t, []int{2}, func(kind, n int, o Options) {
		p := newPlant(kind, n, o)
		busy, idle := p.busy()
		thief := p.hands[1]
		model.Calm(func() { // steals, one after the other, on this thread
			for range fewTrivial + 1 {
				p.left.Add(1)
				p.lanes[0].Add(1)
				model.Assert(thief.thief.Find(), "a thief does not find what is there")
				thief.work()
			}
		})
		thief.live()
		busy.push()
		p.await(fewTrivial + 2)
		p.submit()
		p.await(fewTrivial + 3)
		idle()
		p.close()
		model.Assert(kind != Adaptive || thief.paused > 0, "a thief has not paused")
	})
}
