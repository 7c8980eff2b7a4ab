package executor

// whyStopped returns the cause for which the run was stopped, of which its body tells. A worker may see the body
// stopped before the context has ended: it waits for the lock.
func (r *Run) whyStopped() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, cause := r.ctx.ending()
	return cause
}
