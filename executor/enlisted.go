package executor

import "context"

// abort ends the futures that have not begun with err, when a worker comes to them. It returns those that are to be
// cancelled one by one, with the cause.
func (a *asyncs) abort(err, cause error) (all []*future) {
	w := &a.enlisted
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err, w.cause = err, cause
	a.all.ctx.cancel(context.Canceled, cause)
	a.flags.Or(stopped)
	for f := range w.all {
		all = append(all, f)
	}
	return all
}

// enlist makes abort cancel f, or cancels f if abort was called. It is called once for each f at most.
func (f *future) enlist() {
	w := &f.ex.asyncs.enlisted
	w.mu.Lock()
	if w.all == nil {
		w.all = map[*future]struct{}{}
	}
	w.all[f] = struct{}{}
	w.mu.Unlock()
	if !f.tell(&onEnd{teller: f}) {
		f.delist()
	}
	f.noticeAbort()
}

// delist undoes enlist.
func (f *future) delist() {
	w := &f.ex.asyncs.enlisted
	w.mu.Lock()
	delete(w.all, f)
	w.mu.Unlock()
}

// noticeAbort cancels f if abort was called.
func (f *future) noticeAbort() {
	if f.Body.Stopped() && !f.isOver() {
		f.cancel(context.Canceled, f.ex.asyncs.enlisted.cause)
	}
}
