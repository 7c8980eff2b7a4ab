//go:build modelcheck

package share

import (
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/park"
)

// A fakeHost has workers that rest on parkers.
type fakeHost struct {
	Control
	parkers [3]park.Parker
	signals int
}

// newFake returns a host with so many workers awake.
func newFake(awake, allotment int) *fakeHost {
	h := &fakeHost{}
	h.Init(h, len(h.parkers))
	for range awake {
		h.CountAwake()
	}
	h.SetAllotment(allotment)
	return h
}

func (h *fakeHost) AnyWork() bool      { return true }
func (h *fakeHost) AnySubmitted() bool { return false }
func (h *fakeHost) Signal()            { h.signals++ }
func (h *fakeHost) Wake(worker int)    { h.parkers[worker].Unpark() }

// boundary is what a worker does between two tasks.
func (h *fakeHost) boundary(worker int, laden bool) {
	if h.Wanted() && h.Rest(worker, laden) {
		h.parkers[worker].Park()
	}
}

// settled checks the state when no thread is in a method.
func (h *fakeHost) settled(awake int) {
	model.Assert(h.Awake() == awake, "%d awake, want %d", h.Awake(), awake)
	over := h.awake.Load() > h.most.Load()
	model.Assert(h.Wanted() || !over, "no worker is to rest with %d awake, allotted %d", h.Awake(), h.most.Load())
	model.Assert(!over || h.signals > 0, "no signal")
	model.Assert(int(h.resting.Load()) == len(h.withWork)+len(h.without) && int(h.laden.Load()) == len(h.withWork),
		"%d rest, %d with work, of %v and %v", h.resting.Load(), h.laden.Load(), h.withWork, h.without)
}

// TestModelRestAndPark: of two workers awake on one processor, one is about to rest with work and the other finds no
// work. If the first rests, the second wakes it, or it would rest for ever (S2).
func TestModelRestAndPark(t *testing.T) {
	model.Check(t, func() {
		h := newFake(2, 1)
		join := model.Go(func() { h.boundary(0, true) })
		h.CountAsleep(true)
		join()
		h.settled(1)
	})
}

// TestModelRestAndBlock: the same of a worker that rests without work and one that blocks (S1).
func TestModelRestAndBlock(t *testing.T) {
	model.Check(t, func() {
		h := newFake(2, 1)
		join := model.Go(func() { h.boundary(0, false) })
		h.CountAsleep(false)
		join()
		h.settled(1)
	})
}

// TestModelRestAndWake: a worker rests, or finds that it need not, while another is woken. Wanted tells whether too
// many are awake then.
func TestModelRestAndWake(t *testing.T) {
	for _, allotment := range []int{1, 2} {
		t.Run(fmt.Sprint(allotment), func(t *testing.T) {
			model.Check(t, func() {
				h := newFake(2, allotment)
				rested := false
				join := model.Go(func() { rested = h.Wanted() && h.Rest(0, false) })
				h.CountAwake()
				join()
				if rested {
					h.settled(2)
				} else {
					h.settled(3)
				}
			})
		})
	}
}

// TestModelTwoRest: two workers on one processor come to a boundary at the same time. One rests, until the other
// sleeps.
func TestModelTwoRest(t *testing.T) {
	model.Check(t, func() {
		h := newFake(2, 1)
		work := func(worker int) func() {
			return func() {
				h.boundary(worker, true)
				h.CountAsleep(true)
			}
		}
		join := model.Go(work(0))
		work(1)()
		join()
		h.settled(0)
	})
}

// TestModelAllotmentGrows: the allotment grows while a worker goes to rest.
func TestModelAllotmentGrows(t *testing.T) {
	model.Check(t, func() {
		h := newFake(2, 1)
		join := model.Go(func() { h.boundary(0, false) })
		h.SetAllotment(2)
		join()
		h.settled(2)
	})
}

// TestModelAllotmentFalls: the allotment falls while a worker is woken and another sleeps.
func TestModelAllotmentFalls(t *testing.T) {
	model.Check(t, func() {
		h := newFake(1, 2)
		join := model.Go(func() { h.CountAwake() })
		h.SetAllotment(1)
		join()
		h.settled(2)
		join = model.Go(func() { h.CountAsleep(true) })
		h.CountAwake()
		join()
		h.settled(2)
	})
}

// TestModelAllotmentOfNone: with an allotment of 0 a worker rests until the allotment grows, while another wakes and
// sleeps. One without work may rest longer if the other can be woken (S1).
func TestModelAllotmentOfNone(t *testing.T) {
	for _, laden := range []bool{false, true} {
		t.Run(fmt.Sprintf("laden=%v", laden), func(t *testing.T) {
			model.Check(t, func() {
				h := newFake(1, 0)
				join := model.Go(func() { h.boundary(0, laden) })
				other := model.Go(func() {
					h.CountAwake()
					h.CountAsleep(laden)
				})
				h.SetAllotment(1)
				join()
				other()
				h.settled(1)
			})
		})
	}
}

// TestModelSwap: a thief takes the place of a worker that rests with work, while the allotment grows and a turn begins.
func TestModelSwap(t *testing.T) {
	model.Check(t, func() {
		h := newFake(2, 1)
		join := model.Go(func() { h.boundary(0, true) })
		model.Assert(!h.Swap(1, 2), "worker 2 does not rest")
		if h.Swap(1, 0) {
			join2 := model.Go(func() { h.SetAllotment(2) })
			h.parkers[1].Park()
			join2()
			join()
			h.settled(2)
			return
		}
		h.SetAllotment(2)
		join()
		h.settled(2)
	})
}
