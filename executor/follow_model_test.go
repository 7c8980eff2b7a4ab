//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
)

// A tree is runs that follow each other, without workers.
type tree struct{ ex *core }

func newTree() tree { return tree{&core{}} }

// run makes a run that is started with ctx. It may follow another; join makes it do so.
func (e tree) run(ctx context.Context) *JobRun {
	r := &JobRun{Run{core: e.ex, job: &funcJob{name: "job"}}}
	r.ctx = &r.own
	r.ctx.owner = r
	r.ctx.within(ctx)
	r.setUp(&r.Run)
	return r
}

func (e tree) join(ctx context.Context) *JobRun {
	r := e.run(ctx)
	if r.ctx.notice(); !r.cancelled {
		r.follow()
	}
	return r
}

// end ends a run as Finish does.
func (r *JobRun) end() {
	r.mu.Lock()
	r.ended = true
	r.ctx.cancel(context.Canceled, context.Canceled)
	r.mu.Unlock()
	r.unfollow()
	r.stopFollowers()
}

// TestModelFollow: a run begins to follow another while that one is cancelled: it is cancelled too.
func TestModelFollow(t *testing.T) {
	model.Check(t, func() {
		e := newTree()
		outer := e.run(context.Background())
		join := model.Go(func() { outer.Cancel(nil) })
		inner := e.join(outer.ctx)
		innermost := e.join(inner.ctx)
		innermost.ctx.state.Await(func(end uint32) bool { return end&stateMask == contextOver })
		join()
		model.Assert(outer.first.Load() == nil && inner.first.Load() == nil, "there are followers left")
	})
}

// TestModelFollowSeen: a task that has seen the end of a context sees the end of every context below.
func TestModelFollowSeen(t *testing.T) {
	model.Check(t, func() {
		e := newTree()
		outer := e.run(context.Background())
		inner := e.join(outer.ctx)
		innermost := e.join(inner.ctx)
		join := model.Go(func() { outer.Cancel(nil) })
		_ = innermost.ctx.Err()
		outer.ctx.state.Await(func(end uint32) bool { return end&stateMask == contextOver })
		model.Assert(innermost.ctx.Err() != nil, "a context is live after the end of one above was seen")
		join()
	})
}

// TestModelFollowEnd: a run ends while the run above is cancelled, and leaves a follower behind.
func TestModelFollowEnd(t *testing.T) {
	model.Check(t, func() {
		e := newTree()
		outer := e.run(context.Background())
		inner := e.join(outer.ctx)
		innermost, other := e.join(inner.ctx), e.join(outer.ctx)
		join := model.Go(func() { outer.Cancel(nil) })
		inner.end()
		other.end()
		join()
		model.Assert(innermost.ctx.isOver(), "a run goes on after the one that it follows")
		model.Assert(outer.first.Load() == nil && inner.first.Load() == nil, "there are followers left")
	})
}
