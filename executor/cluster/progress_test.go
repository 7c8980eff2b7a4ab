package cluster_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A gate is a function that waits until it is let through.
type gate struct {
	fn    cluster.Func[int, int]
	begun chan int
	open  chan error // what the next call returns
}

func newGate(reg *cluster.Registry) *gate {
	g := &gate{begun: make(chan int, 100), open: make(chan error, 100)}
	g.fn = cluster.Register(reg, "gate", func(ctx context.Context, n int) (int, error) {
		g.begun <- n
		select {
		case err := <-g.open:
			return n, err
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	})
	return g
}

// TestWatch: the progress of a run has what is done, and what runs where, to its end.
func TestWatch(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	f := newFunctions()
	gate := newGate(f.reg)
	w, _ := newWorker(t, s.Conn(), newExecutor(t), f.reg, cluster.WorkerConfig{Name: "w1"})
	c := connect(t, s.Conn())
	g := cluster.NewGraph("g")
	first := gate.fn.Call(g, cluster.Value(1)).Cost(time.Minute).Named("first")
	second := f.double.Call(g, gate.fn.Call(g, first).Cost(10*time.Millisecond)).Cost(10 * time.Millisecond)
	h, err := c.Submit(within(t), g, cluster.Submission{})
	require.NoError(t, err)

	step := 0
	var last cluster.Progress
	for p, err := range h.Watch(within(t), time.Millisecond) {
		require.NoError(t, err)
		last = p
		switch {
		case step == 0 && p.Begun && len(p.Running) == 1:
			step++
			require.Equal(t, 2, p.Parts)
			require.Zero(t, p.Done)
			r := p.Running[0]
			require.Positive(t, r.For)
			r.For = 0
			require.Equal(t, cluster.Running{Worker: "w1", Run: h.ID(), Part: 0, Calls: 1, Call: "first (gate)"}, r)
			own := w.Running()
			require.Len(t, own, 1)
			require.Positive(t, own[0].For)
			gate.open <- nil
		case step == 1 && len(p.Running) == 1 && p.Running[0].Part == 1:
			step++
			require.Equal(t, 1, p.Done)
			require.Equal(t, 2, p.Running[0].Calls)
			require.Equal(t, "gate#1", p.Running[0].Call)
			workers, err := c.Workers(within(t))
			require.NoError(t, err)
			require.Len(t, workers[0].Running, 1)
			gate.open <- nil
		}
	}
	require.Equal(t, 2, step)
	require.Equal(t, cluster.Progress{Begun: true, Ended: true, Parts: 2, Done: 2}, last)
	require.Empty(t, w.Running())
	res, err := h.Wait(within(t))
	require.NoError(t, err)
	want(t, res, second, 2)
}

// TestWatchEnds: a watch ends with its loop and with its context, and goes on while the server is away.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	f := newFunctions()
	gate := newGate(f.reg)
	work(t, s.Conn(), newExecutor(t), f.reg, cluster.WorkerConfig{})
	c := connect(t, s.Conn())
	g := cluster.NewGraph("g")
	gate.fn.Call(g, cluster.Value(1))
	h, err := c.Submit(within(t), g, cluster.Submission{})
	require.NoError(t, err)
	<-gate.begun
	for p, err := range h.Watch(within(t), time.Hour) {
		require.NoError(t, err)
		require.True(t, p.Begun)
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range h.Watch(ctx, time.Hour) {
		cancel()
	}
	s.Stop()
	wrong, last := 0, cluster.Progress{}
	for p, err := range h.Watch(within(t), time.Millisecond) {
		last = p
		if err != nil {
			if wrong++; wrong == 1 {
				s.Again()
				for range cap(gate.open) { // the failure is told again if its record was in doubt
					gate.open <- errBoom
				}
			}
		}
	}
	require.Positive(t, wrong)
	require.Positive(t, last.Failed)
	last.Failed = 0
	require.Equal(t, cluster.Progress{Begun: true, Ended: true, Reason: cluster.Failed, Parts: 1}, last)
}

// TestWatchForgets: a watch does not count failed attempts that were in a store which the server has lost, neither when
// it asks the server for their number nor when it has read them all.
func TestWatchForgets(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	r := &records{t, s.Conn(), nil}
	r.c = connect(t, r.nc)
	h := r.run("a", wire.Running, 2, 5)
	const more = 50 // partitions that are done afterwards
	lost, forgot := false, false
	for p, err := range h.Watch(within(t), time.Millisecond) {
		switch {
		case err != nil:
			require.True(t, lost, err)
		case !lost:
			require.Equal(t, 5, p.Failed)
			lost = true
			s.Lose()
			connect(t, s.Conn()) // makes the streams
			// What is published before the connection knows that the server was away is lost.
			require.Eventually(t, func() bool { return r.nc.FlushTimeout(time.Second) == nil }, patience, time.Millisecond)
			r.run("a", wire.Running, 2, 1)
		case forgot:
			require.Equal(t, 1, p.Failed)
		default:
			forgot = p.Failed == 1
		}
		if forgot && err == nil {
			if p.Done == 2+more {
				return
			}
			r.put(protocol.OutputKey("a", p.Done), wire.Output{V: 1, Part: p.Done})
		}
	}
	t.Fatal("the watch has ended")
}

// TestRuns: a client sees all runs of its queue, those that have ended too.
func TestRuns(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	f := newFunctions()
	gate := newGate(f.reg)
	work(t, s.Conn(), newExecutor(t), f.reg, cluster.WorkerConfig{Name: "w1"})
	c := connect(t, s.Conn())
	runs, err := c.Runs(within(t))
	require.NoError(t, err)
	require.Empty(t, runs)
	submit := func(id string, call func(g *cluster.Graph)) *cluster.Handle {
		g := cluster.NewGraph("graph " + id)
		call(g)
		h, err := c.Submit(within(t), g, cluster.Submission{ID: id})
		require.NoError(t, err)
		return h
	}
	_, err = submit("done", func(g *cluster.Graph) { f.one.Call(g) }).Wait(within(t))
	require.NoError(t, err)
	_, err = submit("failed", func(g *cluster.Graph) { f.fail.Call(g, cluster.Value(1)) }).Wait(within(t))
	require.Error(t, err)
	h := submit("runs", func(g *cluster.Graph) { gate.fn.Call(g, cluster.Value(1)) })
	<-gate.begun

	// For is 0 as long as the run is younger than the way was of the answer that has told the server's time.
	require.Eventually(t, func() bool {
		runs, err = c.Runs(within(t))
		return err == nil && len(runs) == 3 && len(runs[2].Running) == 1 && runs[2].For > 0
	}, patience, 10*time.Millisecond)
	for i := range runs {
		require.False(t, runs[i].Began.IsZero())
		require.Positive(t, runs[i].For)
		runs[i].Began, runs[i].For = time.Time{}, 0
	}
	runs[2].Running = nil
	require.Equal(t, []cluster.RunStatus{
		{ID: "done", Graph: "graph done", Progress: cluster.Progress{Begun: true, Ended: true, Parts: 1, Done: 1}},
		{ID: "failed", Graph: "graph failed", Progress: cluster.Progress{Begun: true, Ended: true, Parts: 1,
			Reason: cluster.Failed, Failed: 1}},
		{ID: "runs", Graph: "graph runs", Progress: cluster.Progress{Begun: true, Parts: 1}},
	}, runs)
	require.NoError(t, h.Cancel(within(t), errors.New("enough")))
}

// TestManyRunning: an announcement has at most 64 partitions, those that were begun first.
func TestManyRunning(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	f := newFunctions()
	gate := newGate(f.reg)
	w, _ := newWorker(t, s.Conn(), newExecutor(t), f.reg, cluster.WorkerConfig{Slots: 70})
	c := connect(t, s.Conn())
	g := cluster.NewGraph("g")
	for range 70 {
		gate.fn.Call(g, cluster.Value(1)).Cost(time.Minute)
	}
	h, err := c.Submit(within(t), g, cluster.Submission{})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(w.Running()) == 70 }, patience, 10*time.Millisecond)
	own := map[int]bool{}
	for _, r := range w.Running()[:64] {
		own[r.Part] = true
	}
	require.Eventually(t, func() bool {
		p, err := h.Progress(within(t))
		return err == nil && len(p.Running) == 64
	}, patience, 10*time.Millisecond)
	p, err := h.Progress(within(t))
	require.NoError(t, err)
	for _, r := range p.Running {
		require.True(t, own[r.Part], "partition %d was begun later", r.Part)
	}
	require.NoError(t, h.Cancel(within(t), nil))
}
