package graph

import (
	"context"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xsync"
)

// External adds a task that ends when somebody says so: fn starts something, such as a timer, a request, or a run on
// another executor, and returns, and later a call of done ends the task. Until then the task holds no worker. It holds
// the permits of its [Task.Hold], and its successors wait.
//
//	g.External(func(ctx context.Context, done func(error)) error {
//		client.Go(ctx, request, done)
//		return nil
//	})
//
// done may be called from any goroutine, from tasks too, before or after fn returns. It does not wait. With an error
// the task fails. The first call counts: others do nothing. If fn returns an error, panics or calls runtime.Goexit, the
// task has failed by that, and done does nothing.
//
// If done is never called, the run waits. [executor.Run.Progress] counts the task among those that wait, and
// [executor.Executor.Dump] tells their number. If the run is stopped, because it was cancelled or another task has
// failed, the task ends at once, and a later done does nothing. What fn has started should heed ctx, which ends then.
//
// Everything that happens before the call of done that counts happens before the successors begin. A task that a loop
// chooses again gets another done. External panics if fn is nil.
func (g *Graph) External(fn func(ctx context.Context, done func(error)) error) Task {
	if fn == nil {
		g.nilFunction()
	}
	return g.addSpecial(newExternal(fn))
}

func newExternal(fn func(ctx context.Context, done func(error)) error) external {
	return func(ctx context.Context, x *outside) error {
		return fn(ctx, func(err error) { x.done(nil, err) })
	}
}

// SourceExternal is [Graph.External] for a task that makes a [Value]: done is given the value. With an error the value
// is not used. SourceExternal panics if fn is nil.
func SourceExternal[T any](g *Graph, fn func(ctx context.Context, done func(T, error)) error) Value[T] {
	mustBe(g, fn != nil)
	return Value[T]{g.addSpecial(newExternalMaker(fn))}
}

func newExternalMaker[T any](fn func(ctx context.Context, done func(T, error)) error) externalMaker {
	return func(ctx context.Context, x *outside) error {
		return fn(ctx, func(v T, err error) {
			var made any = v
			x.done(&made, err)
		})
	}
}

// An external calls the function of an external task, an externalMaker that of one that makes a value.
type (
	external      func(ctx context.Context, x *outside) error
	externalMaker external
)

func (fn externalMaker) run(ctx context.Context, w *executor.Worker, r *runState, i uint32) error {
	return external(fn).run(ctx, w, r, i)
}

// An outside is an external task from the call of its function to its end.
type outside struct {
	lateEnd
	r *runState // valid until over

	mu    xsync.Mutex
	over  bool // the task has ended, or err and made say how it ends
	waits bool // the function has returned, and end makes the lateEnd available

	before, behind *outside // in runState.outside
	linked         bool
}

func (fn external) run(ctx context.Context, _ *executor.Worker, r *runState, i uint32) error {
	x := &outside{lateEnd: newLateEnd(r, i), r: r}
	returned := false
	defer func() {
		if !returned {
			x.cease()
		}
	}()
	err := fn(ctx, x)
	returned = true
	if err != nil {
		x.cease()
		return err
	}
	return x.wait()
}

// wait is called when the function has returned nil. It returns errLater or, if the task is to end now, its error.
func (x *outside) wait() error {
	r := x.r
	run := r.Run()
	r.outside.add(x)
	// D1(outside): list the task, then look whether the run is stopped. Pairs with D1(ended): stop the run, then look
	// for tasks in the list.
	stopped := r.Stopped()
	x.mu.Lock()
	if !x.over && !stopped {
		x.waits = true
		r.later.Add(1)
		x.mu.Unlock()
		run.HeldUp() // the task may have ended by now, and its run
		return errLater
	}
	defer x.mu.Unlock()
	r.outside.remove(x)
	x.over, x.r = true, nil
	if x.err == nil && x.made != nil {
		r.values[x.task].Store(x.made)
	}
	return x.err
}

// cease makes done do nothing from now on.
func (x *outside) cease() {
	x.mu.Lock()
	x.over, x.r = true, nil
	x.mu.Unlock()
}

// done ends the task with err, or with the value made. Any thread.
func (x *outside) done(made *any, err error) {
	if r := x.end(made, err); r != nil {
		r.outside.remove(x)
		r.Run().GoesOn()
		r.Run().Inject(&x.Item)
	}
}

// end notes how the task ends. It returns the run whose task it is if the caller is to make the lateEnd available.
// Until then the run cannot end.
func (x *outside) end(made *any, err error) *runState {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return nil
	}
	x.over, x.made, x.err = true, made, err
	if !x.waits {
		return nil
	}
	r := x.r
	x.r = nil
	return r
}

// An outsideList holds the external tasks of a run that wait to be ended.
type outsideList struct {
	mu    xsync.Mutex
	first *outside
}

func (o *outsideList) add(x *outside) {
	o.mu.Lock()
	defer o.mu.Unlock()
	x.behind = o.first
	if o.first != nil {
		o.first.before = x
	}
	o.first, x.linked = x, true
}

func (o *outsideList) remove(x *outside) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !x.linked {
		return
	}
	if x.before != nil {
		x.before.behind = x.behind
	} else {
		o.first = x.behind
	}
	if x.behind != nil {
		x.behind.before = x.before
	}
	x.before, x.behind, x.linked = nil, nil, false
}

// takeStopped removes and returns all tasks, if r, whose list it is, is stopped. Tasks in the list keep the run in
// progress, so they are of the run that was found to be stopped.
func (o *outsideList) takeStopped(r *runState) (all []*outside) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !r.Stopped() {
		return nil
	}
	for x := o.first; x != nil; x = o.first {
		o.first = x.behind
		x.before, x.behind, x.linked = nil, nil, false
		all = append(all, x)
	}
	return all
}

// endStopped ends the external tasks of a stopped run. D1(ended): see wait.
func (r *runState) endStopped() {
	each(r.outside.takeStopped(r), func(x *outside) {
		if r := x.end(nil, nil); r != nil {
			r.Run().GoesOn()
			r.Run().Inject(&x.Item)
		}
	})
}
