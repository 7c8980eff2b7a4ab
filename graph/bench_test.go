package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
)

// Micro-benchmarks for regressions in this package; wsbench has the real workloads at full size. Graphs of benchTasks
// tasks do not fit a core's own caches.
const benchTasks = 1 << 16

// benchShapes are graphs of n empty tasks, in a fixed order.
var benchShapes = []struct {
	name  string
	build func(g *graph.Graph, n int)
}{
	{"chain", shapes["chain"]},
	{"btree", func(g *graph.Graph, n int) {
		tasks := make([]graph.Task, n)
		for i := range tasks {
			tasks[i] = g.Task(nothing)
		}
		for i := 1; i < n; i++ {
			tasks[(i-1)/2].Precede(tasks[i])
		}
	}},
	{"dag", func(g *graph.Graph, n int) {
		rng := rand.New(rand.NewPCG(42, 0))
		tasks := make([]graph.Task, n)
		for i := range tasks {
			tasks[i] = g.Task(nothing)
		}
		for i := range n {
			for range 3 {
				if to := i + 1 + rng.IntN(1024); to < n {
					tasks[i].Precede(tasks[to])
				}
			}
		}
	}},
	{"fan", shapes["fan"]},
}

// perTask reports the time of an iteration divided among the tasks.
func perTask(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchTasks, "ns/task")
}

// BenchmarkRun runs each graph on executors of 1 and 2 workers, and on plan.Serial, the yardstick. To compare the three
// on a machine that drifts, repeat the command: -count repeats each benchmark before it goes on to the next.
func BenchmarkRun(b *testing.B) {
	for _, shape := range benchShapes {
		g := graph.New(shape.name)
		g.Reserve(benchTasks, 3*benchTasks)
		shape.build(g, benchTasks)
		for _, w := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/W=%d", shape.name, w), func(b *testing.B) {
				ex := newExecutor(b, executor.Config{Workers: w})
				b.ReportAllocs()
				for b.Loop() {
					if err := ex.Run(context.Background(), g); err != nil {
						b.Fatal(err)
					}
				}
				perTask(b)
			})
		}
		b.Run(shape.name+"/serial", func(b *testing.B) {
			p, err := plan.Of(g)
			if err != nil {
				b.Fatal(err)
			}
			s := plan.NewSerial(p)
			b.ReportAllocs()
			for b.Loop() {
				if ran, err := s.Run(context.Background()); ran != benchTasks || err != nil {
					b.Fatal(ran, err)
				}
			}
			perTask(b)
		})
	}
}

// BenchmarkPriority runs each graph with tasks of one priority, which is as with none, and with tasks of three.
func BenchmarkPriority(b *testing.B) {
	for _, shape := range benchShapes {
		for _, levels := range []int{1, 3} {
			g := graph.New(shape.name)
			shape.build(g, benchTasks)
			graph.Prioritize(g, func(i uint32) graph.Priority { return graph.High - graph.Priority(int(i)%levels) })
			for _, w := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/levels=%d/W=%d", shape.name, levels, w), func(b *testing.B) {
					ex := newExecutor(b, executor.Config{Workers: w})
					b.ReportAllocs()
					for b.Loop() {
						if err := ex.Run(context.Background(), g); err != nil {
							b.Fatal(err)
						}
					}
					perTask(b)
				})
			}
		}
	}
}

// BenchmarkCondition measures a round of a loop of a task and a condition.
func BenchmarkCondition(b *testing.B) {
	const rounds = 1000
	for _, w := range []int{1, 2} {
		b.Run(fmt.Sprintf("W=%d", w), func(b *testing.B) {
			ex := newExecutor(b, executor.Config{Workers: w})
			left := 0
			g := graph.New("g")
			begin := g.Task(func(context.Context) error { left = rounds; return nil })
			body := g.Task(nothing)
			again := g.Condition(func(context.Context) (int, error) {
				if left--; left > 0 {
					return 0, nil
				}
				return -1, nil
			})
			begin.Precede(body)
			body.Precede(again)
			again.Precede(body)
			b.ReportAllocs()
			for b.Loop() {
				if err := ex.Run(context.Background(), g); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rounds, "ns/round")
		})
	}
}

