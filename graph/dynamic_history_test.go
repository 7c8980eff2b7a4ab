package graph_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// An execution is one of a built program.
type execution struct {
	caller
	*built
	ex *executor.Executor

	// Under caller.mu.
	log   []*firing // in the order in which they began
	times map[*vertex]int
	walks map[walkKey]int // decisions made
	subs  []*graph.Graph  // that flows have built
	wrong error

	result   error
	replayed *replay
}

type executionKey struct{}

// A walkKey is a route in a run: a context is that of one run only.
type walkKey struct {
	run   context.Context
	route *route
}

// A firing is one execution of a vertex.
type firing struct {
	entry
	x      *execution
	v      *vertex
	flow   *firing // that has built its graph; nil for graphs built before
	chosen []int
	taken  []parcel
}

func (b *built) newExecution(ex *executor.Executor, s script, clock *atomic.Int64) *execution {
	return &execution{caller: newCaller(s, clock), built: b, ex: ex, times: make(map[*vertex]int),
		walks: make(map[walkKey]int)}
}

// Begin implements executor.Job: the tasks of an inline executor run before Start has returned.
func (x *execution) Begin(r *executor.JobRun) (*executor.Item, error) {
	x.run = &r.Run
	close(x.begun)
	return x.graphs[x.root].Begin(r)
}

// Name implements executor.Job.
func (x *execution) Name() string { return x.root.name }

// begin is the beginning of every vertex's function.
func begin(ctx context.Context, v *vertex, flow *firing) *firing {
	x := ctx.Value(executionKey{}).(*execution)
	f := &firing{x: x, v: v, flow: flow}
	f.ctx = ctx
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range x.script.faults {
		if at := &x.script.faults[i]; at.task == v.id && at.round == x.times[v] {
			f.fault = at
		}
	}
	x.times[v]++
	x.log = append(x.log, f)
	f.start = x.clock.Add(1)
	return f
}

// ends is the end of every vertex's function.
func (f *firing) ends() error {
	if f.fault != nil {
		return f.x.misbehave(f.ctx, &f.entry)
	}
	return f.x.ends(&f.entry, well)
}

// pick decides as the route does.
func (f *firing) pick() int {
	f.x.mu.Lock()
	defer f.x.mu.Unlock()
	k := walkKey{f.ctx, f.v.route}
	f.x.walks[k]++
	return f.v.route.pick(f.v, f.x.walks[k]-1)
}

// built notes a graph that a flow has built.
func (f *firing) built(sub *graph.Graph) {
	f.x.mu.Lock()
	defer f.x.mu.Unlock()
	f.x.subs = append(f.x.subs, sub)
}

func (x *execution) complain(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.wrong == nil {
		x.wrong = err
	}
}

// start begins the run. On an inline executor it is then over.
func (x *execution) start() (wait func() error) {
	ctx := x.open(context.WithValue(context.Background(), executionKey{}, x))
	r := x.ex.Start(ctx, x)
	return func() error {
		if x.script.exits() {
			<-r.Done()
		}
		return r.Wait()
	}
}

// finish waits for the run, and for nested runs that it has left behind because Goexit unwound the tasks that waited.
func (x *execution) finish(t testing.TB, wait func() error) {
	t.Helper()
	if !x.script.ending.isBefore() {
		x.meddle()
	}
	x.result = wait()
	x.release()
	for !x.isQuiet() {
		time.Sleep(10 * time.Microsecond)
	}
	if wrong := x.verdict(); wrong != nil {
		require.FailNow(t, wrong.Error(), "%v", x)
	}
}

// isQuiet reports whether no run of its graphs is in progress.
func (x *execution) isQuiet() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !slices.ContainsFunc(x.subs, graph.IsRunning) &&
		!slices.ContainsFunc(slices.Collect(maps.Values(x.graphs)), graph.IsRunning)
}

func (x *execution) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "on %d workers; script: %v\nresult: %v\n", x.ex.Workers(), x.script, x.result)
	for _, st := range x.stops {
		fmt.Fprintf(&s, "stopped at %d to %d: %v, cause %v\n", st.begin, st.end, st.err, st.cause)
	}
	runs := make(map[context.Context]int)
	for _, f := range x.log {
		if _, known := runs[f.ctx]; !known {
			runs[f.ctx] = len(runs)
		}
		fmt.Fprintf(&s, "run %d, task %d: %d to %d, fate %d, chosen %v, error %v\n", runs[f.ctx], f.v.id, f.start,
			f.end, f.fate, f.chosen, f.err)
	}
	return s.String()
}
