package policy

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// taskflow is the control of Taskflow since version 3.5 (executor.hpp, schedule and wait_for_task): each item shown
// wakes a worker, and a worker looks at all lanes once more before it sleeps. Nothing is counted.
type taskflow struct {
	m Machine
	silence
}

func newTaskflow(m Machine, _ Options) Policy { return &taskflow{m: m} }

func (p *taskflow) Thieves() *xatomic.Int32 { return &p.none }
func (p *taskflow) Refills() bool           { return false }
func (p *taskflow) Actives() int            { return 0 }

// Shown implements Policy.
func (p *taskflow) Shown() { p.m.Notify(1) }

// Submitted implements Policy.
func (p *taskflow) Submitted(n int) { p.m.Notify(n) }

// WakeAll implements Policy.
func (p *taskflow) WakeAll() { p.m.Notify(p.m.Workers()) }

// PassOn implements Hosting.
func (p *taskflow) PassOn() {
	if p.m.AnyWork() {
		p.m.Notify(1)
	}
}

// Attach implements Policy.
func (p *taskflow) Attach(h Host) Thief { return &taskflowThief{p: p, h: h, victim: h.ID()} }

type taskflowThief struct {
	p *taskflow
	deaf
	patient
	h      Host
	victim int // of the last successful steal, tried first; the worker's own ID is the injector
}

// Find implements Thief.
func (t *taskflowThief) Find() bool {
	m, h := t.p.m, t.h
	for {
		if h.Leave() {
			// D1(dismiss): this worker may have been woken for an item, and another must be woken in its place.
			t.p.PassOn()
			return false
		}
		if t.explore() {
			return true
		}
		h.Prepare()
		// D1(park): prepare, then look everywhere.
		switch {
		case m.Stopping():
			h.Cancel()
			return false
		case m.AnyWork():
			h.Cancel()
		default:
			h.Commit()
		}
	}
}

// explore tries the last victim, and then random others, the injector among them.
func (t *taskflowThief) explore() bool {
	m, h := t.p.m, t.h
	if !m.Running() && !m.AnyWork() {
		return false // Taskflow, too, tries only while a run is in progress
	}
	h.Searching()
	n := m.Workers()
	bound := stealBound * (n + 1)
	for failed, yields := 0, 0; !m.Stopping(); {
		if h.Try(t.victim) == deque.Stolen {
			return true
		}
		t.victim = h.Random(n)
		if failed++; failed > bound {
			h.Yield()
			if yields++; yields == taskflowYields {
				return false
			}
		}
	}
	return false
}
