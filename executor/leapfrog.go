package executor

import "github.com/magpie-go/magpie/internal/xatomic"

// maxLeaps is how many forks leapfrog follows, and how many Joins of a worker it can see.
const maxLeaps = 8

// A taking is a fork with its state as read by leapfrog, without forkWaited.
type taking struct {
	f     *fork
	state uint64
}

func (t *taking) isTaken() bool { return t.state != 0 && t.state&forkDone == 0 }

// isNewerThan reports whether the taker took the fork after its count of takes was takes. The state has only the lower
// 30 bits of the count, which is enough: a worker does not take 1<<29 forks during one wait.
func (t *taking) isNewerThan(takes uint64) bool {
	return int64(takes<<forkTakes-t.state>>forkTakes<<forkTakes) < 0
}

// leaps publishes a worker's waits for joiners that leapfrog. The worker writes it.
type leaps struct {
	// The forks that the worker's Joins wait for, a ring that is used as a stack. It has the innermost maxLeaps Joins.
	// Entries may be left of Joins that have ended.
	joins xatomic.Uint32 // the number of Joins that wait
	of    [maxLeaps]struct {
		f     xatomic.Pointer[fork]
		takes xatomic.Uint64 // forks.takes when the Join began
	}
	waitsFor xatomic.Pointer[Run] // the outermost run that the worker helps
}

// begin enters the Join of f. exitNested ends it.
func (j *leaps) begin(f *fork, takes uint64) {
	n := j.joins.Load()
	e := &j.of[n%maxLeaps]
	e.f.Store(f)
	e.takes.Store(takes) // after f: a reader of takes, then f, gets the f of that Join or of a later one
	j.joins.Store(n + 1)
}

// after fills list with the forks awaited by those Joins of the worker that began after it had taken t, innermost
// first, and returns their number. If the worker still has t after that, each of them comes from t, even one that has
// ended.
func (j *leaps) after(t *taking, list []taking) int {
	n := j.joins.Load()
	for i := range min(len(list), int(n)) {
		e := &j.of[(n-1-uint32(i))%maxLeaps]
		if t.isNewerThan(e.takes.Load()) {
			return i
		}
		list[i].f = e.f.Load()
	}
	return min(len(list), int(n))
}

// leapfrog steals an item that f waits for. f is not done. (Wagner and Calder, "Leapfrogging: a portable technique for
// implementing efficient futures", 1993.) It looks at the taker of f, at the takers of the forks that this worker waits
// for in its Joins, and so on. If the item is not of f's body, within is the run to run it for. from has the bits of
// the victims.
//
// A victim's lane may have items that do not come from the fork that it has taken, because it may have taken that fork
// in a Join of its own. So leapfrog checks the ancestors of each fork stolen, and injects one that f does not wait for.
func (own *forks) leapfrog(f *fork) (it *Item, within *Run, from uint64) {
	w := own.w
	ex := executorOf(w.core)
	var takings [maxLeaps]taking
	takings[0].f = f
	for n, known := 0, 1; n < known; n++ {
		t := &takings[n]
		t.state = t.f.state.Load() &^ forkWaited
		if !t.isTaken() {
			continue
		}
		victim := ex.roster[t.state&forkTaker-1]
		if victim == w {
			continue
		}
		from |= victim.bit()
		for victim.lane.Ask() {
			it, _ := w.search.steal(victim)
			if it == nil {
				continue // lost
			}
			if it.Body == f.Body {
				if forkOf(it).comesFrom(f) {
					return it, nil, from
				}
			} else if r := partsOf(victim).leaps.waitsFor.Load(); r != nil && r != f.Body.owner() &&
				r.isWithin(f.Body.owner()) && it.Body.owner().isWithin(r) && areStillTaken(takings[:n+1]) {
				return it, r, from
			}
			ex.inject(it)
			return nil, nil, from
		}
		known += partsOf(victim).leaps.after(t, takings[known:])
		if !areStillTaken(takings[:n+1]) {
			break
		}
	}
	return nil, nil, from
}

// areStillTaken reports whether each taken fork in all has the same taker since its state was read. The state has the
// taker's count of takes, so a fork that the same worker has taken again does not pass.
//
// A taken fork waits for everything that its taker has begun to wait for since, which is above the fork on the taker's
// stack.
func areStillTaken(all []taking) bool {
	for _, t := range all {
		if t.isTaken() && t.f.state.Load()&^forkWaited != t.state {
			return false
		}
	}
	return true
}
