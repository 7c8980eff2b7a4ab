package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// A run follows the end of its caller's context by context.AfterFunc, which takes as long as all the rest of a short
// run. The runs of a light job, see [Job], follow it late: most are over before they do.
//
// As long as such a run does not follow the context, its items look at it before they begin something, and what follows
// the run, or waits for its context, has the run follow first. So nothing begins after the context was seen to end, and
// nothing waits for that in vain.

// lookLimit is the number of looks at the context that take about as long as context.AfterFunc.
const lookLimit = 16

// A callerEnd is how a run gets to know of the end of its caller's context.
type callerEnd struct {
	counts bool           // the caller's context can end, and is not that of a run that this one follows; constant
	late   bool           // counts is set, and the job is light; constant
	stage  followStage    // guarded by Run.mu
	looks  xatomic.Uint32 // at the context, by items of a run that does not follow it yet
	unlink func() bool    // undoes context.AfterFunc; guarded by Run.mu
}

// A followStage says whether a run follows the end of its caller's context.
type followStage uint8

const (
	followsNot  followStage = iota // not yet
	followsSoon                    // a thread calls context.AfterFunc; items still look
	follows                        // unlink is set
	followsOver                    // no longer: the run is about to end
)

// A lightJob is a Job with Light.
type lightJob interface{ Light() bool }

func isLight(j Job) bool {
	light, ok := j.(lightJob)
	return ok && light.Light()
}

// begin has r follow the end of its caller's context, or says that r is to follow it late. It calls methods of the
// context, which may panic, and comes before r is counted.
func (e *callerEnd) begin(r *Run) {
	if r.ctx.parent.Done() == nil {
		return
	}
	e.counts = true
	if e.late = isLight(r.job); !e.late {
		e.stage, e.unlink = follows, r.ctx.follow()
	}
}

// renew makes e, of a run that is over, ready for another one.
func (e *callerEnd) renew() {
	if e.counts {
		e.counts, e.late, e.stage = false, false, followsNot
		e.looks.Store(0)
	}
}

// isUntold reports whether r is not told yet when its caller's context ends, so that items are to look. The caller
// holds mu.
func (r *Run) isUntold() bool { return r.caller.late && r.caller.stage < follows }

// Follow has a light job's run, see [Job], told when the caller's context ends.
func (r *JobRun) Follow() { r.subscribe() }

// subscribe implements canceller.
func (r *Run) subscribe() {
	if r.caller.late {
		r.subscribeTo(r.ctx)
	}
}

// subscribeTo is subscribe if c is, or was, the context of r.
func (r *Run) subscribeTo(c *taskContext) {
	if !r.beginFollowing(c) {
		return
	}
	defer c.contain()
	if unlink := c.follow(); !r.keepUnlink(c, unlink) {
		unlink()
	}
}

// beginFollowing reports whether the caller is to have r follow the end of its caller's context.
func (r *Run) beginFollowing(c *taskContext) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx != c || !r.caller.late || r.caller.stage != followsNot {
		return false
	}
	r.caller.stage = followsSoon
	return true
}

// keepUnlink notes that r follows its caller's context, at which items need no longer look, and that the end of r is to
// call unlink. It returns false if the end has come.
func (r *Run) keepUnlink(c *taskContext, unlink func() bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx != c || r.caller.stage != followsSoon {
		return false
	}
	r.caller.stage, r.caller.unlink = follows, unlink
	if r.body != nil {
		r.body.flags.And(^uint32(untold))
	}
	return true
}

// endFollowing has r no longer follow the end of its caller's context.
func (r *Run) endFollowing() {
	if !r.caller.counts {
		return
	}
	r.mu.Lock()
	r.caller.stage = followsOver
	unlink := r.caller.unlink
	r.caller.unlink = nil
	r.mu.Unlock()
	if unlink != nil && !r.ctx.unfollow(unlink) {
		r.keep() // the function of context.AfterFunc is about to be called
	}
}

// noticeAtEnd looks at the caller's context once more: an end that r was not yet told of counts too.
func (r *Run) noticeAtEnd() {
	if r.caller.counts || r.up != nil {
		r.noticeContext()
	}
}

// Look is [Body.Stopped] for items of a light job, see [Job]. At first it also asks the caller's context.
func (b *Body) Look() bool {
	f := b.flags.Load()
	if f&untold != 0 {
		return b.lookAtCaller()
	}
	return f&stopped != 0
}

// endGiven ends a givenContext of r, which is forgotten, and has r no longer refer to its body.
func (r *Run) endGiven() {
	r.mu.Lock()
	r.ended, r.body = true, nil
	r.ctx.cancel(context.Canceled, context.Canceled)
	r.mu.Unlock()
	if r.first.Load() != nil { // none comes from now on
		r.keep()
		r.stopFollowers()
	}
}

// lookAtCaller is Look if the run does not follow its caller's context yet.
func (b *Body) lookAtCaller() bool {
	r := b.run.Get()
	if r.caller.looks.Add(1) == lookLimit {
		r.subscribe()
	}
	r.noticeContext()
	return b.Stopped()
}
