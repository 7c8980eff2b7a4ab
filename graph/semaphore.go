package graph

import (
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A Semaphore limits how many of the tasks that share it run at once, across graphs, runs and executors. A task that
// does not get its permits is put aside, and its worker runs other tasks. With [Task.Hold] a task has permits while it
// runs; from a [Task.Acquire] to a [Task.Release] a run has them. Other code takes them with [Semaphore.Acquire] and
// [Semaphore.TryAcquire]. Make a semaphore with [NewSemaphore].
type Semaphore struct {
	permits int

	mu      xsync.Mutex
	free    int
	byHand  int      // taken by Semaphore.Acquire and TryAcquire
	waiting []*queue // one for each run with tasks that are put aside, and one for the calls of Semaphore.Acquire
}

// A queue holds the tasks of a run that are put aside, in the order in which they came. The first is at head.
type queue struct {
	run   *runState // nil: the tasks stand for calls of Semaphore.Acquire
	tasks []aside
	head  int
}

// An aside is a task that waits for permits.
type aside struct {
	item  *executor.Item
	need  int
	woken *signal // made when the task is woken, if it stands for a call of Semaphore.Acquire
}

// A limited describes a task that needs permits: exec runs it once it holds the permits of limits.
type limited struct {
	exec   exec
	limits []limit
	across bool // the task acquires or releases permits
}

// A limit is the number of permits of a semaphore that a task needs, and the number that it gives back at its end.
// These differ if the task acquires or releases permits.
type limit struct {
	*Semaphore
	need, back int
}

// NewSemaphore returns a semaphore with that many permits. It panics if permits is below one.
func NewSemaphore(permits int) *Semaphore {
	if permits < 1 {
		panic(fmt.Sprintf("graph: a semaphore of %d permits: nothing would ever run", permits))
	}
	return &Semaphore{permits: permits, free: permits}
}

// Hold makes the task run only while it holds a permit of each of the semaphores, or two of one that is named twice.
// The task takes all of them or none, so tasks that name the same semaphores in another order do not wait for each
// other. It gives the permits back when it has ended, in whatever way: a subflow after its graph, an external task
// after the call that ends it. A detached subflow gives them back when its graph is built. A task that waits for a
// permit when its run is stopped is skipped at once. Free permits are offered to the task that was put aside first, but
// a task that comes at that moment may be faster.
//
// A task may wait for a run whose tasks need permits that other runs have, see [executor.Run.Wait]. A task must not
// wait for work that needs a permit which the task itself holds, nor may its subflow or module have such tasks: they
// would wait for each other. Hold panics if a semaphore has fewer permits than the task needs.
func (t Task) Hold(semaphores ...*Semaphore) Task { return t.addLimits("Hold", 1, 1, semaphores) }

// addLimits adds to the permits that the task needs and gives back, for each of the semaphores.
func (t Task) addLimits(method string, need, back int, semaphores []*Semaphore) Task {
	g := t.owner(method)
	all := slices.Clone(g.limits[t.index])
	places := make(map[*Semaphore]int, len(all))
	for i, l := range all {
		places[l.Semaphore] = i
	}
	for _, s := range semaphores {
		if s == nil {
			panic(fmt.Sprintf("graph %q: %s of task %s by a nil semaphore", g.name, method, g.taskName(t.index)))
		}
		i, known := places[s]
		if !known {
			i, all = len(all), append(all, limit{s, 0, 0})
			places[s] = i
		}
		l := &all[i]
		l.need += need
		l.back += back
		if l.need > s.permits {
			panic(fmt.Sprintf("graph %q: task %s needs %d permits of a semaphore that has %d: it would never run",
				g.name, g.taskName(t.index), l.need, s.permits))
		}
		if l.back > s.permits {
			panic(fmt.Sprintf("graph %q: task %s gives back %d permits of a semaphore that has %d",
				g.name, g.taskName(t.index), l.back, s.permits))
		}
	}
	g.change()
	g.setLimits(t.index, all)
	return t
}

// setLimits sets the limits of task i. The caller has called change.
func (g *Graph) setLimits(i uint32, limits []limit) {
	if g.limits == nil {
		g.limits = make(map[uint32][]limit)
	}
	g.limits[i] = limits
}

// take takes the permits, or puts the task aside. Both results are false if there are too few and the run is stopped.
func (l limit) take(it *executor.Item, r *runState) (taken, put bool) {
	run := r.Run()
	l.mu.Lock()
	if l.free >= l.need {
		l.free -= l.need
		l.mu.Unlock()
		return true, false
	}
	l.putAside(aside{item: it, need: l.need}, r)
	l.mu.Unlock()
	run.HeldUp() // the task may have been woken by now, and its run be over
	// D1(aside): put the task aside, then look whether the run is stopped. Pairs with D1(flush): stop the run, then
	// look for tasks that are put aside.
	if r.Stopped() && l.withdraw(it, r) {
		run.GoesOn()
		return false, false
	}
	return false, true
}

func (s *Semaphore) putAside(a aside, r *runState) {
	i := slices.IndexFunc(s.waiting, func(q *queue) bool { return q.run == r })
	if i < 0 {
		i, s.waiting = len(s.waiting), append(s.waiting, &queue{run: r})
	}
	s.waiting[i].tasks = append(s.waiting[i].tasks, a)
}

// withdraw removes it from the tasks of r that are put aside, or returns false if another thread has removed it.
func (s *Semaphore) withdraw(it *executor.Item, r *runState) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.waiting {
		if i := slices.IndexFunc(q.tasks, func(a aside) bool { return a.item == it }); q.run == r && i >= 0 {
			q.remove(i)
			s.forgetEmpty()
			return true
		}
	}
	return false
}

