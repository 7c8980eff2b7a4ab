package graph

import (
	"iter"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// haveLocals makes sure that the run that begins has a local for each configured worker, and room for those of spares.
// around is the state of the run that it is a part of, or nil.
//
// A part borrows the locals of the run around it if it neither is dynamic nor needs permits. Between Leave and Enter a
// worker has nothing in the fields that such a run uses but free spans, which belong to no run. The other fields belong
// to the lender. A worker uses the lender's fields on its own stack only, and what it runs in between leaves them as
// they were. The run around the part ends after it.
func (r *runState) haveLocals(run *executor.JobRun, around *runState) {
	n := run.WorkersAndSpares()
	switch {
	case len(r.locals) >= n:
	case around != nil && !r.isDynamic() && r.limited == nil:
		r.locals, r.borrows = around.locals, true
	default:
		r.locals = make([]xatomic.Pointer[local], n)
		configured := make([]local, run.Workers())
		for i := range configured {
			r.locals[i].Store(&configured[i])
		}
	}
}

// returnLocals ends the use of borrowed locals, at the end of the run.
func (r *runState) returnLocals() {
	if r.borrows {
		r.locals, r.borrows = nil, false
	}
}

// haveLocal makes sure that the calling worker has a local. An executor may have hundreds of spares, and most never run
// a task of the graph. Enter calls it, so that nothing else need ask.
func (r *runState) haveLocal(w *executor.Worker) {
	if p := &r.locals[w.Index()]; p.Load() == nil {
		p.Store(new(local))
	}
}

// local returns the local of the calling worker, between Enter and Leave.
func (r *runState) local(w *executor.Worker) *local { return r.locals[w.Index()].Load() }

// allLocals holds the locals made so far.
func (r *runState) allLocals() iter.Seq[*local] {
	return func(yield func(*local) bool) {
		for i := range r.locals {
			if l := r.locals[i].Load(); l != nil && !yield(l) {
				return
			}
		}
	}
}
