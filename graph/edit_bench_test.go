package graph_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// BenchmarkEdit compares edits of a graph, each with the run after it, with building it anew and its first run. The
// kinds of edits take turns, so that a drift of the machine concerns all of them. It reports medians, of the whole and
// of what comes before the run: the edit and Validate, or building and Validate.
func BenchmarkEdit(b *testing.B) {
	const n = 1000000
	shapes := []struct {
		name  string
		edges func(yield func(from, to int))
	}{
		{"dag", func(yield func(from, to int)) {
			rng := rand.New(rand.NewPCG(42, 0))
			for i := range n {
				for range 3 {
					if to := i + 1 + rng.IntN(1024); to < n {
						yield(i, to)
					}
				}
			}
		}},
		{"backward", func(yield func(from, to int)) {
			rng := rand.New(rand.NewPCG(42, 0))
			for i := range n {
				for range 3 {
					if to := i - 1 - rng.IntN(1024); to >= 0 {
						yield(i, to)
					}
				}
			}
		}},
		{"chain", func(yield func(from, to int)) {
			for i := range n - 1 {
				yield(i, i+1)
			}
		}},
		{"fan", func(yield func(from, to int)) {
			for i := range n - 2 {
				yield(0, i+1)
				yield(i+1, n-1)
			}
		}},
	}
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			ex := newExecutor(b, executor.Config{Workers: 2})
			run := func(g *graph.Graph) {
				if err := ex.Run(context.Background(), g); err != nil {
					b.Fatal(err)
				}
			}
			var g *graph.Graph
			var tasks []graph.Task
			build := func() {
				g = graph.New("g")
				g.Reserve(n, 3*n)
				tasks = tasks[:0]
				for range n {
					tasks = append(tasks, g.Task(nothing))
				}
				shape.edges(func(from, to int) { tasks[from].Precede(tasks[to]) })
			}
			rng := rand.New(rand.NewPCG(1, 2))
			from, to := 0, 0
			acts := []struct {
				name string
				do   func()
			}{
				{"rebuild", build},
				{"run", func() {}},
				{"add", func() {
					from, to = rng.IntN(n), rng.IntN(n)
					if from == to {
						to = (from + 1) % n
					}
					if (from > to) != (shape.name == "backward") {
						from, to = to, from
					}
					tasks[from].Precede(tasks[to])
				}},
				{"remove", func() { tasks[from].Unprecede(tasks[to]) }},
				{"rebind", func() { tasks[rng.IntN(n)].Rebind(nothing) }},
				{"task", func() { tasks[n-1].Remove(); tasks[n-1] = g.Task(nothing) }},
			}
			prepare, times := make([][]time.Duration, len(acts)), make([][]time.Duration, len(acts))
			for b.Loop() {
				for i, act := range acts {
					runtime.GC() // of the garbage of the acts before
					begin := time.Now()
					act.do()
					if err := g.Validate(); err != nil {
						b.Fatal(err)
					}
					prepare[i] = append(prepare[i], time.Since(begin))
					run(g)
					times[i] = append(times[i], time.Since(begin))
				}
			}
			b.ReportMetric(0, "ns/op")
			for i, act := range acts {
				slices.Sort(prepare[i])
				slices.Sort(times[i])
				b.ReportMetric(float64(prepare[i][len(times[i])/2])/1e6, "ms/"+act.name+"-before-run")
				b.ReportMetric(float64(times[i][len(times[i])/2])/1e6, "ms/"+act.name)
			}
		})
	}
}
