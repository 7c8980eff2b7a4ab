//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
)

// deepTree returns the outermost and the innermost context of a nest so deep that a context within it has a skip.
func (e tree) deepTree() (outermost, innermost *JobRun) {
	outermost = e.run(context.Background())
	innermost = outermost
	for range skipEvery - 1 {
		innermost = e.run(innermost.ctx)
	}
	return outermost, innermost
}

// TestModelSkip: a context ends while contexts so deep within it are made and asked that one has a skip. What has seen
// its end sees theirs.
func TestModelSkip(t *testing.T) {
	for name, seen := range map[string]func(r *JobRun) bool{
		"without a standard context": func(r *JobRun) bool { return r.ctx.isOver() },
		"with one":                   func(r *JobRun) bool { return r.ctx.real.Load().Err() != nil },
	} {
		t.Run(name, func(t *testing.T) {
			model.Check(t, func() {
				e := newTree()
				outermost, inner := e.deepTree()
				if name == "with one" {
					outermost.ctx.materialize()
				}
				join := model.Go(func() { outermost.ctx.cancel(context.Canceled, nil) })
				below := e.run(inner.ctx)
				innermost := e.run(below.ctx)
				_ = innermost.ctx.Err() // so that the skip has seen live contexts
				if seen(outermost) {
					model.Assert(innermost.ctx.Err() != nil, "a context is live after the end of one above was seen")
				}
				join()
				model.Assert(below.ctx.Err() != nil && innermost.ctx.Err() != nil, "an end is never seen")
			})
		})
	}
}

// TestModelSkipSeen: the same in a nest that is there before.
func TestModelSkipSeen(t *testing.T) {
	model.Check(t, func() {
		e := newTree()
		outermost, inner := e.deepTree()
		innermost := e.run(e.run(inner.ctx).ctx)
		_ = innermost.ctx.Err()
		join := model.Go(func() { outermost.ctx.cancel(context.Canceled, nil) })
		_ = innermost.ctx.Err()
		if outermost.ctx.isOver() {
			model.Assert(innermost.ctx.Err() != nil, "a context is live after the end of one above was seen")
		}
		join()
		model.Assert(innermost.ctx.Err() != nil, "an end is never seen")
	})
}
