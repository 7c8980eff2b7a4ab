package executor

import "github.com/magpie-go/magpie/internal/xatomic"

// A keptRun is a run with a scope, for callers from outside that use one after the other. A run that the caller has run
// by itself serves the next caller, if nothing refers to it any more, see Run.lone.
type keptRun struct {
	Job   // for which the caller in possession of the keptRun starts the run, see newRun
	run   runParts
	scope scopeRun
	call  callJob   // of the last Call
	home  *runStore // where it is kept; nil if it serves once
}

// of has k stand for j, whose run the caller starts next.
func (k *keptRun) of(ex *Executor, j Job) *keptRun {
	k.Job = j
	switch j.(type) {
	case *callJob, *funcJob: // few ask a Scope for its context
	default:
		k.run.giveContext(ex, j)
	}
	return k
}

// A runStore keeps a keptRun for the next caller from outside. Others that come meanwhile do without.
type runStore struct {
	taken xatomic.Uint32 // 1: a caller has the keptRun; P1: hands it to the next caller
	run   *keptRun       // nil: none is made yet; of the caller that has set taken
}

// take returns a keptRun, or nil. leave follows.
func (s *runStore) take(ex *Executor) *keptRun {
	if ex.guests == nil || ex.observers.mayKeepRuns() || !s.taken.CompareAndSwap(0, 1) {
		return nil
	}
	if s.run == nil {
		s.run = newKeptRun(s)
	}
	return s.run
}

func newKeptRun(home *runStore) *keptRun {
	k := &keptRun{home: home}
	k.scope.init()
	k.run.scope = &k.scope
	if home != nil {
		k.run.renew()
	}
	return k
}

// leave ends the use of k, also after Goexit and after a panic of the caller's context.
func (k *keptRun) leave() {
	s := k.home
	if s == nil {
		return
	}
	k.Job = nil
	if !k.run.renew() {
		s.run = nil
	}
	if k.scope.memo.Load() != 0 { // so that guests of a scope are quiet in crowds only, see protocol/guests.md
		k.scope.memo.Store(0)
	}
	s.taken.Store(0)
}

// renew makes r, which is zero or over, ready for a start after which it may be lone. It returns false if r is over and
// not lone. The caller is the starter, at the end of its wait.
//
// visited is not cleared. A helper of the next run may look at a lane in vain, and if the next guest is another
// worker's, the run is not kept after it.
func (r *Run) renew() bool {
	if r.core == nil {
		r.lone.Store(true)
		r.ctx = &r.own
		return true
	}
	if !r.lone.Load() || !r.over.Load() || r.err.Get() != nil {
		return false
	}
	r.setContext(&r.own)   // first: a thread that has another context of r looks no further
	r.of, r.job = nil, nil // a run that is kept must not keep the Executor reachable
	r.cancelled, r.ended, r.gated = false, false, false
	r.caller.renew()
	r.own.renew()
	r.over.Store(false)
	return true
}
