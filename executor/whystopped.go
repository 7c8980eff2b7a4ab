package executor

// whyStopped returns the cause for which the run was stopped. The caller has seen [Body.Stopped] true, perhaps before
// the context has ended: then it waits for the lock.
func (r *Run) whyStopped() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, cause := r.ctx.ending()
	return cause
}
