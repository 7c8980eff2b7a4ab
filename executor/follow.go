package executor

import (
	"log"
	"runtime/debug"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A following links a run to the run whose context it was started with, if both are of one executor. A run that is
// stopped stops the runs that follow it, in a loop and without a goroutine, so a deep tree of runs costs no standard
// contexts. Every other run is told of its caller's context by context.AfterFunc, see late.go.
//
// A context that is asked looks at those above as well, see taskContext.notice.
type following struct {
	up *Run // the run whose context is the caller's, or nil; constant

	first xatomic.Pointer[Run] // the newest follower; written under the lock of ctx, not set after its end

	// Guarded by the lock of the context of up.
	linked         bool
	before, behind *Run // in up's list
}

// setUp sets which run r follows. The caller's context is set.
func (f *following) setUp(r *Run) {
	c := r.ctx.up()
	if c == nil {
		return
	}
	if up := c.owner.leader(); up != nil && up.core == r.core {
		f.up = up
	}
}

// follow makes r a follower of up, unless up's context has ended.
func (r *Run) follow() {
	c := r.ctx.up()     // that of up, unless up is over and another run uses it
	c.owner.subscribe() // else nothing tells up, nor r
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
	c := r.ctx.up()
	c.mu.Lock()
	defer c.mu.Unlock()
	r.unlinkLocked()
}

// unlinkLocked takes r out of the list of those that follow up. The caller holds the lock of its context.
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
		err, cause := f.ctx.up().ending()
		if body := f.stopped(err, cause, newCancelError(nameOf(f.job), err, cause)); body != nil {
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

// OnEnd arranges that fn is called with the run's error after the run has ended, or before OnEnd returns if the run is
// over. Several functions are called in any order. fn is called on the goroutine that ends the run, often a worker's,
// perhaps after a Wait of the run has returned. Close waits for it. It should return soon, and must not wait or call
// [runtime.Goexit], but it may resolve a [Promise], and start runs and futures on any executor, off the workers once
// there is room. Longer work belongs in an [Async] after the run. A panic in fn is only logged, with package log.
func (r *Run) OnEnd(fn func(err error)) {
	if fn == nil {
		panic("executor: Run.OnEnd of a nil function")
	}
	r.mustBeMade()
	r.tell(func(err error) { contained(fn, err) }, false)
}

// contained calls fn, and logs a panic: the caller is in the middle of the end of a run.
func contained(fn func(error), err error) {
	defer func() {
		if v := recover(); v != nil {
			defer func() { _ = recover() }() // methods of v, and the writer of the log, are user code
			log.Printf("executor: a function of OnEnd has panicked: %s\n%s", (&PanicError{Value: v}).Error(), debug.Stack())
		}
	}()
	fn(err)
}

// tell arranges that fn is called after the end, or calls it. If first is set, fn comes before functions of OnEnd.
func (r *Run) tell(fn func(error), first bool) {
	r.keep()
	r.mu.Lock()
	over := r.over.Load()
	if !over {
		r.callbacks = append(r.callbacks, fn)
	}
	if n := len(r.callbacks); first && n > 1 {
		r.callbacks[0], r.callbacks[n-1] = fn, r.callbacks[0]
	}
	r.mu.Unlock()
	if over {
		fn(r.err.Get())
	}
}

// publishEnd publishes the end of the run. It returns the functions to call with the run's error.
func (r *Run) publishEnd() (ends []func(error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done != nil {
		xsync.Close(r.done) // first: what sees over finds it closed
	}
	// D1(finish): set over, then look for helpers that wait for the run. Pairs with D1(await).
	r.over.Store(true)
	ends, r.callbacks = r.callbacks, nil
	return ends
}

// tellEnds calls the functions with the run's error. On an inline executor, one of them may run a task that calls
// Goexit, which must not skip the rest.
func (r *Run) tellEnds(ends []func(error)) {
	if len(ends) == 0 {
		return
	}
	// The worker may still be in the body of the run, which may serve another run already.
	if w := workerHere(); w != nil {
		body := w.body
		w.body = &w.core.nowhere
		defer func() { w.body = body }()
	}
	at := 0
	defer func() {
		if at < len(ends) {
			r.tellEnds(ends[at+1:])
		}
	}()
	for ; at < len(ends); at++ {
		ends[at](r.err.Get())
	}
}

// noHooks are the Hooks of core.nowhere, which has no items.
type noHooks struct{}

func (noHooks) Enter(*Worker)                    {}
func (noHooks) Leave(*Worker)                    {}
func (noHooks) Flush(*Worker)                    {}
func (noHooks) Fail(*Worker, *Item, error) *Item { return nil }
func (noHooks) Release()                         {}
