//go:build unix

package cluster_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
)

const (
	lookEvery = 5 * time.Second // at least: on a slow machine a look takes longer
	stuck     = 48              // how many looks may find that a run has made no step, which most make each second
)

// A guard finds runs that are stuck. One that is slow is not: a guard asks for steps, and not for the end in some time.
// A run has made a step if it has begun, or has more partitions done, or more failed attempts, than ever before. These
// are bounded, so a run that goes round in circles makes none. A run is stuck if many looks have found no step of it,
// and meanwhile either no run has made one, or as many graphs have ended as run at once: then the messages that came
// before its own have had their turn. Any thread.
type guard struct {
	c      *tally
	atOnce int // graphs

	mu      sync.Mutex
	runs    map[string]*guarded
	looks   int
	any     int // the look that has found the last step of any run
	longest int // how many looks have found no step of one run
}

// A guarded is a run under guard.
type guarded struct {
	far   steps
	look  int // that has found the last step
	ended int // graphs until then
	stop  context.CancelCauseFunc
}

// steps is how far a run has come.
type steps struct {
	begun        bool
	done, failed int
}

func newGuard(c *tally, atOnce int) *guard {
	return &guard{c: c, atOnce: atOnce, runs: map[string]*guarded{}}
}

// run guards a run until over is called. limit is cancelled if it is stuck.
func (g *guard) run(ctx context.Context, id string) (limit context.Context, over func()) {
	limit, stop := context.WithCancelCause(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.any = g.looks
	g.runs[id] = &guarded{look: g.looks, ended: g.c.graphsOver(), stop: stop}
	return limit, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.runs, id)
		stop(nil)
	}
}

// look is told now and then of the runs that the queue knows.
func (g *guard) look(runs []cluster.RunStatus) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.looks++
	ended := g.c.graphsOver()
	for _, r := range runs {
		has := g.runs[r.ID]
		if has == nil {
			continue
		}
		far := steps{has.far.begun || r.Begun, max(has.far.done, r.Done), max(has.far.failed, r.Failed)}
		if far != has.far {
			has.far, has.look, has.ended, g.any = far, g.looks, ended, g.looks
		}
	}
	for _, has := range g.runs {
		looks, others := g.looks-has.look, ended-has.ended
		g.longest = max(g.longest, looks)
		if looks > stuck && (others >= g.atOnce || g.looks-g.any > stuck) {
			has.stop(fmt.Errorf("%d looks have found no step of it, while %d other graphs have ended", looks, others))
		}
	}
}

func (g *guard) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return fmt.Sprintf("at most %d of %d looks have found no step of one run", g.longest, g.looks)
}

// TestGuard: a guard stops a run that makes no step while others end, and all if none makes one.
func TestGuard(t *testing.T) {
	c := newTally()
	g := newGuard(c, 3)
	slow, overSlow := g.run(t.Context(), "slow")
	still, overStill := g.run(t.Context(), "still")
	done := 0
	look := func() {
		g.look([]cluster.RunStatus{
			{ID: "slow", Progress: cluster.Progress{Begun: true, Done: done}},
			{ID: "still", Progress: cluster.Progress{Begun: true, Failed: 1 + g.looks%2}}, // it is taken back
			{ID: "another"},
		})
	}
	for range 10 * stuck {
		look()
		done = g.looks / 8
	}
	require.NoError(t, still.Err(), "no other graph has ended")
	for range g.atOnce {
		c.graph()("")
	}
	look()
	require.ErrorContains(t, context.Cause(still), "while 3 other graphs have ended")
	overStill()
	require.NoError(t, slow.Err())

	for range stuck + 10 {
		look()
	}
	require.ErrorContains(t, context.Cause(slow), "while 0 other graphs have ended")
	overSlow()
	require.Empty(t, g.runs)
}
