package graph

import (
	"fmt"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xsync"
)

// Acquire makes the task wait for a permit of each of the semaphores, or for two of one that is named twice. The
// permits are not given back at the end of the task: the run keeps them until a task of [Task.Release] gives them back.
// So tasks in between work under them:
//
//	connect.Acquire(connections)
//	connect.Precede(query1, query2)
//	hangUp.Succeed(query1, query2)
//	hangUp.Release(connections)
//
// A task takes the permits of all its Acquires and Holds together, or none. Permits that a run has at its end are
// given back then: so none is lost if a task fails, if a task of Release is skipped, or if there is none. The copy of a
// [Graph.Module] belongs to the run around it. A subflow, and a module that is run as a whole, is a run of its own.
//
// Two runs, or two branches of a run, that each have a permit and wait for another one wait for each other. Acquire all
// permits in one task to avoid that. [Graph.Validate] finds a task that waits for permits which only its predecessors
// have, along one path through the graph. Acquire panics if a semaphore has fewer permits than the task needs.
func (t Task) Acquire(semaphores ...*Semaphore) Task { return t.addLimits("Acquire", 1, 0, semaphores) }

// Release makes the task give back a permit of each of the semaphores when it has ended, in whatever way, or two of one
// that is named twice. The permits are those that the run has from [Task.Acquire]; a task with both is as one with
// [Task.Hold]. If the run has too few, the task fails. If no task acquires any, or if all tasks together release more
// permits than they acquire and there is no condition, [Graph.Validate] says so. Release panics if a semaphore has
// fewer permits than the task gives back.
func (t Task) Release(semaphores ...*Semaphore) Task { return t.addLimits("Release", 0, 1, semaphores) }

func (l limit) acquired() int { return max(0, l.need-l.back) }
func (l limit) released() int { return max(0, l.back-l.need) }

// isAcross reports whether a task with these limits acquires or releases permits.
func isAcross(limits []limit) bool {
	for _, l := range limits {
		if l.need != l.back {
			return true
		}
	}
	return false
}

// held holds the permits that a run has from tasks of Acquire.
type held struct {
	mu      xsync.Mutex
	permits map[*Semaphore]int
	order   []*Semaphore // the keys of permits, so that a replay gives them back in the same order
}

func newHeld() *held { return &held{permits: make(map[*Semaphore]int)} }

// keep notes the permits that a task is about to acquire. The task holds the permits of all its limits. keep is called
// before the task's successors can run, because one of them may release the permits.
func (h *held) keep(limits []limit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range limits {
		n := l.acquired()
		if n == 0 {
			continue
		}
		if _, known := h.permits[l.Semaphore]; !known {
			h.order = append(h.order, l.Semaphore)
		}
		h.permits[l.Semaphore] += n
	}
}

// takeOut returns the permits that the end of a task gives back, as the need of each limit. err says which the task
// should have released and the run does not have.
func (h *held) takeOut(limits []limit) (back []limit, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range limits {
		n := l.released()
		if n > 0 {
			has := h.permits[l.Semaphore]
			if n > has {
				err = fmt.Errorf("releases %d of a semaphore's permits, of which the run has %d: "+
					"let a task that acquires them come before", n, has)
				n = has
			}
			if n > 0 { // else there may be no entry, and keep is to find that
				h.permits[l.Semaphore] = has - n
			}
		}
		if n += min(l.need, l.back); n > 0 {
			back = append(back, limit{Semaphore: l.Semaphore, need: n})
		}
	}
	return back, err
}

// giveAll gives all permits back. No task of the run is in progress.
func (h *held) giveAll() {
	var back []limit
	h.mu.Lock()
	for _, s := range h.order {
		if n := h.permits[s]; n > 0 {
			back = append(back, limit{Semaphore: s, need: n})
		}
	}
	clear(h.permits)
	h.order = h.order[:0]
	h.mu.Unlock()
	each(back, limit.giveBack)
}

// returned returns the permits that the end of a task gives back. The task fails if it is to release more than the run
// has, unless it is skipped because of a failure.
func (r *runState) returned(it *executor.Item, t limited) []limit {
	if !t.across {
		return t.limits
	}
	back, err := r.held.takeOut(t.limits)
	if i := r.index(recordOf(it)); err != nil && r.causeOf(i) == 0 {
		r.failLate(i, err)
	}
	return back
}
