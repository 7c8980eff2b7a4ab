package observe_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// tenants are names of runs, each after another; "" is the job's own.
var tenants = []string{"", "a", "b", "a", "", "thumbnails", "b"}

// runAs runs the job under a tenant's name.
func runAs(t *testing.T, ctx context.Context, ex *executor.Executor, job executor.Job, tenant string) {
	t.Helper()
	require.NoError(t, ex.Run(ctx, executor.With(job, executor.RunOptions{Name: tenant})))
}

// A task has the label "run" if its run has another name than its job, also on top of a task of another run.
func TestLabelsOfNamedRuns(t *testing.T) {
	ex := newExecutor(t, 1, observe.Labels())
	var seen []string
	see := func(context.Context) error { seen = append(seen, labelsNow()); return nil }
	g := graph.New("thumbnails")
	g.Task(see).Named("resize")
	for _, labels := range []string{"", `, "shard":"7"`} {
		for _, tenant := range tenants {
			ctx, want := t.Context(), `{"job":"thumbnails"`
			if labels != "" {
				ctx = pprof.WithLabels(ctx, pprof.Labels("shard", "7"))
			}
			if tenant == "a" || tenant == "b" {
				want += fmt.Sprintf(", %q:%q", "run", tenant)
			}
			seen = nil
			runAs(t, ctx, ex, g, tenant)
			require.Equal(t, []string{want + labels + `, "task":"resize"}`}, seen, "%q", tenant)
		}
	}

	seen = nil
	outer := graph.New("outer")
	outer.Task(func(ctx context.Context) error {
		_ = see(ctx)
		runAs(t, ctx, ex, g, "b")
		runAs(t, ctx, ex, g, "a")
		return see(ctx)
	}).Named("waits")
	runAs(t, t.Context(), ex, outer, "a")
	around := `{"job":"outer", "run":"a", "task":"waits"}`
	require.Equal(t, []string{
		around, `{"job":"thumbnails", "run":"b", "task":"resize"}`, `{"job":"thumbnails", "run":"a", "task":"resize"}`,
		around,
	}, seen)

	// A function's job has the run's name.
	seen = nil
	f := executor.NewJob("f", func(s *executor.Scope) error { return see(s.Context()) })
	runAs(t, t.Context(), ex, f, "a")
	require.Equal(t, []string{`{"job":"a", "task":"root"}`}, seen)
}

// The slice of a task tells the name of its run if that is not the job's, with edges or without.
func TestTraceOfNamedRuns(t *testing.T) {
	for _, edges := range []bool{false, true} {
		var out bytes.Buffer
		trace := observe.NewTrace(&out, observe.TraceOptions{Edges: edges, Sample: -1, Wait: true})
		ex := newExecutor(t, 1, trace.Observer())
		g := graph.New("thumbnails")
		nothing := func(context.Context) error { return nil }
		g.Task(nothing).Precede(g.Task(nothing))
		var want []string
		for _, tenant := range tenants {
			runAs(t, t.Context(), ex, g, tenant)
			if tenant == "" || tenant == "thumbnails" {
				want = append(want, "map[]", "map[]")
			} else {
				args := fmt.Sprintf("map[run:%s]", tenant)
				want = append(want, args, args)
			}
		}
		require.NoError(t, trace.Close())
		var told []string
		for _, e := range readTrace(t, out.Bytes()).of("X", "thumbnails") {
			told = append(told, fmt.Sprint(e.Args))
		}
		require.Equal(t, want, told)
	}
}

// Times adds up the runs of a graph, whatever their names, and counts functions by them.
func TestTimesOfNamedRuns(t *testing.T) {
	times := observe.NewTimes()
	ex := newExecutor(t, 1, times.Observer())
	g := graph.New("thumbnails")
	g.Task(func(context.Context) error { return nil }).Named("resize")
	f := executor.NewJob("f", func(*executor.Scope) error { return nil })
	for _, tenant := range tenants {
		runAs(t, t.Context(), ex, g, tenant)
		runAs(t, t.Context(), ex, f, tenant)
	}
	counts := map[string]uint64{}
	for task := range times.All() {
		counts[task.Task.Set.Job+" "+task.Task.Name] = task.Count
	}
	require.Equal(t, map[string]uint64{
		"thumbnails resize": 7, "f root": 2, "a root": 2, "b root": 2, "thumbnails root": 1,
	}, counts)
}
