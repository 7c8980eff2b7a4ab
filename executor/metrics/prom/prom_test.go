package prom_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/metrics"
	"github.com/magpie-go/magpie/executor/metrics/prom"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func newExecutor(t *testing.T, cfg executor.Config) *executor.Executor {
	ex, err := executor.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ex.Close()) })
	return ex
}

func run(t *testing.T, ex *executor.Executor, n int) {
	for range n {
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("work", func(*executor.Scope) error { return nil })))
	}
}

// scrape returns what a Prometheus server gets.
func scrape(t *testing.T, reg *prometheus.Registry) string {
	server := httptest.NewServer(promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	defer server.Close()
	r, err := http.Get(server.URL)
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, r.StatusCode, "%s", text)
	return string(text)
}

func register(t *testing.T, reg prometheus.Registerer, ex *executor.Executor, opts prom.Options) *prom.Collector {
	c, err := prom.Register(reg, ex, opts)
	require.NoError(t, err)
	return c
}

// optional are the metrics of executors with a certain Config.
var optional = regexp.MustCompile(`^/magpie/(share|quota|intake)/`)

// nameOf returns the name that a metric has for Prometheus.
func nameOf(d metrics.Description) string {
	name := d.Identifier("_")
	if d.Cumulative {
		name += "_total"
	}
	return name
}

// Every metric comes with its help text, kind and labels, under a name that the linter of Prometheus accepts.
func TestCollector(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	ex := newExecutor(t, executor.Config{Workers: 2, Name: "first"})
	register(t, reg, ex, prom.Options{})
	register(t, reg, newExecutor(t, executor.Config{Workers: 1, Name: "second"}), prom.Options{})
	run(t, ex, 5)
	text := scrape(t, reg)
	for _, d := range metrics.All() {
		name, kind := nameOf(d), "gauge"
		if d.Cumulative {
			kind = "counter"
		}
		if optional.MatchString(d.Name) {
			require.NotContains(t, text, name, "of an executor with the zero Config")
			continue
		}
		require.Contains(t, text, fmt.Sprintf("# HELP %s %s\n# TYPE %s %s\n", name, d.Description, name, kind))
		for _, labels := range []string{`{executor="first",worker="1"}`, `{executor="second",worker="0"}`} {
			require.Equal(t, d.PerWorker, strings.Contains(text, name+labels), name)
		}
	}
	require.Contains(t, text, `magpie_workers_configured{executor="first"} 2`)
	tasks := 0
	for _, m := range regexp.MustCompile(`(?m)^magpie_tasks_total{executor="first",.*} (\d+)$`).
		FindAllStringSubmatch(text, -1) {
		var n int
		_, err := fmt.Sscan(m[1], &n)
		require.NoError(t, err)
		tasks += n
	}
	require.Equal(t, 5, tasks)
	problems, err := testutil.GatherAndLint(reg)
	require.NoError(t, err)
	require.Empty(t, problems)
}

func TestTotals(t *testing.T) {
	perWorker := 0
	for _, d := range metrics.All() {
		if d.PerWorker {
			perWorker++
		}
	}
	require.Equal(t, 9, perWorker, "Options.Totals of this module and of otel have the number")
	reg := prometheus.NewPedanticRegistry()
	ex := newExecutor(t, executor.Config{Workers: 2, Name: "sum"})
	c := register(t, reg, ex, prom.Options{Totals: true})
	run(t, ex, 5)
	text := scrape(t, reg)
	require.Contains(t, text, `magpie_tasks_total{executor="sum"} 5`)
	require.NotContains(t, text, "worker=")
	_, err := prom.Register(reg, newExecutor(t, executor.Config{Workers: 1, Name: "other"}), prom.Options{})
	require.ErrorContains(t, err, `prom: cannot register the executor "other"`)
	require.True(t, reg.Unregister(c))
	require.NotContains(t, scrape(t, reg), "magpie")
}

// Executors in use at the same time need names of their own, and each is registered once. An executor that is closed
// leaves its name to the next.
func TestExecutorsOfOneName(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	first := newExecutor(t, executor.Config{Workers: 1, Name: "twin"})
	register(t, reg, first, prom.Options{})
	run(t, first, 3)
	second := newExecutor(t, executor.Config{Workers: 1, Name: "twin"})
	_, err := prom.Register(reg, second, prom.Options{})
	require.ErrorContains(t, err, `an executor named "twin" is registered already: give each executor a Config.Name`)
	require.ErrorAs(t, err, new(prometheus.AlreadyRegisteredError))
	_, err = prom.Register(reg, first, prom.Options{})
	require.ErrorContains(t, err, `prom: the executor "twin" is registered already`)
	require.ErrorAs(t, err, new(prometheus.AlreadyRegisteredError))
	require.NoError(t, first.Close())
	register(t, reg, first, prom.Options{})
	require.Contains(t, scrape(t, reg), `magpie_tasks_total{executor="twin",worker="0"} 3`)
	register(t, reg, second, prom.Options{})
	require.Contains(t, scrape(t, reg), `magpie_tasks_total{executor="twin",worker="0"} 0`)
}

