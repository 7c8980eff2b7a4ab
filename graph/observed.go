package graph

import (
	"context"
	"iter"

	"github.com/magpie-go/magpie/executor"
)

// taskSet returns the tasks of the plan for observers. The caller holds g and has locked mu.
func (g *Graph) taskSet() *executor.TaskSet {
	if g.tasks != nil {
		return g.tasks
	}
	p := g.plan
	set := &executor.TaskSet{Job: g.name, Tasks: make([]executor.TaskInfo, p.Len())}
	for i := range set.Tasks {
		set.Tasks[i].Set, set.Tasks[i].Index = set, i
	}
	name := func(of *Graph, first uint32, before string) {
		for i, name := range of.names {
			set.Tasks[first+i].Name = before + name
		}
		for _, m := range of.modules {
			set.Tasks[first+m.task].Name = before + of.ownName(m.task)
		}
	}
	name(g, 0, "") // if there are modules, g's own tasks come first
	for _, part := range g.layout.parts {
		if part.graph != g && part.own == 0 {
			name(part.graph, part.first, g.moduleName(part.module)+"/")
		}
	}
	set.Successors = func(i int) iter.Seq[int] {
		return func(yield func(int) bool) {
			for _, s := range p.Successors(uint32(i)) {
				if !yield(int(s)) {
					return
				}
			}
		}
	}
	g.tasks = set
	return set
}

// execObserved runs one task as execTask does, with observers.
func execObserved(w *executor.Worker, it *executor.Item) *executor.Item {
	t := recordOf(it)
	r := stateOf(it.Body)
	if !r.Disturbed() || r.mayBegin(w, t) {
		if err := r.Run().CallTask(w, &r.observed[r.index(t)], t.fn); err != nil {
			r.fail(t, err)
		}
	}
	l := r.local(w)
	l.done++
	if l.span == nil && t.succ>>succShift == 1 { // as in releaseOften
		if s := r.successor(t.succ & succMask); s.countDown(r.Run().Alone(w)) {
			return &s.Item
		}
		return nil
	}
	return r.release(w, l, t)
}

// execJoinObserved is execObserved for a task with any number of predecessors.
func execJoinObserved(w *executor.Worker, it *executor.Item) *executor.Item {
	t := recordOf(it)
	r := stateOf(it.Body)
	r.arm(t, r.index(t))
	return execObserved(w, it)
}

// execSpecialObserved is execSpecial with observers.
func execSpecialObserved(w *executor.Worker, it *executor.Item) *executor.Item {
	t := recordOf(it)
	r := stateOf(it.Body)
	i := r.index(t)
	r.arm(t, i)
	l := r.local(w)
	if !r.Disturbed() || r.mayBegin(w, t) {
		if err := r.runObserved(w, i); err == errLater {
			return r.endsLater(w, l, i)
		} else if err != nil {
			r.fail(t, err)
		}
	}
	l.done++
	return r.release(w, l, t)
}

func (r *runState) runObserved(w *executor.Worker, i uint32) (err error) {
	_ = r.Run().CallTask(w, &r.observed[i], func(ctx context.Context) error {
		err = r.special[i].run(ctx, w, r, i)
		return failureOf(err)
	})
	return err
}

// failureOf returns err, unless that says that the task ends later.
func failureOf(err error) error {
	if err == errLater {
		return nil
	}
	return err
}

// execDynamicObserved is execDynamic with observers.
func execDynamicObserved(w *executor.Worker, it *executor.Item) *executor.Item {
	t := recordOf(it)
	r := stateOf(it.Body)
	i := r.index(t)
	l := r.local(w)
	if r.Disturbed() && !r.mayBegin(w, t) {
		return r.endWithout(w, l, i)
	}
	l.ran++
	var one [1]int
	chosen, err := r.decideObserved(w, t, i, &one)
	return r.endDynamic(w, l, t, i, chosen, err)
}

func (r *runState) decideObserved(w *executor.Worker, t *record, i uint32, one *[1]int) (chosen []int, err error) {
	_ = r.Run().CallTask(w, &r.observed[i], func(ctx context.Context) error {
		chosen, err = r.decide(ctx, w, t, i, one)
		return failureOf(err)
	})
	return chosen, err
}

// skip says that task i is skipped, and why.
func (r *runState) skip(w *executor.Worker, i uint32) {
	if r.observed == nil {
		r.Run().SkipTask(w, nil, nil)
	} else {
		r.Run().SkipTask(w, &r.observed[i], r.whySkipped(i))
	}
}
