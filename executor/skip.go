package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// A skip stands between a context and the one above at every skipEvery-th level of taskContexts in each other, so that
// a context in a deep nest need not look at all that are above. It is the parent of the context, and remembers when all
// contexts above it were live.
//
// It looks again only if deepEnds has changed. A context that has a skip below counts its end there, before the end
// can be seen from below in any other way. Nests that are not deep have no skips and count nothing, nor does a deep one
// whose contexts end from the inside out.
type skip struct {
	*taskContext                 // the context above
	above        *skip           // the next one further out, or nil
	outermost    context.Context // the parent of the outermost taskContext
	seen         xatomic.Uint64  // 1 + deepEnds, read before all contexts further out were seen live; 0: not yet
}

const skipEvery = 16

// deepEnds counts the ends of contexts that have a skip below, in the process: a nest may go from one executor to
// another.
var deepEnds xatomic.Uint64

// within sets the context above c, whose labels c has.
func (c *taskContext) within(parent context.Context) {
	c.parent, c.labels = parent, labelsOf(parent)
	up, ok := parent.(*taskContext)
	if !ok {
		return
	}
	level := up.marks.Load()&levelMask + oneLevel
	if level > levelMask {
		level = 0
		c.parent = newSkip(up)
	}
	c.marks.Store(level)
}

// newSkip returns a skip below up.
func newSkip(up *taskContext) *skip {
	s := &skip{taskContext: up}
	s.above, s.outermost = s.mark(true)
	return s
}

// mark tells the contexts above s, up to the next skip, that s is below, or that the context below s has ended, which
// looks no more. It returns the next skip, or nil, and the context around all.
func (s *skip) mark(isBelow bool) (above *skip, outermost context.Context) {
	one := uint32(oneSkip)
	if !isBelow {
		one = -one
	}
	for c := s.taskContext; ; {
		c.state.Add(one)
		switch next := c.parent.(type) {
		case *taskContext:
			c = next
		case *skip:
			return next, next.outermost
		default:
			return nil, next
		}
	}
}

// up returns the taskContext above c, or nil if the caller's context is of another kind.
func (c *taskContext) up() *taskContext {
	switch up := c.parent.(type) {
	case *taskContext:
		return up
	case *skip:
		return up.taskContext
	}
	return nil
}

// mayHaveEnded reports whether a context above c has begun to end. It does not call their Err, which asks all contexts
// above in turn: that would take quadratic time.
func (c *taskContext) mayHaveEnded() bool {
	for {
		switch up := c.parent.(type) {
		case *taskContext:
			if !up.isLive() {
				return true
			}
			c = up
		case *skip:
			return !up.isLive() || up.mayHaveEnded()
		default:
			return up.Err() != nil
		}
	}
}

// mayHaveEnded reports whether a context further out than the one above s has begun to end.
func (s *skip) mayHaveEnded() bool {
	now := 1 + deepEnds.Load() // first: what ends from now on changes it
	if s.seen.Load() != now {
		if s.anyEnded(now) {
			return true
		}
		for o := s; o != nil && o.seen.Load() != now; o = o.above {
			o.seen.Store(now)
		}
	}
	return s.outermost.Err() != nil
}

// anyEnded looks at the contexts further out than the one above s, up to the first skip that has seen now.
func (s *skip) anyEnded(now uint64) bool {
	for c := s.taskContext; ; {
		switch up := c.parent.(type) {
		case *taskContext:
			c = up
		case *skip:
			if up.seen.Load() == now {
				return !up.isLive()
			}
			c = up.taskContext
		default:
			return false
		}
		if !c.isLive() {
			return true
		}
	}
}

// notice cancels c if a context above has ended. What is further out is cancelled first.
func (c *taskContext) notice() {
	if c.isOver() || !c.mayHaveEnded() {
		return
	}
	var within []*taskContext // a context above c, from the inside out
	o := c
	for up := o.up(); up != nil; up = o.up() {
		within = append(within, o)
		up.owner.noticeAbort()
		o = up
	}
	if err := o.parent.Err(); err != nil && !o.isOver() {
		o.owner.cancel(err, context.Cause(o.parent))
	}
	for i := len(within) - 1; i >= 0; i-- {
		o := within[i]
		if err, cause := o.up().ending(); err != nil && !o.isOver() {
			o.owner.cancel(err, cause)
		}
	}
}
