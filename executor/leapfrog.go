package executor

import "github.com/magpie-go/magpie/internal/xatomic"

// maxLeaps is how many forks in the hands of others leapfrog looks at.
const maxLeaps = 8

// A hold is a fork in the hands of a worker.
type hold struct {
	f     *fork
	state uint64
}

func (h *hold) isTaken() bool { return h.state != 0 && h.state&forkDone == 0 }

// isNewerThan reports whether the worker took the fork after it had taken so many. The state has the lower 30 bits of
// that count: the worker does not take half as many on top of one wait.
func (h *hold) isNewerThan(takes uint64) bool {
	return int64(takes<<forkTakes-h.state>>forkTakes<<forkTakes) < 0
}

// leaps is what a worker tells others of its waits, so that joiners can leapfrog. Its worker writes it.
type leaps struct {
	// The forks that the worker waits for in its Joins, one on top of the other. Of many the innermost are there, and
	// entries that a Join deeper down has left.
	joins xatomic.Uint32 // how many Joins wait
	of    [maxLeaps]struct {
		f     xatomic.Pointer[fork]
		takes xatomic.Uint64 // how many forks the worker had taken when the Join began
	}
	waitsFor xatomic.Pointer[Run] // the outermost run that the worker helps
	from     xatomic.Uint64       // bit id%64: it means to take items of such a worker, asleep in a Join; 0: of any
}

// begin enters a Join. exitNested ends it.
func (j *leaps) begin(f *fork, takes uint64) {
	n := j.joins.Load()
	e := &j.of[n%maxLeaps]
	e.f.Store(f)
	e.takes.Store(takes) // after f: a thread that reads takes first reads of that Join or of a later one
	j.joins.Store(n + 1)
}

// after puts into list what the Joins wait for that began after the worker had taken h, as many as there is room for,
// and returns how many these are. If the worker still has h then, each is a fork that comes from h, even one that has
// ended.
func (j *leaps) after(h *hold, list []hold) int {
	n := j.joins.Load()
	for i := range min(len(list), int(n)) {
		e := &j.of[(n-1-uint32(i))%maxLeaps]
		if h.isNewerThan(e.takes.Load()) {
			return i
		}
		list[i].f = e.f.Load()
	}
	return min(len(list), int(n))
}

// leapfrog steals an item that the end of f waits for, which is not done (Wagner and Calder, "Leapfrogging: a portable
// technique for implementing efficient futures", 1993). It looks
// at the worker that has f, at the workers that have what that one waits for in its Joins, and so on. If the item is of
// another body than f, within is the run that it is for. It also returns the bits of the workers that it came to.
//
// A worker's lane may have more than what comes from the fork that the worker has: it may have taken that fork in a
// Join of its own. So each fork that is stolen is asked where it comes from, and goes to the injector if f does not
// wait for it.
func (w *Worker) leapfrog(f *fork) (it *Item, within *Run, from uint64) {
	ex := w.ex
	var held [maxLeaps]hold
	held[0].f = f
	for n, known := 0, 1; n < known; n++ {
		h := &held[n]
		h.state = h.f.state.Load() &^ forkWaited
		if !h.isTaken() {
			continue
		}
		victim := ex.roster[h.state&forkTaker-1]
		if victim == w {
			continue
		}
		from |= victim.bit()
		for victim.lane.Ask() {
			it, _ := w.steal(victim)
			if it == nil {
				continue // lost
			}
			if it.Body == f.Body {
				if forkOf(it).comesFrom(f) {
					return it, nil, from
				}
			} else if r := victim.leaps.waitsFor.Load(); r != nil && r != f.Body.owner() && r.isWithin(f.Body.owner()) &&
				it.Body.owner().isWithin(r) && areHeld(held[:n+1]) {
				return it, r, from
			}
			ex.inject(it)
			return nil, nil, from
		}
		known += victim.leaps.after(h, held[known:])
		if !areHeld(held[:n+1]) {
			break
		}
	}
	return nil, nil, from
}

// areHeld reports whether each fork that is in somebody's hands has been in the same ones since its state was read. A
// worker's takes are counted, so that a fork which the worker had, and has again, does not pass.
//
// All that a worker began to wait for after it took such a fork, the fork waits for: that is above it on the worker's
// stack.
func areHeld(all []hold) bool {
	for _, h := range all {
		if h.isTaken() && h.f.state.Load()&^forkWaited != h.state {
			return false
		}
	}
	return true
}