// BenchmarkBuild builds and freezes each graph, the check for cycles included.
func BenchmarkBuild(b *testing.B) {
	for _, shape := range benchShapes {
		for _, reserved := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/reserved=%v", shape.name, reserved), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					g := graph.New(shape.name)
					if reserved {
						g.Reserve(benchTasks, 3*benchTasks)
					}
					shape.build(g, benchTasks)
					if err := g.Validate(); err != nil {
						b.Fatal(err)
					}
					runtime.KeepAlive(g)
				}
				perTask(b)
			})
		}
	}
}

// BenchmarkRunOne measures the cost of a run itself: a graph of one task, from a goroutine, back to back.
func BenchmarkRunOne(b *testing.B) {
	for _, w := range []int{1, 2} {
		b.Run(fmt.Sprintf("W=%d", w), func(b *testing.B) {
			ex := newExecutor(b, executor.Config{Workers: w})
			g := graph.New("one")
			g.Task(nothing)
			b.ReportAllocs()
			for b.Loop() {
				if err := ex.Run(context.Background(), g); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSubflow builds and runs a thousand tasks in a subflow; ns/task is to be compared with building and running
// them as a graph of their own.
func BenchmarkSubflow(b *testing.B) {
	const n = 1000
	fill := func(_ context.Context, g *graph.Graph) error {
		for range n {
			g.Task(nothing)
		}
		return nil
	}
	for _, w := range []int{1, 2} {
		ex := newExecutor(b, executor.Config{Workers: w})
		b.Run(fmt.Sprintf("subflow/W=%d", w), func(b *testing.B) {
			g := graph.New("g")
			g.Subflow(fill)
			for b.Loop() {
				if err := ex.Run(b.Context(), g); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/task")
		})
		b.Run(fmt.Sprintf("graph/W=%d", w), func(b *testing.B) {
			for b.Loop() {
				g := graph.New("g")
				_ = fill(b.Context(), g)
				if err := ex.Run(b.Context(), g); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/task")
		})
		b.Run(fmt.Sprintf("static/W=%d", w), func(b *testing.B) {
			g := graph.New("g")
			_ = fill(b.Context(), g)
			for b.Loop() {
				if err := ex.Run(b.Context(), g); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/task")
		})
		b.Run(fmt.Sprintf("module/W=%d", w), func(b *testing.B) {
			sub := graph.New("sub")
			sub.Task(nothing)
			g := graph.New("g")
			for range n {
				g.Module(sub)
			}
			for b.Loop() {
				if err := ex.Run(b.Context(), g); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/module")
		})
	}
}

// BenchmarkSubflowDepth runs subflows in subflows, one in each, 100,000 levels deep.
func BenchmarkSubflowDepth(b *testing.B) {
	const levels = 100_000
	for _, w := range []int{1, 2} {
		b.Run(fmt.Sprintf("W=%d", w), func(b *testing.B) {
			ex := newExecutor(b, executor.Config{Workers: w})
			left := 0
			var deeper func(context.Context, *graph.Graph) error
			deeper = func(_ context.Context, sub *graph.Graph) error {
				if left--; left > 0 {
					sub.Subflow(deeper)
				}
				return nil
			}
			g := graph.New("g")
			g.Subflow(deeper)
			for b.Loop() {
				left = levels
				if err := ex.Run(context.Background(), g); err != nil || left != 0 {
					b.Fatal(left, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/levels, "ns/level")
		})
	}
}

// BenchmarkMultiCondition measures the first run of a graph in which a task chooses all of its 160,000 successors, and
// of one in which a task without a choice precedes as many.
func BenchmarkMultiCondition(b *testing.B) {
	const n = 160_000
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	for _, head := range []struct {
		name string
		add  func(g *graph.Graph) graph.Task
	}{
		{"chosen", func(g *graph.Graph) graph.Task {
			return g.MultiCondition(func(context.Context) ([]int, error) { return all, nil })
		}},
		{"task", func(g *graph.Graph) graph.Task { return g.Task(nothing) }},
	} {
		for _, w := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/W=%d", head.name, w), func(b *testing.B) {
				ex := newExecutor(b, executor.Config{Workers: w})
				for b.Loop() {
					b.StopTimer()
					g := graph.New("g")
					first := head.add(g)
					for range n {
						first.Precede(g.Task(nothing))
					}
					b.StartTimer()
					if err := ex.Run(context.Background(), g); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/successor")
			})
		}
	}
}