// remove removes the task at i.
func (q *queue) remove(i int) {
	if i > q.head {
		q.tasks = slices.Delete(q.tasks, i, i+1)
		return
	}
	q.tasks[i] = aside{}
	if q.head++; 2*q.head >= len(q.tasks) {
		q.tasks = slices.Delete(q.tasks, 0, q.head)
		q.head = 0
	}
}

func (s *Semaphore) forgetEmpty() {
	s.waiting = slices.DeleteFunc(s.waiting, func(q *queue) bool { return q.head == len(q.tasks) })
}

// give gives n permits back and wakes tasks that can use them.
func (s *Semaphore) give(n int) {
	s.mu.Lock()
	s.free += n
	s.mu.Unlock()
	s.wake()
}

// wake makes tasks that are put aside available to try again: of every run, as many as there are permits for. All runs
// are considered because for some runs no worker may be free, as when all workers wait for other runs.
//
// So while there are permits for a task that is put aside, a woken task of the same run is on its way. A woken task
// that does not take the permits calls wake, for the next task.
func (s *Semaphore) wake() {
	var all []woken
	s.mu.Lock()
	for _, q := range s.waiting {
		left := s.free
		for i := q.head; i < len(q.tasks) && left > 0; {
			a := q.tasks[i]
			if a.need > left {
				i++
				continue
			}
			left -= a.need
			all = append(all, woken{a, q.run})
			moved := i == q.head
			q.remove(i)
			if moved {
				i = q.head
			}
		}
	}
	if all != nil {
		s.forgetEmpty()
	}
	s.mu.Unlock()
	each(all, woken.inject)
}

// A woken is a task that is no longer put aside.
type woken struct {
	aside
	run *runState
}

func (a woken) inject() {
	if a.run == nil {
		a.woken.make()
		return
	}
	a.run.Run().GoesOn()
	a.run.inject(a.item)
}

// each calls do for all elements. When a permit is given back, a task of an inline executor may run in do: if it calls
// runtime.Goexit, the remaining calls are made all the same.
func each[T any](all []T, do func(T)) {
	done := 0
	defer func() {
		if done < len(all) {
			each(all[done:], do)
		}
	}()
	for done < len(all) {
		done++
		do(all[done-1])
	}
}

// flush makes the tasks of a stopped run available, so that they are skipped.
func (s *Semaphore) flush(r *runState) {
	var mine []woken
	s.mu.Lock()
	if i := slices.IndexFunc(s.waiting, func(q *queue) bool { return q.run == r }); i >= 0 {
		for _, a := range s.waiting[i].tasks[s.waiting[i].head:] {
			mine = append(mine, woken{a, r})
		}
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	s.mu.Unlock()
	each(mine, woken.inject)
}

// OnStop implements executor.Hooks. D1(flush): see take.
func (r *runState) OnStop() {
	defer r.endStopped()
	all := r.semaphores.Load()
	if all == nil {
		return
	}
	for _, s := range *all {
		defer s.flush(r) // all of them, as in each
	}
}

// execLimited runs a task that has limits, or puts it aside.
func execLimited(w *executor.Worker, it *executor.Item) *executor.Item {
	r := stateOf(it.Body)
	i := r.index(recordOf(it))
	t := r.limited[i]
	if r.Stopped() {
		return t.exec(w, it) // no wake: permits are of no use to the other tasks of its run either
	}
	if !t.across && r.causeOf(i) != 0 {
		return t.exec(w, it) // no wake: the task was never put aside
	}
	for n, l := range t.limits {
		taken, put := l.take(it, r)
		if taken {
			continue
		}
		// From here on, if the task was put aside, another worker may run it.
		if !put {
			giveBack(t.limits, n)
			return t.exec(w, it)
		}
		r.Run().Uncount(w)
		l := r.local(w)
		next := r.goOn(w, l)
		l.leave(it, next, t.limits, n)
		return next
	}
	if t.across {
		r.held.keep(t.limits)
	}
	ended := false
	defer func() { // after a panic, and after Goexit
		if !ended {
			limits := r.returned(it, t)
			giveBack(limits, len(limits))
		}
	}()
	next := t.exec(w, it)
	ended = true
	l := r.local(w)
	if l.later {
		l.later = false
		return next // execLateEnd gives the permits back
	}
	limits := r.returned(it, t)
	l.leave(it, next, limits, len(limits))
	return next
}

// giveBack gives back the permits of the first held limits. For the other limits it calls wake: the task may have been
// woken for their permits and does not take them.
func giveBack(limits []limit, held int) {
	defer each(limits[held:], limit.wake)
	each(limits[:held], limit.giveBack)
}

func (l limit) giveBack() { l.give(l.need) }
func (l limit) wake()     { l.Semaphore.wake() }

// leave gives back the permits of an item. It is the last step of execLimited, which then returns next. A permit may
// let a task of an inline executor run here. If that task calls runtime.Goexit, execLimited does not return, and from
// l.leaving Fail sees that the item itself has not failed.
func (l *local) leave(it, next *executor.Item, limits []limit, held int) {
	l.leaving, l.next = it, next
	giveBack(limits, held)
	l.leaving, l.next = nil, nil
}

// finishLeave ends a leave that did not return. It returns the item to run next.
func (l *local) finishLeave() (next *executor.Item) {
	next = l.next
	l.leaving, l.next = nil, nil
	return next
}
