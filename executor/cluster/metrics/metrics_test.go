package metrics_test

import (
	"context"
	"encoding/json"
	"expvar"
	"fmt"
	"go/parser"
	"go/token"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
	"github.com/magpie-go/magpie/executor/cluster/metrics"
)

// sources returns a worker that has run two partitions, and the client that has submitted them.
func sources(t *testing.T) (worker, client metrics.Source) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	s := served.Start(t, embedded.Config{})
	reg := cluster.NewRegistry()
	double := cluster.Register(reg, "double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	w, err := cluster.NewWorker(ctx, s.Conn(), nil, reg, cluster.WorkerConfig{Name: "w1", Slots: 2})
	require.NoError(t, err)
	c, err := cluster.NewClient(ctx, s.Conn(), cluster.ClientConfig{Patient: true})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(working) }()
	g := cluster.NewGraph("g")
	double.Call(g, double.Call(g, cluster.Value(1)).Cost(time.Minute)).Cost(time.Minute)
	_, err = c.Run(ctx, g)
	require.NoError(t, err)
	stop()
	require.NoError(t, <-ended)
	return metrics.Worker(w), metrics.Client(`the "first"`, c)
}

// listed returns the names in the documentation of the package.
func listed(t *testing.T) []string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "metrics.go", nil, parser.ParseComments)
	require.NoError(t, err)
	names := regexp.MustCompile(`(?m)^\t(magpie_\w+)`).FindAllStringSubmatch(file.Doc.Text(), -1)
	var all []string
	for _, n := range names {
		all = append(all, n[1])
	}
	return all
}

// TestMetrics: the metrics are those that the documentation lists, in its order, with the label of their source.
func TestMetrics(t *testing.T) {
	worker, client := sources(t)
	label, name := worker.Label()
	require.Equal(t, "worker w1", label+" "+name)
	var names []string
	values := map[string]uint64{}
	for _, m := range slices.Concat(worker.Read(), client.Read()) {
		require.NotEmpty(t, m.Description)
		require.Equal(t, m.Kind == metrics.Counter, strings.HasSuffix(m.Name, "_total"), m.Name)
		require.Equal(t, m.Kind == metrics.Histogram, strings.HasSuffix(m.Name, "_seconds"), m.Name)
		require.Equal(t, m.Kind == metrics.Histogram, m.Histogram != nil)
		names = append(names, m.Name)
		values[m.Name] = m.Value
	}
	require.Equal(t, listed(t), names)
	require.EqualValues(t, 2, values["magpie_worker_slots"])
	require.EqualValues(t, 2, values["magpie_worker_partitions_done_total"])
	require.EqualValues(t, 1, values["magpie_client_runs_done_total"])
}

// TestText: the text has each metric once, with a line for each source, and histograms that add up.
func TestText(t *testing.T) {
	worker, client := sources(t)
	rec := httptest.NewRecorder()
	metrics.Handler(worker, client).ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	require.Contains(t, rec.Header().Get("Content-Type"), "version=0.0.4")
	text := rec.Body.String()
	line := regexp.MustCompile(`^(# (HELP|TYPE) magpie_\w+ .+|` +
		`magpie_\w+\{(worker="w1"|client="the \\"first\\"")(,le="[^"]+")?\} [0-9.e+-]+)$`)
	for l := range strings.Lines(text) {
		require.Regexp(t, line, strings.TrimSuffix(l, "\n"))
	}
	for _, name := range listed(t) {
		require.Equal(t, 1, strings.Count(text, "# TYPE "+name+" "), name)
	}
	require.Contains(t, text, "\nmagpie_worker_partitions_done_total{worker=\"w1\"} 2\n")
	require.Contains(t, text, "magpie_worker_partition_run_seconds_bucket{worker=\"w1\",le=\"+Inf\"} 2\n")
	require.Contains(t, text, "magpie_worker_partition_run_seconds_bucket{worker=\"w1\",le=\"0.0001\"}")
	require.Contains(t, text, "magpie_worker_partition_run_seconds_count{worker=\"w1\"} 2\n")

	var two strings.Builder
	require.NoError(t, metrics.Write(&two, worker, worker))
	require.Equal(t, 1, strings.Count(two.String(), "# TYPE magpie_worker_slots gauge\n"))
	require.Equal(t, 2, strings.Count(two.String(), "\nmagpie_worker_slots{"))
}

// TestVar: package expvar shows the metrics of each source.
func TestVar(t *testing.T) {
	worker, client := sources(t)
	var v expvar.Var = metrics.NewVar(worker, client)
	var all map[string]map[string]any
	require.NoError(t, json.Unmarshal([]byte(v.String()), &all))
	require.Len(t, all, 2)
	require.EqualValues(t, 2, all["worker/w1"]["magpie_worker_partitions_done_total"])
	require.EqualValues(t, 2, all["worker/w1"]["magpie_worker_partition_run_seconds"].(map[string]any)["Count"])
	require.EqualValues(t, 1, all[`client/the "first"`]["magpie_client_graphs_submitted_total"], fmt.Sprint(all))
}