// A collector does not keep its executor open.
func TestCollectorOfAnExecutorThatIsGone(t *testing.T) {
	log.SetOutput(io.Discard)
	ex, err := executor.New(executor.Config{Workers: 1})
	require.NoError(t, err)
	reg := prometheus.NewPedanticRegistry()
	register(t, reg, ex, prom.Options{})
	require.Contains(t, scrape(t, reg), "magpie")
	runtime.KeepAlive(ex)
	require.Eventually(t, func() bool {
		runtime.GC()
		n, err := testutil.GatherAndCount(reg)
		return err == nil && n == 0
	}, time.Minute, 10*time.Millisecond)
	register(t, reg, newExecutor(t, executor.Config{Workers: 1}), prom.Options{})
}

// Scrapes flat out, several at a time, while the workers are busy and then close.
func TestScrapeWhileRunning(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	ex := newExecutor(t, executor.Config{Workers: 2, Name: "busy"})
	register(t, reg, ex, prom.Options{})
	over, ended := make(chan struct{}), make(chan error)
	for range 2 {
		go func() {
			for {
				select {
				case <-over:
					ended <- nil
					return
				default:
				}
				if _, err := reg.Gather(); err != nil {
					ended <- err
					return
				}
			}
		}()
	}
	run(t, ex, 2000)
	require.NoError(t, ex.Close())
	close(over)
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
}

// The dashboard shows every metric. Each metric of it exists, and each label that it groups or filters by.
func TestDashboard(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	latencies, err := prom.Latencies(reg, prom.LatencyOptions{Tasks: true, Asyncs: true})
	require.NoError(t, err)
	ex := newExecutor(t, executor.Config{
		Workers: 2, MaxRuns: 1, Host: host.Options{Share: &host.Share{Path: t.TempDir() + "/gat"}},
		Observers: []*executor.Observer{latencies},
	})
	run(t, ex, 1)
	_, err = executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 0, nil }).Wait()
	require.NoError(t, err)
	if share := ex.Stats().Share; !share.Joined {
		require.NotEqual(t, "linux", runtime.GOOS, share.Err)
		t.Skip("the machine cannot be shared here:", share.Err)
	}
	register(t, reg, ex, prom.Options{})
	require.Eventually(t, func() bool { // RunEnd may come after the run's Wait
		return strings.Contains(scrape(t, reg), "magpie_run_wait_seconds_count")
	}, time.Minute, time.Millisecond)
	text := scrape(t, reg) // that scrape may have read the run's other histogram before RunEnd
	for _, d := range metrics.All() {
		if strings.HasPrefix(d.Name, "/magpie/quota/") { // the machine may have none
			text += "\n# TYPE " + nameOf(d) + " "
		}
	}
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
		Templating struct{ List []struct{ Definition string } }
	}
	require.NoError(t, json.Unmarshal(prom.Dashboard(), &dashboard))
	shown := make(map[string]bool)
	check := func(expr string) {
		names := regexp.MustCompile(`magpie_\w+`).FindAllString(expr, -1)
		require.NotEmpty(t, names, expr)
		for _, name := range names {
			family := regexp.MustCompile(`_seconds_(count|bucket)$`).ReplaceAllString(name, "_seconds")
			require.Contains(t, text, "\n# TYPE "+family+" ", "%s is not a metric", expr)
			cumulative := strings.HasSuffix(name, "_total") || family != name
			require.Equal(t, cumulative, regexp.MustCompile(`(rate|increase)\(`).MatchString(expr), expr)
			shown[name] = true
		}
		require.Equal(t, strings.Count(expr, "("), strings.Count(expr, ")"), expr)
	}
	ids := make(map[int]bool)
	for _, p := range dashboard.Panels {
		require.False(t, ids[p.ID], "two panels have the number %d", p.ID)
		ids[p.ID] = true
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			check(target.Expr)
			for _, label := range regexp.MustCompile(`{{(\w+)}}`).FindAllStringSubmatch(target.LegendFormat, -1) {
				require.Contains(t, []string{"executor", "worker", "job", "task", "outcome"}, label[1])
			}
		}
	}
	for _, v := range dashboard.Templating.List {
		if v.Definition != "" {
			check(v.Definition)
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(prom.Alerts(), &rules))
	require.Len(t, rules.Groups, 1)
	var alerts []string
	for _, r := range rules.Groups[0].Rules {
		check(r.Expr)
		require.Contains(t, r.Annotations["summary"], "{{ $labels.executor }}", r.Alert)
		alerts = append(alerts, r.Alert)
	}
	require.Subset(t, alerts, []string{"MagpieRunsFail", "MagpieAsyncsFail", "MagpieTasksFail"})
	for _, d := range metrics.All() {
		require.True(t, shown[nameOf(d)], "no panel shows %s", d.Name)
	}
}

func ExampleRegister() {
	ex, err := executor.New(executor.Config{Workers: 2, Name: "thumbnails"})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	reg := prometheus.NewRegistry()
	if _, err := prom.Register(reg, ex, prom.Options{}); err != nil {
		log.Fatal(err)
	}
	http.Handle("/metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	families, err := reg.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "magpie_workers_configured" {
			fmt.Println(f.GetHelp(), f.GetMetric()[0].GetGauge().GetValue())
		}
	}
	// Output: Workers without spare ones, Config.Workers. 2
}
