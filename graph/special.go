package graph

import (
	"context"
	"slices"

	"github.com/magpie-go/magpie/executor"
)

// A special is the work of a task that does more than call a func(context.Context) error.
type special interface {
	// run does the work of task i of the plan, for which ctx is. It returns errLater if the task's lateEnd is, or will
	// be, made available.
	run(ctx context.Context, w *executor.Worker, r *runState, i uint32) error
}

// specials are those of a graph's or a plan's tasks, by task. Tasks behind the last special are left out.
type specials []special

// of returns the special of task i, or nil if it has none.
func (s specials) of(i uint32) special {
	if int(i) < len(s) {
		return s[i]
	}
	return nil
}

// set makes does the special of task i.
func (s *specials) set(i uint32, does special) {
	if more := int(i) + 1 - len(*s); more > 0 {
		*s = append(*s, make([]special, more)...)
	}
	(*s)[i] = does
}

// add adds the specials of other tasks, whose numbers begin at first.
func (s *specials) add(others specials, first uint32) {
	for i, does := range others {
		if does != nil {
			s.set(first+uint32(i), does)
		}
	}
}

// anyChooses reports whether one of the tasks chooses.
func (s specials) anyChooses() bool { return slices.ContainsFunc(s, isChoice) }

// anyMakes reports whether one of the tasks may make a value.
func (s specials) anyMakes() bool {
	return slices.ContainsFunc(s, func(does special) bool {
		switch does.(type) {
		case valueMaker, valueTask, externalMaker:
			return true
		}
		return false
	})
}

// anyEndsLater reports whether one of the tasks may end later.
func (s specials) anyEndsLater() bool {
	return slices.ContainsFunc(s, func(does special) bool {
		switch does.(type) {
		case nil, oneOf, someOf, valueMaker, valueTask:
			return false
		}
		return true
	})
}

func (g *Graph) addSpecial(s special) Task {
	t := g.Task(noTask)
	g.special.set(t.index, s)
	g.chooses = g.chooses || isChoice(s)
	return t
}

// An apart is a module that is run as a whole.
type apart struct{ sub *Graph }

func (m apart) run(_ context.Context, w *executor.Worker, r *runState, i uint32) error {
	return r.startPart(w, i, &partJob{Graph: m.sub}, false)
}

// execSpecial runs a task with a special, and counts it done.
func execSpecial(w *executor.Worker, it *executor.Item) *executor.Item {
	t := recordOf(it)
	r := stateOf(it.Body)
	i := r.index(t)
	r.arm(t, i)
	l := r.local(w)
	if !r.Disturbed() || r.mayBegin(w, t) {
		if err := r.special[i].run(r.ctx.Get(), w, r, i); err == errLater {
			return r.endsLater(w, l, i)
		} else if err != nil {
			r.fail(t, err)
		}
	}
	l.done++
	return r.release(w, l, t)
}
