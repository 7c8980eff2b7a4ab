package bench

import (
	"context"
	"runtime"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// reruns is the number of runs over which allocations are averaged. It is arbitrary.
const reruns = 10

var rerun = &Probe{
	Name:    "rerun",
	About:   "what running an already built btree of n tasks once more allocates",
	Size:    "tasks",
	Default: 1<<20 - 1,
	Shape:   workloads.Named("btree").Shape,
	Measure: func(ctx context.Context, ex *executor.Executor, n int) ([]Metric, error) {
		t, _, err := describe("rerun", workloads.Named("btree").Make(n, 0))
		if err != nil {
			return nil, err
		}
		for range 2 { // the first run makes the run state
			if err := ex.Run(ctx, t.Graph); err != nil {
				return nil, err
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range reruns {
			if err := ex.Run(context.Background(), t.Graph); err != nil {
				return nil, err
			}
		}
		runtime.ReadMemStats(&after)
		return []Metric{
			{"allocs/op", float64(after.Mallocs-before.Mallocs) / reruns},
			{"B/op", float64(after.TotalAlloc-before.TotalAlloc) / reruns},
		}, nil
	},
}

// denseEdges is the number of successors of each task in the denser of two graphs.
const denseEdges = 8

var memory = &Probe{
	Name:    "memory",
	About:   "heap memory of a built and once-run graph of n tasks, per task and per edge",
	Size:    "tasks",
	Default: 1 << 20,
	Shape:   func(n int) workloads.Shape { return workloads.GraphShape(float64(n), denseEdges*float64(n), 1) },
	// Two graphs with the same tasks and different numbers of edges give two equations.
	Measure: func(ctx context.Context, ex *executor.Executor, n int) ([]Metric, error) {
		thinBytes, thinEdges, err := heapOfBand(ctx, ex, n, 1)
		if err != nil {
			return nil, err
		}
		denseBytes, denseEdges, err := heapOfBand(ctx, ex, n, denseEdges)
		if err != nil {
			return nil, err
		}
		perEdge := (denseBytes - thinBytes) / float64(max(denseEdges-thinEdges, 1))
		return []Metric{
			{"B/task", (thinBytes - perEdge*float64(thinEdges)) / float64(n)},
			{"B/edge", perEdge},
		}, nil
	},
}

// heapOfBand returns by how much the heap grows when a graph is built and run in which each of n tasks precedes the
// next few.
func heapOfBand(ctx context.Context, ex *executor.Executor, n, few int) (bytes float64, edges int, err error) {
	before := liveHeap()
	g := graph.New("band")
	g.Reserve(n, n*few)
	recent := make([]graph.Task, 0, few)
	for i := range n {
		t := g.Task(func(context.Context) error { return nil })
		for _, r := range recent {
			r.Precede(t)
		}
		edges += len(recent)
		if len(recent) < few {
			recent = append(recent, t)
		} else {
			recent[i%few] = t
		}
	}
	if err := ex.Run(ctx, g); err != nil {
		return 0, 0, err
	}
	bytes = liveHeap() - before
	runtime.KeepAlive(g)
	return bytes, edges, nil
}

// liveHeap returns the size of the reachable heap.
func liveHeap() float64 {
	// Objects with finalizers or in a sync.Pool survive the first collection.
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
