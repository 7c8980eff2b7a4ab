package bench

import "runtime"

// A DequeExperiment is one of those of Wang, Liu, Fu, Härtig and Chen (2024), to which any kind of deque can be put.
type DequeExperiment struct {
	Name   string
	Figure string // of the paper
	About  string // one line
	Size   string // what n counts; empty if n is given otherwise

	Default, Short int // n

	// points are what is measured of each kind, but for what all experiments have.
	points  func(s *DequeSession, n int) []dequeRun
	prepare func(*dequeRun) (dequeTrial, error)
	blocks  []int // tried if no others are asked for
	short   []int // likewise, in a short session
	bare    bool  // nobody works: it would be measured too

	views []dequeView // what the tables show
	notes []string    // how to read them
}

// A dequeTrial is one repetition, ready to be run.
type dequeTrial interface {
	run(*dequeRun) error
	figures() []Metric // of a run without an error
}

// DequeExperiments lists the experiments.
func DequeExperiments() []*DequeExperiment {
	return []*DequeExperiment{ownerExperiment, latencyExperiment, thievesExperiment, retriesExperiment, treeExperiment}
}

// DefaultBlock is the size of blocks in experiments that do not try several.
const DefaultBlock = 64

// oneBlock is for them.
var oneBlock = []int{DefaultBlock}

func (e *DequeExperiment) size(s *DequeSession) int {
	if s.N != 0 {
		return s.N
	}
	if s.Short {
		return e.Short
	}
	return e.Default
}

// pick returns what is asked for, or an experiment's own.
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

// shares are the points of an experiment with one thief, for all shares but those below least.
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

// numbersOfThieves are those that have a core each, and two at least.
func numbersOfThieves() (all []int) {
	for n := 1; n <= max(2, runtime.NumCPU()-1); n *= 2 {
		all = append(all, n)
	}
	return all
}
