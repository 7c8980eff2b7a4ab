package observe_test

import (
	"bytes"
	"context"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// quiet discards the log during a test.
func quiet(t *testing.T) {
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
}

// An observer of this package is for one executor at a time. A second executor goes on without it, and its dump says
// why.
func TestObserverOfTwoExecutors(t *testing.T) {
	quiet(t)
	for name, o := range map[string]*executor.Observer{
		"Labels":       observe.Labels(),
		"RuntimeTrace": observe.RuntimeTrace(),
		"Switch":       observe.NewSwitch().Observer(),
		"Times":        observe.NewTimes().Observer(),
	} {
		t.Run(name, func(t *testing.T) {
			run := func(ex *executor.Executor) {
				g, _ := randomGraph(rand.New(rand.NewPCG(1, 1)), 20, func(int) {})
				for range 50 {
					require.NoError(t, ex.Run(t.Context(), g))
				}
			}
			dump := func(ex *executor.Executor) string {
				var b bytes.Buffer
				require.NoError(t, ex.Dump(&b))
				return b.String()
			}
			first, second := newExecutor(t, 2, o), newExecutor(t, 2, o)
			done := make(chan struct{})
			go func() { defer close(done); run(second) }()
			run(first)
			<-done
			require.NotContains(t, dump(first), "not called again")
			require.Contains(t, dump(second), "is for one executor at a time")
			require.NoError(t, second.Close())
			require.NoError(t, first.Close())
			third := newExecutor(t, 2, o)
			run(third)
			require.NotContains(t, dump(third), "not called again", "the first executor is closed")
		})
	}
}

// Executors of one trace that run the same graph have runs and arrows of their own.
func TestTraceOfExecutorsWithOneGraph(t *testing.T) {
	var out bytes.Buffer
	trace := observe.NewTrace(&out, observe.TraceOptions{Wait: true, Edges: true, Sample: -1})
	g := graph.New("g")
	g.Task(func(context.Context) error { return nil }).Precede(g.Task(func(context.Context) error { return nil }))
	for range 3 {
		ex := newExecutor(t, 1, trace.Observer())
		require.NoError(t, ex.Run(t.Context(), g))
		require.NoError(t, ex.Close())
	}
	require.NoError(t, trace.Close())
	f := readTrace(t, out.Bytes())
	for _, kind := range [][2]string{{"b", "run"}, {"s", "edge"}} {
		processes := make(map[uint64]int)
		for _, e := range f.of(kind[0], kind[1]) {
			processes[*e.ID] = e.Pid
		}
		require.Len(t, processes, 3, kind)
	}
}

// A process has its name although no worker has told anything yet.
func TestTraceNamesAnIdleExecutor(t *testing.T) {
	sw := observe.NewSwitch()
	ex, err := executor.New(executor.Config{
		Workers: 1, Name: "idler", Observers: []*executor.Observer{sw.Observer()},
	})
	require.NoError(t, err)
	defer ex.Close()
	testkit.Until(t, "the worker is parked", func() bool { return ex.Stats().Gauges.Count(executor.WorkerParked) == 1 })
	// On a busy machine no sample may be taken, and the worker may only now tell that it parks.
	f := &traceFile{}
	for long := 50 * time.Millisecond; len(f.of("C", "")) == 0 || len(f.of("M", "")) > 1; long *= 2 {
		require.Less(t, long, 4*testkit.Patience)
		ctx, cancel := context.WithTimeout(t.Context(), long)
		var out bytes.Buffer
		require.NoError(t, sw.Record(ctx, &out, observe.TraceOptions{Sample: time.Millisecond}))
		cancel()
		f = readTrace(t, out.Bytes())
	}
	require.Len(t, f.of("M", ""), 1)
	require.Equal(t, "idler", f.of("M", "")[0].Args["name"])
}
