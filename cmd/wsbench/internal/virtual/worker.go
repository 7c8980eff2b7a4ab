package virtual

import (
	"math/rand/v2"

	"github.com/magpie-go/magpie/internal/allot"
)

// A job is a Job in a simulation.
type job struct {
	Outcome
	phase   int
	toBegin int // tasks of the phase that have not begun
	active  int // tasks that have begun and not ended
	begun   int // tasks that have begun in this step

	workers   []worker
	awake     int
	had       int // workers that have had a task
	usage     int // sum of awake over the steps
	desire    int
	allotment int
	seat      int // in the table of the incremental allotments
	count     allot.Count
}

// A worker is working if it has a task, or has just ended one; it is a thief if it has found none in its last step.
type worker struct {
	isAwake, isThief bool
	isSignalled      bool // it is to sleep when its task has ended
	hasHad           bool // a task
	left             int  // steps that its task still takes; 0: it has none
}

// mayBegin returns how many tasks could begin now, were there workers enough.
func (j *job) mayBegin() int {
	n := j.toBegin
	if p := j.Phases[j.phase]; p.Width > 0 {
		n = min(n, p.Width-j.active)
	} else if p.Spread > 0 {
		n = min(n, p.Spread-j.begun)
	}
	return n
}

// usable returns the instantaneous parallelism: tasks that run and could run.
func (j *job) usable() int { return j.active + j.mayBegin() }

// find gives w a task if it has none and there is one.
func (j *job) find(w *worker) {
	if w.left > 0 {
		return
	}
	if j.mayBegin() == 0 {
		w.isThief = true
		return
	}
	j.toBegin--
	j.active++
	j.begun++
	w.left = j.Phases[j.phase].grain()
	if w.isThief {
		j.count.Attempts++
		w.isThief = false
	}
	if !w.hasHad {
		w.hasHad = true
		j.had++
	}
}

// steal counts a thief's attempt in vain. Its victim is any other worker awake, with equal probability.
func (j *job) steal(rng *rand.Rand) {
	if j.awake < 2 {
		return
	}
	thieves := 0
	for i := range j.workers {
		if w := &j.workers[i]; w.isAwake && w.isThief {
			thieves++
		}
	}
	j.count.Attempts++
	if rng.IntN(j.awake-1) < thieves-1 { // the thieves are the first of the others
		j.count.Pure++
	}
}

// run does a step of the task of w.
func (j *job) run(w *worker) {
	j.count.Busy++
	if w.left--; w.left == 0 {
		j.active--
	}
}

// wake wakes n workers. They look for a task as thieves.
func (j *job) wake(n int) {
	for i := range j.workers {
		if w := &j.workers[i]; n > 0 && !w.isAwake {
			w.isAwake, w.isThief = true, true
			j.awake++
			n--
		}
	}
}

// adjust makes the job's usage follow its allotment (document 003, section 6.1, with the sign of action 2 put right):
// it signals working workers to sleep, or takes signals back first and then wakes workers.
func (j *job) adjust() {
	signalled := 0
	for _, w := range j.workers {
		if w.isSignalled {
			signalled++
		}
	}
	more := j.allotment - (j.awake - signalled)
	for i := range j.workers {
		w := &j.workers[i]
		switch {
		case more < 0 && w.isAwake && !w.isThief && !w.isSignalled:
			w.isSignalled = true
			more++
		case more > 0 && w.isSignalled:
			w.isSignalled = false
			more--
		}
	}
	j.wake(max(more, 0))
}

// sleep lets thieves sleep while more workers are awake than allotted, and then signalled workers between tasks. The
// signals of adjust count thieves, too, which sleep by themselves. So a signal is void once no more workers are awake
// than allotted: by the document's text both would sleep, and fewer workers stay awake than allotted.
func (j *job) sleep() {
	for _, signalled := range []bool{false, true} {
		for i := range j.workers {
			w := &j.workers[i]
			if w.isAwake && w.left == 0 && j.awake > j.allotment && (w.isThief || signalled && w.isSignalled) {
				*w = worker{hasHad: w.hasHad}
				j.awake--
			}
		}
	}
	if j.awake <= j.allotment {
		for i := range j.workers {
			j.workers[i].isSignalled = false
		}
	}
}
