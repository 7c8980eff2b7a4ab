package bench

import "runtime"

// A DequeExperiment is one of the experiments of Wang, Liu, Fu, Härtig and Chen (2024). It works with any kind of
// deque.
type DequeExperiment struct {
	Name   string
	Figure string // of the paper
	About  string // one line
	Size   string // the unit of n; empty if n is given otherwise

	Default, Short int // the default n

	// points returns the points that are measured of each kind, without the settings that all experiments share.
	points  func(s *DequeSession, n int) []dequeRun
	prepare func(*dequeRun) (dequeTrial, error)
	blocks  func(*DequeSession) []int // the sizes of blocks if the session has none; nil: DefaultBlock only
	work    int                       // of each node, or after each operation, if the session has none
	bare    bool                      // there is no work: it would be measured too

	views []dequeView // the tables
	notes []string    // how to read them
}

// A dequeTrial is one repetition, ready to run.
type dequeTrial interface {
	run(*dequeRun) error
	figures() []Metric // after a run without an error
}

// DequeExperiments lists the experiments.
func DequeExperiments() []*DequeExperiment {
	return []*DequeExperiment{ownerExperiment, latencyExperiment, thievesExperiment, retriesExperiment, treeExperiment}
}

// DefaultBlock is the size of blocks in experiments with a single size.
const DefaultBlock = 64

func (e *DequeExperiment) size(s *DequeSession) int {
	if s.N != 0 {
		return s.N
	}
	if s.Short {
		return e.Short
	}
	return e.Default
}

// blocksFor returns the sizes of blocks for runs of e.
func (e *DequeExperiment) blocksFor(s *DequeSession, k *DequeKind) []int {
	switch {
	case !k.Blocks:
		return []int{0}
	case s.Blocks != nil:
		return s.Blocks
	case e.blocks != nil:
		return e.blocks(s)
	default:
		return []int{DefaultBlock}
	}
}

// works returns the amounts of work for runs of e.
func (e *DequeExperiment) works(s *DequeSession) []int {
	if e.bare {
		return []int{0}
	}
	return pick(s.Work, s.Short, []int{e.work}, []int{e.work})
}

// pick returns asked if there is any, or else the list for the session's length.
func pick[T any](asked []T, isShort bool, own, short []T) []T {
	switch {
	case asked != nil:
		return asked
	case isShort:
		return short
	default:
		return own
	}
}

// shares returns the points of an experiment with one thief: the shares from least up.
func shares(own, short []int, least int) func(*DequeSession, int) []dequeRun {
	return func(s *DequeSession, n int) (all []dequeRun) {
		for _, share := range pick(s.Stolen, s.Short, own, short) {
			if share >= least {
				all = append(all, dequeRun{DequePoint: DequePoint{Stolen: share, N: n}})
			}
		}
		return all
	}
}

// numbersOfThieves returns the numbers of thieves for which each thief has a core, and 1 and 2 in any case.
func numbersOfThieves() (all []int) {
	for n := 1; n <= max(2, runtime.NumCPU()-1); n *= 2 {
		all = append(all, n)
	}
	return all
}
