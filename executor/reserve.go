package executor

import (
	"slices"
	"sync"
	"time"

	"github.com/magpie-go/magpie/executor/internal/stalls"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/procs"
)

// A reserve is the Ps that an executor adds to those of the process. A worker that is awake keeps a P from goroutines,
// and the garbage collector takes a quarter of all Ps, a third of the others. So for each worker there is one, and a
// third more: without that third there are too few for the goroutines just when workers keep their threads from the
// cores.
//
// They cost a program whose workers sleep most of the time, as one that calls loops of some milliseconds. The collector
// marks on each idle P, and so on more threads than there are cores. Its sweeper spins while another thread has begun
// to sweep and waits for a core. Loops of 1 to 5 ms that allocate, called from main on two cores, took up to 1.25 times
// as long with three Ps more as with one, and at the 99th percentile up to twice as long (AMD EPYC, shared,
// 2026-11-30). So an executor begins with the third, which busy workers leave to goroutines, and takes the others once
// a worker stays awake for long, or several callers use the executor at once and workers are awake.
//
// Such callers and the workers hand runs and their ends to each other all the time, and a goroutine that is woken waits
// for a P: a worker that has fallen asleep keeps its own for a while. Where eight clients' requests called loops of a
// millisecond, there were 1460 answers a second with three Ps more, and 1330 with one more (the same machine and day).
// While callers run all items themselves, in the workers' places, they need no Ps but their own.
//
// It keeps them then: each change stops the world, and the runtime (Go 1.26) calls the cleanups that a P has found only
// once there are as many Ps again.
type reserve struct {
	mu    sync.Mutex         // guards taken and rest; the model checker leaves looks out
	taken *procs.Reservation // nil: none, as on an inline executor
	rest  int                // the Ps to take once looks ask for them

	// Of looks, of which there is one at a time.
	asked  bool // for the rest
	stints []stint
	crowd  int           // grows at looks that find several callers, and a worker awake
	long   time.Duration // longStint; constant
}

// A stint is what looks have found of a worker that is awake.
type stint struct {
	since time.Time // of the first look at which it was awake, and has not slept since; zero: it slept at the last look
	parks uint64    // of the worker, at that look
}

// longStint is how long a worker is awake before the executor reserves all Ps. It is longer than the loops for which
// few Ps are better, and short beside the life of a service. Arbitrary.
var longStint = 100 * time.Millisecond // a test changes it before New

// A look at which several callers' runs are in progress, and a worker is awake, adds crowded to reserve.crowd, and
// another takes one away. At crowdLimit the executor reserves all Ps: once that was so at more than a quarter of the
// looks. Arbitrary.
const (
	crowded    = 3
	crowdLimit = 12
)

// manyRuns is how many runs a look goes through. If there are more, workers are awake for long sooner or later, whoever
// has started the runs.
const manyRuns = 256

// begin takes the first Ps. Room was claimed for those and the rest.
func (r *reserve) begin(first, rest int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken, r.rest = procs.Reserve(first), rest
	osthread.ArrivePs(first)
	r.asked, r.long = rest == 0, longStint
}

// look asks for the rest once a worker has been awake for long, or several callers use the executor, see isCrowded.
func (r *reserve) look(ex *executor, now time.Time) {
	if r.asked {
		return
	}
	if isLong := r.isAnyStintLong(ex, now); isLong || r.isCrowded(ex) {
		r.asked = true
		aside(r.takeRest) // to stop the world may take as long as a garbage collection
	}
}

// isCrowded looks whether several callers have runs in progress and a worker is awake, and reports whether that was so
// at many looks.
func (r *reserve) isCrowded(ex *executor) bool {
	if slices.ContainsFunc(ex.workers(), isAwake) && ex.hasSeveralCallers() {
		r.crowd += crowded
	} else {
		r.crowd = max(0, r.crowd-1)
	}
	return r.crowd >= crowdLimit
}

// hasSeveralCallers reports whether two runs are in progress that are in no other. Among many it takes that for
// granted. A run that it has looked at does not serve the next caller, see Run.lone.
func (ex *executor) hasSeveralCallers() bool {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	switch n := ex.inProgress; {
	case n < 2:
		return false
	case n > manyRuns:
		return true
	}
	callers := 0
	for _, r := range ex.listRuns() {
		if r.parent.Load() == nil {
			callers++
		}
	}
	return callers > 1
}

// isAnyStintLong looks how long each worker has been awake on its own thread, and reports whether one has for long.
func (r *reserve) isAnyStintLong(ex *executor, now time.Time) bool {
	for i, w := range ex.workers() {
		if i == len(r.stints) {
			r.stints = append(r.stints, stint{})
		}
		s := &r.stints[i]
		parks := w.seen.snapshot().Parks
		switch {
		case !isAwake(w):
			*s = stint{}
		case s.since.IsZero() || s.parks != parks:
			*s = stint{now, parks}
		case now.Sub(s.since) >= r.long:
			return true
		}
	}
	return false
}

// isAwake reports whether the worker is awake on its own thread.
func isAwake(w *Worker) bool { return doing(w) >= stalls.Looking && !w.thread.isLent() }

func (r *reserve) takeRest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken.Grow(r.rest)
	r.endClaim()
}

// end gives the Ps back. None are taken afterwards.
func (r *reserve) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken != nil {
		r.taken.Release()
		r.endClaim()
	}
}

// endClaim ends the claim for the rest, which is taken or never will be. The caller holds mu.
func (r *reserve) endClaim() {
	osthread.ArrivePs(r.rest)
	r.rest = 0
}
