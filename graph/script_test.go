package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// ending is the way in which the context of a run's caller ends.
type ending uint8

const (
	endNever       ending = iota // it cannot
	endCancel                    // is cancelled without a cause
	endCause                     // with one
	endDeadline                  // passes its deadline
	endSilently                  // and notifies no one: as if the notifying goroutine were late
	beforeCancel                 // has been cancelled before the run begins
	beforeDeadline               // has passed its deadline by then
)

func (e ending) String() string {
	return [...]string{"cannot end", "cancelled", "cancelled with a cause", "deadline", "silent deadline",
		"cancelled before", "deadline before"}[e]
}

func (e ending) isBefore() bool { return e >= beforeCancel }

var (
	beginnings = []ending{endNever, endCancel, endCause} // of contexts that never end
	endings    = []ending{endCancel, endCause, endDeadline, endSilently}
)

// A script has the faults of one run.
type script struct {
	faults  []fault // of different tasks
	ending  ending
	outside outside
	delay   int // of that, in yields
}

// exits reports whether a task calls Goexit, in the run or in one nested in it. If the task runs on a goroutine that
// waits from outside, that goroutine ends: a test waits for Done first.
func (s script) exits() bool {
	return slices.ContainsFunc(s.faults, func(f fault) bool {
		return f.kind.exits() || f.kind.nests() && f.sub.exits()
	})
}

// outside is the act of the goroutine that began the run, at any time.
type outside uint8

const (
	leavesAlone outside = iota
	cancelsRun
	endsItsContext
)

func (o outside) String() string {
	return [...]string{"leaves it alone", "cancels it", "ends its context"}[o]
}

type fault struct {
	task  int
	round int // how often the task has run before
	kind  kind
	sub   script // of the run that the task begins
}

func (f fault) String() string {
	if f.kind.nests() {
		return fmt.Sprintf("task %d %v {%v}", f.task, f.kind, f.sub)
	}
	if f.round > 0 {
		return fmt.Sprintf("task %d %v in round %d", f.task, f.kind, f.round)
	}
	return fmt.Sprintf("task %d %v", f.task, f.kind)
}

func (s script) String() string {
	return fmt.Sprintf("context %v, faults %v, its caller %v", s.ending, s.faults, s.outside)
}

// singles are the faults that stop a run on their own, each with every ending that matters for it.
var singles = func() (all []script) {
	for k := range echoes {
		if !k.ends() {
			all = append(all, script{faults: []fault{{kind: k}}})
			continue
		}
		for _, e := range endings {
			all = append(all, script{faults: []fault{{kind: k}}, ending: e})
		}
	}
	return all
}()

// single is the script number i of singles, at a task.
func (m *model) single(rng *rand.Rand, i, task int) script {
	s := singles[i]
	s.faults = []fault{m.fault(rng, task, s.faults[0].kind)}
	if !s.faults[0].kind.ends() {
		s.ending = beginnings[rng.IntN(len(beginnings))]
	}
	return s
}

// fault returns a fault of that kind. The script of a nested run is drawn.
func (m *model) fault(rng *rand.Rand, task int, k kind) fault {
	f := fault{task: task, kind: k}
	if !k.nests() {
		return f
	}
	if m.nests == nil {
		m.nests = randomModel(rng, 1+rng.IntN(12))
	}
	if rng.IntN(4) != 0 {
		f.sub = m.nests.single(rng, rng.IntN(len(singles)), rng.IntN(len(m.nests.preds)))
	}
	return f
}

// drawFaults draws a fault for each task with the given probability.
func (m *model) drawFaults(rng *rand.Rand, probability float64) script {
	s := script{ending: endings[rng.IntN(len(endings))]}
	for task := range m.preds {
		if rng.Float64() < probability {
			s.faults = append(s.faults, m.fault(rng, task, kind(rng.IntN(int(kinds)))))
		}
	}
	return s
}

// drawScript draws the script of one run: one fault, two or many, an act of the caller, or a context that has ended.
func (m *model) drawScript(rng *rand.Rand) script {
	n := len(m.preds)
	switch rng.IntN(8) {
	case 0:
		return m.drawFaults(rng, 0.3)
	case 1, 2:
		if n < 2 {
			break
		}
		s := m.single(rng, rng.IntN(len(singles)), rng.IntN(n))
		second := m.single(rng, rng.IntN(len(singles)), (s.faults[0].task+1+rng.IntN(n-1))%n)
		s.faults = append(s.faults, second.faults[0])
		if second.faults[0].kind.ends() && !s.faults[0].kind.ends() {
			s.ending = second.ending
		}
		return s
	case 3:
		if rng.IntN(4) == 0 {
			return script{ending: beforeCancel + ending(rng.IntN(2))}
		}
	case 4, 5:
		var s script
		if rng.IntN(2) == 0 {
			s = m.single(rng, rng.IntN(len(singles)), rng.IntN(n))
		}
		s.outside, s.delay = cancelsRun, rng.IntN(1<<rng.IntN(10))
		if rng.IntN(2) == 0 {
			s.outside = endsItsContext
			if len(s.faults) == 0 || !s.faults[0].kind.ends() {
				s.ending = endings[rng.IntN(len(endings))]
			}
		}
		return s
	}
	return m.single(rng, rng.IntN(len(singles)), rng.IntN(n))
}
