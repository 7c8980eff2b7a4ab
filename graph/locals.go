package graph

// haveLocals makes sure that the run that begins has a local for each of n workers. around is the state of the run that
// it is a part of, or nil.
//
// A part borrows the locals of the run around it if it neither is dynamic nor needs permits. Between Leave and Enter a
// worker has nothing in the fields that such a run uses but free spans, which belong to no run. The other fields belong
// to the lender. A worker uses the lender's fields on its own stack only, and what it runs in between leaves them as
// they were. The run around the part ends after it.
func (r *runState) haveLocals(n int, around *runState) {
	switch {
	case len(r.locals) >= n:
	case around != nil && !r.isDynamic() && r.limited == nil:
		r.locals, r.borrows = around.locals, true
	default:
		r.locals = make([]local, n)
	}
}

// returnLocals ends the use of borrowed locals, at the end of the run.
func (r *runState) returnLocals() {
	if r.borrows {
		r.locals, r.borrows = nil, false
	}
}
