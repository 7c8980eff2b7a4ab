package otel_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/metrics"
	"github.com/magpie-go/magpie/executor/metrics/otel"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
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

// newProvider returns a provider and a reader that collects from it.
func newProvider() (*sdk.MeterProvider, *sdk.ManualReader) {
	reader := sdk.NewManualReader()
	return sdk.NewMeterProvider(sdk.WithReader(reader)), reader
}

// A series is an instrument with the values that it has for each set of attributes.
type series struct {
	metricdata.Metrics
	values map[string]float64
}

func collect(t *testing.T, reader sdk.Reader) map[string]series {
	var rm metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.Background(), &rm))
	all := make(map[string]series)
	for _, scope := range rm.ScopeMetrics {
		require.Equal(t, otel.ScopeName, scope.Scope.Name)
		for _, m := range scope.Metrics {
			s := series{m, make(map[string]float64)}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				require.True(t, data.IsMonotonic)
				add(s, data.DataPoints)
			case metricdata.Gauge[int64]:
				add(s, data.DataPoints)
			case metricdata.Gauge[float64]:
				add(s, data.DataPoints)
			}
			all[m.Name] = s
		}
	}
	return all
}

func add[N int64 | float64](s series, points []metricdata.DataPoint[N]) {
	for _, p := range points {
		s.values[p.Attributes.Encoded(attribute.DefaultEncoder())] = float64(p.Value)
	}
}

func register(t *testing.T, ex *executor.Executor, opts otel.Options) *otel.Registration {
	r, err := otel.Register(ex, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Unregister()) })
	return r
}

// optional are the metrics of executors with a certain Config.
var optional = regexp.MustCompile(`^/magpie/(share|quota|intake)/`)

// Every metric comes with its description, unit, kind and attributes.
func TestRegister(t *testing.T) {
	provider, reader := newProvider()
	ex := newExecutor(t, executor.Config{Workers: 2, Name: "first"})
	register(t, ex, otel.Options{Provider: provider})
	register(t, newExecutor(t, executor.Config{Workers: 1, Name: "second"}), otel.Options{Provider: provider})
	run(t, ex, 5)
	all := collect(t, reader)
	for _, d := range metrics.All() {
		s, ok := all[d.Identifier(".")]
		require.Equal(t, !optional.MatchString(d.Name), ok, d.Name)
		if !ok {
			continue
		}
		require.Equal(t, d.Description, s.Description)
		require.Equal(t, "{"+d.Unit()+"}", s.Unit)
		_, isSum := s.Data.(metricdata.Sum[int64])
		require.Equal(t, d.Cumulative, isSum, d.Name)
		if d.PerWorker {
			require.Len(t, s.values, 3, d.Name)
			require.Contains(t, s.values, "executor=first,worker=1")
		} else {
			require.Len(t, s.values, 2, d.Name)
			require.Contains(t, s.values, "executor=second")
		}
	}
	tasks := all["magpie.tasks"].values
	require.EqualValues(t, 5, tasks["executor=first,worker=0"]+tasks["executor=first,worker=1"])
	require.EqualValues(t, 2, all["magpie.workers.configured"].values["executor=first"])
}

func TestTotals(t *testing.T) {
	provider, reader := newProvider()
	ex := newExecutor(t, executor.Config{Workers: 2, Name: "sum"})
	r := register(t, ex, otel.Options{Provider: provider, Totals: true})
	run(t, ex, 5)
	require.Equal(t, map[string]float64{"executor=sum": 5}, collect(t, reader)["magpie.tasks"].values)
	require.NoError(t, r.Unregister())
	require.NoError(t, r.Unregister())
	require.Empty(t, collect(t, reader))
	register(t, ex, otel.Options{Provider: provider})
}

func TestRatio(t *testing.T) {
	provider, reader := newProvider()
	ex := newExecutor(t, executor.Config{
		Workers: 2, Host: host.Options{Share: &host.Share{Path: t.TempDir() + "/gat"}},
	})
	if share := ex.Stats().Share; !share.Joined {
		require.NotEqual(t, "linux", runtime.GOOS, share.Err)
		t.Skip("the machine cannot be shared here:", share.Err)
	}
	register(t, ex, otel.Options{Provider: provider})
	s := collect(t, reader)["magpie.share.efficiency.ratio"]
	require.Equal(t, "1", s.Unit)
	require.Contains(t, s.values, "executor=magpie")
}

// Executors in use at the same time need names of their own, with one provider, and each is registered once. An
// executor that is closed leaves its name to the next.
func TestExecutorsOfOneName(t *testing.T) {
	provider, reader := newProvider()
	first := newExecutor(t, executor.Config{Workers: 1, Name: "twin"})
	register(t, first, otel.Options{Provider: provider})
	run(t, first, 3)
	second := newExecutor(t, executor.Config{Workers: 1, Name: "twin"})
	_, err := otel.Register(second, otel.Options{Provider: provider})
	require.ErrorContains(t, err, `an executor named "twin" is registered already: give each executor a Config.Name`)
	_, err = otel.Register(first, otel.Options{Provider: provider})
	require.EqualError(t, err, `otel: the executor "twin" is registered already`)
	other, _ := newProvider()
	register(t, second, otel.Options{Provider: other})
	require.NoError(t, first.Close())
	register(t, first, otel.Options{Provider: provider})
	require.EqualValues(t, 3, collect(t, reader)["magpie.tasks"].values["executor=twin,worker=0"])
	register(t, second, otel.Options{Provider: provider})
	require.EqualValues(t, 0, collect(t, reader)["magpie.tasks"].values["executor=twin,worker=0"])
}

// The global provider is the default. Without an SDK it does nothing.
func TestGlobalProvider(t *testing.T) {
	r := register(t, newExecutor(t, executor.Config{Workers: 1}), otel.Options{})
	require.NoError(t, r.Unregister())
}

// A Registration does not keep its executor open.
func TestRegistrationOfAnExecutorThatIsGone(t *testing.T) {
	log.SetOutput(io.Discard)
	provider, reader := newProvider()
	ex, err := executor.New(executor.Config{Workers: 1})
	require.NoError(t, err)
	register(t, ex, otel.Options{Provider: provider})
	require.NotEmpty(t, collect(t, reader))
	runtime.KeepAlive(ex)
	require.Eventually(t, func() bool { runtime.GC(); return len(collect(t, reader)) == 0 },
		time.Minute, 10*time.Millisecond)
}

// Collections flat out, several at a time, while the workers are busy and then close.
func TestCollectWhileRunning(t *testing.T) {
	provider, reader := newProvider()
	ex := newExecutor(t, executor.Config{Workers: 2, Name: "busy"})
	register(t, ex, otel.Options{Provider: provider})
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
				if err := reader.Collect(context.Background(), new(metricdata.ResourceMetrics)); err != nil {
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

func ExampleRegister() {
	ex, err := executor.New(executor.Config{Workers: 2, Name: "thumbnails"})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	reader := sdk.NewManualReader() // a service has a periodic reader with an exporter
	registration, err := otel.Register(ex, otel.Options{Provider: sdk.NewMeterProvider(sdk.WithReader(reader))})
	if err != nil {
		log.Fatal(err)
	}
	defer registration.Unregister()
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &rm); err != nil {
		log.Fatal(err)
	}
	for _, m := range rm.ScopeMetrics[0].Metrics {
		if m.Name == "magpie.workers.configured" {
			fmt.Println(m.Description, m.Data.(metricdata.Gauge[int64]).DataPoints[0].Value)
		}
	}
	// Output: Workers without spare ones, Config.Workers. 2
}
