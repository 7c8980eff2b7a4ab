package graph

import (
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A Semaphore limits how many of the tasks that share it run at once, in however many graphs, runs and executors. A task that
// finds no permit is put aside, and its worker does something else. Make one with [NewSemaphore].
type Semaphore struct {
	permits int

	mu      xsync.Mutex
	free    int
	waiting []aside // those that found none, the first first
}

// An aside is a task that waits for a permit.
type aside struct {
	item *executor.Item
	run  *runState
}

// NewSemaphore returns a semaphore of so many permits. It panics if there is none.
func NewSemaphore(permits int) *Semaphore {
	if permits < 1 {
		panic(fmt.Sprintf("graph: a semaphore of %d permits: nothing would ever run", permits))
	}
	return &Semaphore{permits: permits, free: permits}
}

// Limit has the task run only while it holds a permit of each of the semaphores; one that is named twice, two. It takes all
// of them or none, so that tasks which name the same in another order do not wait for each other. The permits are given back
// when the task has ended, in whatever way. A task that waits for a permit when its run is stopped is skipped at once.
//
// It panics if a semaphore has fewer permits than the task needs.
func (t Task) Limit(semaphores ...*Semaphore) Task {
	g := t.owner("Limit")
	all := append(slices.Clone(g.limits[t.index]), semaphores...)
	for _, s := range all {
		if s == nil {
			panic(fmt.Sprintf("graph %q: Limit of task %s by a nil semaphore", g.name, g.taskName(t.index)))
		}
		need := 0
		for _, o := range all {
			if o == s {
				need++
			}
		}
		if need > s.permits {
			panic(fmt.Sprintf("graph %q: task %s needs %d permits of a semaphore that has %d: it would never run", g.name, g.taskName(t.index), need, s.permits))
		}
	}
	g.change()
	if g.limits == nil {
		g.limits = make(map[uint32][]*Semaphore)
	}
	g.limits[t.index] = all
	return t
}

// take takes a permit, or puts it aside. Both are false if there is none and the run is stopped.
func (s *Semaphore) take(it *executor.Item, r *runState) (taken, put bool) {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return true, false
	}
	s.waiting = append(s.waiting, aside{it, r})
	s.mu.Unlock()
	// D1(limit): put it aside, then look whether the run is stopped. Pairs with D1(stop): stopped, then look for what is
	// put aside.
	if r.Stopped() && s.withdraw(it) {
		return false, false
	}
	return false, true
}

// withdraw takes it out of those put aside, or returns false if somebody else has.
func (s *Semaphore) withdraw(it *executor.Item) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.waiting, func(a aside) bool { return a.item == it })
	if i < 0 {
		return false
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return true
}

// give gives a permit back. The first that waits tries again, in its turn among other items: somebody may be faster.
func (s *Semaphore) give() {
	s.mu.Lock()
	s.free++
	var first aside
	if len(s.waiting) > 0 {
		first = s.waiting[0]
		s.waiting = slices.Delete(s.waiting, 0, 1)
	}
	s.mu.Unlock()
	if first.item != nil {
		first.run.Run().Inject(first.item)
	}
}

// flush makes the tasks of a stopped run available, to be skipped.
func (s *Semaphore) flush(r *runState) {
	s.mu.Lock()
	var mine []*executor.Item
	s.waiting = slices.DeleteFunc(s.waiting, func(a aside) bool {
		if a.run == r {
			mine = append(mine, a.item)
		}
		return a.run == r
	})
	s.mu.Unlock()
	for _, it := range mine {
		r.Run().Inject(it)
	}
}

// OnStop implements executor.Stopper. D1(stop): see take.
func (r *runState) OnStop() {
	for _, s := range r.semaphores {
		s.flush(r)
	}
}

// limitsAt are the semaphores of task i of the plan.
func (g *Graph) limitsAt(i uint32) []*Semaphore {
	owner, own := g.origin(i)
	return owner.limits[own]
}

// semaphores lists those of g and its modules.
func (g *Graph) semaphores() (all []*Semaphore) {
	for _, limits := range g.limits {
		all = append(all, limits...)
	}
	for _, c := range g.copies {
		all = append(all, c.graph.semaphores()...)
	}
	return all
}

// execLimited runs a task that has limits, as kind does, or puts it aside.
func execLimited(w *executor.Worker, it *executor.Item) *executor.Item {
	r := stateOf(it.Body)
	i := r.index(recordOf(it))
	kind := r.kinds[i]
	if r.Stopped() {
		return kind(w, it)
	}
	limits := r.graph.limitsAt(i)
	for n, s := range limits {
		taken, put := s.take(it, r)
		if taken {
			continue
		}
		for _, held := range limits[:n] {
			held.give()
		}
		if !put {
			return kind(w, it)
		}
		// From here on it may be run elsewhere.
		w.Uncount()
		if l := &r.locals[w.ID()]; l.span != nil {
			return r.claim(w, l)
		}
		return nil
	}
	defer func() { // also after a panic, and after Goexit
		for _, s := range limits {
			s.give()
		}
	}()
	return kind(w, it)
}
