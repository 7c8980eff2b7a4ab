package observe_test

import (
	"context"
	"io"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// each calls f with each observer of the package, and with one that does nothing.
func each(b *testing.B, f func(b *testing.B, o *executor.Observer)) {
	b.Run("empty", func(b *testing.B) {
		f(b, &executor.Observer{
			TaskBegin: func(*executor.Event) {},
			TaskEnd:   func(*executor.Event) {},
		})
	})
	b.Run("labels", func(b *testing.B) { f(b, observe.Labels()) })
	b.Run("times", func(b *testing.B) { f(b, observe.NewTimes().Observer()) })
	for name, opts := range map[string]observe.TraceOptions{
		"trace": {}, "trace-wait": {Wait: true}, "trace-edges": {Edges: true},
	} {
		b.Run(name, func(b *testing.B) {
			trace := observe.NewTrace(io.Discard, opts)
			f(b, trace.Observer())
			b.StopTimer()
			lost := trace.Close()
			if dropped, ok := lost.(*observe.DroppedError); ok {
				b.ReportMetric(float64(dropped.Events)/float64(b.N), "dropped/op")
			}
		})
	}
	record := func(observe.Measure) {}
	b.Run("measures", func(b *testing.B) { f(b, observe.Measures(observe.MeasureOptions{}, record)) })
	b.Run("measures-asyncs", func(b *testing.B) { f(b, observe.Measures(observe.MeasureOptions{Asyncs: true}, record)) })
	b.Run("runtimetrace-off", func(b *testing.B) { f(b, observe.RuntimeTrace()) })
	b.Run("switch-off", func(b *testing.B) { f(b, observe.NewSwitch().Observer()) })
}

// The cost of the two calls of a task.
func BenchmarkCalls(b *testing.B) {
	each(b, func(b *testing.B, o *executor.Observer) {
		s, run := set("job", []string{"a", "b"}), newRun(b, b.Context(), "job")
		for i := 0; b.Loop(); i++ {
			task := &s.Tasks[i&1]
			o.TaskBegin(&executor.Event{Run: run, Task: task})
			o.TaskEnd(&executor.Event{Run: run, Task: task})
		}
	})
}

// The time of a task of a graph, one after the other, with each observer and without.
func BenchmarkTask(b *testing.B) {
	const tasks = 1000
	run := func(b *testing.B, observers ...*executor.Observer) {
		ex := newExecutor(b, 1, observers...)
		g := graph.New("chain")
		last := g.Task(func(context.Context) error { return nil })
		for range tasks - 1 {
			next := g.Task(func(context.Context) error { return nil })
			last.Precede(next)
			last = next
		}
		for b.Loop() {
			require.NoError(b, ex.Run(context.Background(), g))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tasks, "ns/task")
		b.ReportMetric(0, "ns/op")
	}
	b.Run("none", func(b *testing.B) { run(b) })
	each(b, func(b *testing.B, o *executor.Observer) { run(b, o) })
}
