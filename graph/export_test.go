package graph

import (
	"reflect"
	"time"
)

// MaxIdleStates is maxIdleStates.
const MaxIdleStates = maxIdleStates

// IsRunning reports whether a run of g is in progress, or of a graph that it is a module of.
func IsRunning(g *Graph) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.holds > 0
}

// Permits returns the number of free permits of s, and of runs with tasks that wait for one.
func Permits(s *Semaphore) (free, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free, len(s.waiting)
}

// IdleStates returns the number of run states that g keeps for later runs.
func IdleStates(g *Graph) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.states)
}

// MayBeAlone reports whether a worker may run g, which has run, without locked instructions.
func MayBeAlone(g *Graph) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.states[0].Alone()
}

// TakesPerTurn is takesPerTurn.
const TakesPerTurn = takesPerTurn

// Locals returns for how many workers the idle run state of g, which has run, keeps something.
func Locals(g *Graph) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for range g.states[0].allLocals() {
		n++
	}
	return n
}

// IsRanked reports whether the tasks of g, which has been frozen, have several priorities.
func IsRanked(g *Graph) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.levels != nil
}

// LeftInRanks returns the number of tasks that the idle run states of g have in their queues, or that a worker has.
func LeftInRanks(g *Graph) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.states {
		n += r.leftInRanks()
	}
	return n
}

func (r *runState) leftInRanks() (n int) {
	for l := range r.allLocals() {
		n += len(l.begun)
	}
	if r.ranks != nil {
		for _, q := range r.ranks.queues {
			n += len(q.tasks) - q.head
		}
	}
	return n
}

// Ranks are ranks without a run, of tasks with these priorities.
func Ranks(levels []Priority) (add func(task uint32), take func() uint32) {
	q := newRanks(new(runState), levels)
	return func(task uint32) { q.add(task) }, q.take
}

// WaitingFor returns the number of tasks that are put aside because s has too few permits.
func WaitingFor(s *Semaphore) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.waiting {
		n += len(q.tasks) - q.head
	}
	return n
}

// Prioritize gives each task of g a priority.
func Prioritize(g *Graph, priority func(task uint32) Priority) {
	for i := range uint32(g.Len()) {
		g.at(i).Priority(priority(i))
	}
}

// HasTopology reports whether g has its edges in a form that can be edited, and whether also those to predecessors.
func HasTopology(g *Graph) (forward, back bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.topology != nil, g.topology != nil && g.topology.back != nil
}

// ScansBeforeReverse is scansBeforeReverse.
const ScansBeforeReverse = scansBeforeReverse

// Sizes returns the sizes of a run state, and of the part that a subflow builds.
func Sizes() (state, part uintptr) {
	return reflect.TypeFor[runState]().Size(), reflect.TypeFor[builtPart]().Size()
}

// Pause is RetryPolicy.pause.
func Pause(p RetryPolicy, calls int) time.Duration { return p.pause(calls) }
