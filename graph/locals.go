package graph

import (
	"iter"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A spareLocals has the locals of some spare workers that follow each other. The first of them to run a task of the
// graph makes it: an executor may have hundreds of spares, and most are never needed.
type spareLocals [sparesTogether]local

const sparesTogether = 8

// haveLocals makes sure that the run that begins has a local for each worker. around is the state of the run that it is
// a part of, or nil.
//
// A part borrows the locals of the run around it if it neither is dynamic nor needs permits. Between Leave and Enter a
// worker has nothing in the fields that such a run uses but free spans, which belong to no run. The other fields belong
// to the lender. A worker uses the lender's fields on its own stack only, and what it runs in between leaves them as
// they were. The run around the part ends after it.
func (r *runState) haveLocals(run *executor.JobRun, around *runState) {
	n, spares := run.Configured(), run.Workers()-run.Configured()
	if len(r.locals) < n {
		if around != nil && !r.isDynamic() && r.limited == nil {
			r.locals, r.spares, r.borrows = around.locals, around.spares, true
			return
		}
		r.locals = make([]local, n)
	}
	if n := (spares + sparesTogether - 1) / sparesTogether; r.spares == nil || len(*r.spares) < n {
		all := make([]xatomic.Pointer[spareLocals], n)
		r.spares = &all
	}
}

// returnLocals ends the use of borrowed locals, at the end of the run.
func (r *runState) returnLocals() {
	if r.borrows {
		r.locals, r.spares, r.borrows = nil, nil, false
	}
}

// local returns the local of the calling worker, which has this ID.
func (r *runState) local(id int) *local {
	if id < len(r.locals) {
		return &r.locals[id]
	}
	return r.spareLocal(id - len(r.locals))
}

// spareLocal is local for the i-th of the workers that have none in locals.
func (r *runState) spareLocal(i int) *local {
	p := &(*r.spares)[i/sparesTogether]
	some := p.Load()
	if some == nil {
		some = new(spareLocals)
		if !p.CompareAndSwap(nil, some) {
			some = p.Load()
		}
	}
	return &some[i%sparesTogether]
}

// allLocals has the locals made so far.
func (r *runState) allLocals() iter.Seq[*local] {
	return func(yield func(*local) bool) {
		for i := range r.locals {
			if !yield(&r.locals[i]) {
				return
			}
		}
		if r.spares == nil {
			return
		}
		for i := range *r.spares {
			some := (*r.spares)[i].Load()
			for j := 0; some != nil && j < len(some); j++ {
				if !yield(&some[j]) {
					return
				}
			}
		}
	}
}
