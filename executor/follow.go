package executor

import "github.com/magpie-go/magpie/internal/xatomic"

// A following links a run to the run whose context it was started with, if both are of one executor. A run that is
// stopped stops the runs that follow it, in a loop and without a goroutine, so a deep tree of runs costs no standard
// contexts. Every other run is told of its caller's context by context.AfterFunc.
//
// A context that is asked looks at those above as well, see taskContext.notice.
type following struct {
	up *Run // the run whose context is the caller's, or nil; constant

	first xatomic.Pointer[Run] // the newest follower; written under ctx.mu, never set after the end of the context

	// Guarded by up.ctx.mu.
	linked         bool
	before, behind *Run // in up's list
}

// setUp sets which run r follows. The caller's context is set.
func (f *following) setUp(r *Run) {
	c := r.ctx.up()
	if c == nil {
		return
	}
	if up, ok := c.owner.(*JobRun); ok && up.core == r.core && !up.endless {
		f.up = &up.Run
	}
}

// follow makes r a follower of up, unless up's context has ended.
func (r *Run) follow() {
	c := &r.up.ctx
	c.mu.Lock()
	isLive := c.isLive()
	if isLive {
		r.behind = r.up.first.Load()
		if r.behind != nil {
			r.behind.before = r
		}
		r.up.first.Store(r)
		r.linked = true
	}
	c.mu.Unlock()
	if !isLive {
		r.ctx.notice()
	}
}

// unfollow makes r no follower of up.
func (r *Run) unfollow() {
	if r.up == nil {
		return
	}
	c := &r.up.ctx
	c.mu.Lock()
	defer c.mu.Unlock()
	r.unlinkLocked()
}

// unlinkLocked takes r out of the list of those that follow up. The caller holds up.ctx.mu.
func (r *Run) unlinkLocked() {
	if !r.linked {
		return
	}
	if r.before != nil {
		r.before.behind = r.behind
	} else {
		r.up.first.Store(r.behind)
	}
	if r.behind != nil {
		r.behind.before = r.before
	}
	r.before, r.behind, r.linked = nil, nil, false
}

// takeFollowers appends the followers of r, whose context has ended, to all. They are followers no longer.
func (r *Run) takeFollowers(all []*Run) []*Run {
	if r.first.Load() == nil {
		return all
	}
	r.ctx.mu.Lock()
	defer r.ctx.mu.Unlock()
	for f := r.first.Load(); f != nil; f = r.first.Load() {
		f.unlinkLocked()
		all = append(all, f)
	}
	return all
}

// stopFollowers stops the runs that follow r, whose context has ended, and those that follow them.
func (r *Run) stopFollowers() {
	if r.first.Load() == nil {
		return
	}
	var bodies []*Body
	for all := r.takeFollowers(nil); len(all) > 0; {
		f := all[len(all)-1]
		all = all[:len(all)-1]
		err, cause := f.up.ctx.ending()
		if body := f.stopped(err, cause, newCancelError(f.job.Name(), err, cause)); body != nil {
			bodies = append(bodies, body)
		}
		all = f.takeFollowers(all)
	}
	tellStopped(bodies)
}

// tellStopped calls OnStop of the bodies that have it. On an inline executor, tasks may run in it: if one calls
// runtime.Goexit, the others are told all the same.
func tellStopped(bodies []*Body) {
	done := 0
	defer func() {
		if done < len(bodies) {
			tellStopped(bodies[done:])
		}
	}()
	for done < len(bodies) {
		done++
		bodies[done-1].tellStopped()
	}
}

// tellStopped calls OnStop of the layer, if it has that.
func (b *Body) tellStopped() {
	if b != nil && b.stopper != nil {
		b.stopper.OnStop()
	}
}
