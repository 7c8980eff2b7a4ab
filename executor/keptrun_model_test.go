//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A lightTask is a light job of one task, whose function gets the context of the run.
type lightTask struct {
	Body
	counted
	item Item
	ctx  context.Context
	fn   func(r *Run, ctx context.Context)
}

// runLight runs fn as the task of a light job.
func runLight(ctx context.Context, ex *Executor, fn func(r *Run, ctx context.Context)) error {
	j := &lightTask{fn: fn}
	j.Init(j)
	return ex.Run(ctx, j)
}

func (j *lightTask) Name() string { return "light" }
func (j *lightTask) Light() bool  { return true }
func (j *lightTask) Begin(run *JobRun) (*Item, error) {
	j.ctx = run.Context()
	j.left.Start(1)
	j.item = Item{Exec: func(*Worker, *Item) *Item {
		if !j.Look() {
			j.fn(&j.Run().Run, j.ctx)
		}
		j.left.Out(1) // not the end: the worker is counted
		return nil
	}, Body: &j.Body}
	return &j.item, nil
}

func (j *lightTask) Leave(*Worker) {
	if j.left.Out(1) {
		j.Run().Finish()
	}
}
func (j *lightTask) Flush(*Worker)                    {}
func (j *lightTask) Fail(*Worker, *Item, error) *Item { return nil }
func (j *lightTask) Release()                         {}

// An askedContext is a caller's context that ends when the program says so, and tells that to those that ask.
type askedContext struct {
	context.Context
	ended xatomic.Bool
}

func (c *askedContext) Done() <-chan struct{} { return never }

func (c *askedContext) AfterFunc(func()) (stop func() bool) { return func() bool { return true } }

func (c *askedContext) Err() error {
	if c.ended.Load() {
		return context.Canceled
	}
	return nil
}

// A keptContext is the context of a run, which a task has given to another thread.
type keptContext struct{ ctx context.Context }

// TestModelKeptContext: a thread that has the context of a run sees the end of the caller's context, or waits for that,
// while the run ends and the next one uses the same Run.
func TestModelKeptContext(t *testing.T) {
	for name, use := range map[string]func(ctx context.Context){
		"asks":  func(ctx context.Context) { _ = ctx.Err() },
		"waits": func(ctx context.Context) { _ = ctx.Done() },
	} {
		t.Run(name, func(t *testing.T) {
			onEachWith(t, BusyCallers, []int{1}, func(ex *Executor) {
				var kept xatomic.Pointer[keptContext]
				first := &askedContext{Context: context.Background()}
				join := model.Go(func() {
					if k := kept.Load(); k != nil {
						first.ended.Store(true)
						use(k.ctx)
					}
				})
				err := runLight(first, ex, func(_ *Run, ctx context.Context) { kept.Store(&keptContext{ctx}) })
				model.Assert(err == nil || errors.Is(err, context.Canceled), "the first run has failed: %v", err)
				err = runLight(&askedContext{Context: context.Background()}, ex, func(r *Run, ctx context.Context) {
					_ = ctx.Done()
					model.Assert(r.caller.unlink != nil, "the second run does not follow its caller's context")
					model.Assert(ctx.Err() == nil, "the second run is stopped by the context of the first")
				})
				model.Assert(err == nil, "the second run has failed: %v", err)
				join()
				stop(ex)
			})
		})
	}
}

// TestModelKeptContextFollowed: a thread starts a run with the context of another one, which ends meanwhile. The next
// run uses the same Run.
func TestModelKeptContextFollowed(t *testing.T) {
	onEachWith(t, BusyCallers, []int{1}, func(ex *Executor) {
		var kept xatomic.Pointer[keptContext]
		join := model.Go(func() {
			if k := kept.Load(); k != nil {
				r := &JobRun{Run{core: &ex.core, job: &funcJob{name: "follower"}}}
				r.ctx = &r.own
				r.ctx.owner = r
				r.ctx.within(k.ctx)
				r.setUp(&r.Run)
				r.follow()
				if k.ctx.Err() != nil { // so it has ended, and so have those that follow it soon
					r.ctx.state.Await(func(end uint32) bool { return end&stateMask == contextOver })
				}
				r.end()
			}
		})
		for range 2 {
			err := runLight(context.Background(), ex, func(_ *Run, ctx context.Context) { kept.Store(&keptContext{ctx}) })
			model.Assert(err == nil, "a run has failed: %v", err)
		}
		join()
		model.Assert(ex.kept.run == nil || ex.kept.run.run.first.Load() == nil, "there are followers left")
		stop(ex)
	})
}
