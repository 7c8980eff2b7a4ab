package prom_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/metrics/prom"
	"github.com/magpie-go/magpie/graph"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
)

// counts returns the counts of a histogram by the values of its labels.
func counts(t *testing.T, reg *prometheus.Registry, name string) map[string]uint64 {
	t.Helper()
	families, err := reg.Gather()
	require.NoError(t, err)
	all := map[string]uint64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		require.Equal(t, dto.MetricType_HISTOGRAM, f.GetType())
		for _, m := range f.GetMetric() {
			labels := ""
			for _, l := range m.GetLabel() {
				labels += l.GetValue() + " "
			}
			h := m.GetHistogram()
			require.True(t, len(h.GetPositiveSpan()) > 0 || h.GetZeroCount() > 0, "native buckets")
			all[labels] = h.GetSampleCount()
		}
	}
	return all
}

// TestLatencies: the histograms count runs and tasks by outcome, of several executors.
func TestLatencies(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	for _, name := range []string{"one", "two"} {
		observer, err := prom.Latencies(reg, prom.LatencyOptions{Tasks: true})
		require.NoError(t, err)
		ex, err := executor.New(executor.Config{Workers: 2, Name: name, Observers: []*executor.Observer{observer}})
		require.NoError(t, err)
		for i := range 3 {
			g := graph.New("g")
			bad := g.Task(func(context.Context) error {
				if i == 1 {
					return errors.New("broken")
				}
				return nil
			}).Named("bad")
			bad.Precede(g.Task(func(context.Context) error { return nil }).Named("after"))
			require.Equal(t, i == 1, ex.Run(t.Context(), g) != nil)
		}
		require.NoError(t, ex.Close())
	}
	require.Equal(t, map[string]uint64{
		"one ok ": 2, "one failed ": 1, "two ok ": 2, "two failed ": 1,
	}, counts(t, reg, "magpie_run_duration_seconds"))
	require.Equal(t, map[string]uint64{"one ": 3, "two ": 3}, counts(t, reg, "magpie_run_wait_seconds"))
	require.Equal(t, uint64(1), counts(t, reg, "magpie_task_duration_seconds")["one g failed bad "])
	problems, err := testutil.GatherAndLint(reg)
	require.NoError(t, err)
	require.Empty(t, problems)

	reg = prometheus.NewPedanticRegistry()
	require.NoError(t, reg.Register(prometheus.NewCounter(prometheus.CounterOpts{
		Name: "magpie_run_wait_seconds", Help: "another",
	})))
	_, err = prom.Latencies(reg, prom.LatencyOptions{})
	require.ErrorContains(t, err, "prom: cannot register magpie_run_wait_seconds")
}

// TestLatenciesOfAsyncs: Asyncs are counted by outcome, without other tasks.
func TestLatenciesOfAsyncs(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	observer, err := prom.Latencies(reg, prom.LatencyOptions{Asyncs: true})
	require.NoError(t, err)
	ex, err := executor.New(executor.Config{Workers: 1, Name: "one", Observers: []*executor.Observer{observer}})
	require.NoError(t, err)
	_, err = executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 0, errors.New("broken") }).Wait()
	require.Error(t, err)
	require.NoError(t, ex.Run(t.Context(), executor.NewJob("good", func(*executor.Scope) error { return nil })))
	require.NoError(t, ex.Close())
	require.Equal(t, map[string]uint64{"one failed ": 1}, counts(t, reg, "magpie_async_duration_seconds"))
	require.Empty(t, counts(t, reg, "magpie_task_duration_seconds"))
	problems, err := testutil.GatherAndLint(reg)
	require.NoError(t, err)
	require.Empty(t, problems)
}

// TestNamesThatAreNoUTF8: a name that is no UTF-8, as that of a file may be, is a label with U+FFFD in place of the
// bytes that are none. It ends no metrics.
func TestNamesThatAreNoUTF8(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	observer, err := prom.Latencies(reg, prom.LatencyOptions{Tasks: true})
	require.NoError(t, err)
	ex := newExecutor(t, executor.Config{Workers: 1, Name: "e\xff", Observers: []*executor.Observer{observer}})
	register(t, reg, ex, prom.Options{})
	g := graph.New("build\xff")
	g.Task(func(context.Context) error { return nil }).Named("caf\xe9.c")
	require.NoError(t, ex.Run(t.Context(), g))
	run(t, ex, 5)
	require.Equal(t, map[string]uint64{"e\ufffd ok ": 6}, counts(t, reg, "magpie_run_duration_seconds"))
	require.Equal(t, uint64(1), counts(t, reg, "magpie_task_duration_seconds")["e\ufffd build\ufffd ok caf\ufffd.c "])
	require.Contains(t, scrape(t, reg), "magpie_workers_configured{executor=\"e\ufffd\"} 1\n")
}

// The runs of an executor, by outcome.
func ExampleLatencies() {
	reg := prometheus.NewRegistry()
	latencies, err := prom.Latencies(reg, prom.LatencyOptions{})
	if err != nil {
		log.Fatal(err)
	}
	ex, err := executor.New(executor.Config{Name: "imports", Observers: []*executor.Observer{latencies}})
	if err != nil {
		log.Fatal(err)
	}
	job := executor.NewJob("import", func(*executor.Scope) error { return errors.New("no space") })
	_ = ex.Run(context.Background(), job)
	_ = ex.Close()
	families, err := reg.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range families {
		fmt.Println(f.GetName(), f.GetMetric()[0].GetHistogram().GetSampleCount())
	}
	// Output:
	// magpie_run_duration_seconds 1
	// magpie_run_wait_seconds 1
}
