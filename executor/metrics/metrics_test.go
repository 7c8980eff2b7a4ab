package metrics_test

import (
	"context"
	"encoding/json"
	"expvar"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/metrics"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
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

// all returns a sample of each metric, read.
func all(ex *executor.Executor) map[string]metrics.Sample {
	var samples []metrics.Sample
	for _, d := range metrics.All() {
		samples = append(samples, metrics.Sample{Name: d.Name})
	}
	metrics.Read(ex, samples)
	m := make(map[string]metrics.Sample)
	for _, s := range samples {
		m[s.Name] = s
	}
	return m
}

func TestRead(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Name: "read"})
	run(t, ex, 7)
	before := all(ex)
	stats := ex.Stats()
	require.EqualValues(t, 7, before["/magpie/tasks:tasks"].Value.Uint64())
	require.EqualValues(t, 2, before["/magpie/workers/configured:workers"].Value.Uint64())
	require.EqualValues(t, 0, before["/magpie/runs:runs"].Value.Uint64())
	require.Len(t, before["/magpie/tasks:tasks"].Workers, 2)
	for _, d := range metrics.All() {
		s := before[d.Name]
		if isOptional(d.Name) {
			require.Equal(t, metrics.KindBad, s.Value.Kind(), "%s of an executor with the zero Config", d.Name)
			continue
		}
		require.Equal(t, d.Kind, s.Value.Kind(), d.Name)
		require.Equal(t, d.PerWorker, len(s.Workers) == len(stats.Workers), d.Name)
		sum := 0.0
		for _, w := range s.Workers {
			sum += w.Float()
		}
		require.True(t, !d.PerWorker || sum == s.Value.Float(), d.Name)
	}
	run(t, ex, 100)
	for name, s := range all(ex) {
		i := slices.IndexFunc(metrics.All(), func(d metrics.Description) bool { return d.Name == name })
		if metrics.All()[i].Cumulative {
			require.GreaterOrEqual(t, s.Value.Float(), before[name].Value.Float(), name)
		}
	}
}

// isOptional says that a metric is for executors with a certain Config.
func isOptional(name string) bool { return needs(name) != "" }

// needs returns the field of Config without which an executor does not have a metric.
func needs(name string) string {
	return map[string]string{
		"share": "host.Share", "quota": "host.QuotaShare", "intake": "Config.MaxRuns",
	}[strings.Split(name, "/")[2]]
}

// The numbers of a bounded intake.
func TestReadOfABoundedIntake(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, MaxRuns: 1})
	gate := make(chan struct{})
	work := executor.NewJob("work", func(*executor.Scope) error { <-gate; return nil })
	r := ex.Start(t.Context(), work)
	_, err := ex.TryStart(t.Context(), work)
	require.ErrorIs(t, err, executor.ErrBusy)
	require.False(t, executor.NewGroup(ex).TryGo(func() error { return nil }))
	second := make(chan error)
	go func() { second <- ex.Run(t.Context(), work) }()
	testkit.Until(t, "the state is told", func() bool {
		return all(ex)["/magpie/intake/waiting:calls"].Value.Uint64() == 1
	})
	m := all(ex)
	require.EqualValues(t, 1, m["/magpie/intake/maximum:runs"].Value.Uint64())
	require.EqualValues(t, 1, m["/magpie/intake/inside:runs"].Value.Uint64())
	require.EqualValues(t, 2, m["/magpie/intake/refused:calls"].Value.Uint64())
	close(gate)
	require.NoError(t, r.Wait())
	require.NoError(t, <-second)
	require.EqualValues(t, 1, all(ex)["/magpie/intake/waited:calls"].Value.Uint64())
	require.EqualValues(t, 0, all(ex)["/magpie/intake/inside:runs"].Value.Uint64())
}

// The states of the workers, runs, futures and queued items are told while they are there.
func TestReadGauges(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	gate, begun := make(chan struct{}), make(chan struct{})
	f := executor.Async(t.Context(), ex, func(context.Context) (int, error) {
		close(begun)
		executor.Blocking(func() { <-gate })
		return 0, nil
	})
	<-begun
	testkit.Until(t, "the state is told", func() bool {
		return all(ex)["/magpie/workers/blocked:workers"].Value.Uint64() == 1
	})
	m := all(ex)
	require.EqualValues(t, 1, m["/magpie/futures:futures"].Value.Uint64())
	require.EqualValues(t, 1, m["/magpie/spares/serving:workers"].Value.Uint64())
	require.EqualValues(t, 1, m["/magpie/workers/configured:workers"].Value.Uint64())
	close(gate)
	_, err := f.Wait()
	require.NoError(t, err)
}

func TestReadOfASharer(t *testing.T) {
	ex := newExecutor(t, executor.Config{
		Workers: 2, Host: host.Options{Share: &host.Share{Path: filepath.Join(t.TempDir(), "gat")}},
	})
	if share := ex.Stats().Share; !share.Joined {
		require.NotEqual(t, "linux", runtime.GOOS, share.Err)
		t.Skip("the machine cannot be shared here:", share.Err)
	}
	for name, s := range all(ex) {
		known := needs(name) == "" || needs(name) == "host.Share"
		require.Equal(t, known, s.Value.Kind() != metrics.KindBad, name)
	}
	require.Equal(t, metrics.KindFloat64, all(ex)["/magpie/share/efficiency:ratio"].Value.Kind())

	// The counter has its last value after Close, and the gauges have none.
	release := make(chan struct{})
	r := ex.Start(t.Context(), executor.NewJob("long", func(*executor.Scope) error { <-release; return nil }))
	testkit.Until(t, "a cycle", func() bool { return ex.Stats().Share.Cycles > 0 })
	close(release)
	require.NoError(t, r.Wait())
	require.NoError(t, ex.Close())
	require.Equal(t, metrics.KindUint64, all(ex)["/magpie/share/rests:events"].Value.Kind())
	require.Equal(t, metrics.KindBad, all(ex)["/magpie/share/desire:processors"].Value.Kind())
}

// A name that does not exist has no value, also in samples that had one.
func TestReadOfAnUnknownName(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	samples := []metrics.Sample{{Name: "/magpie/tasks:tasks"}}
	metrics.Read(ex, samples)
	for _, name := range []string{"", "tasks", "/magpie/tasks", "/magpie/tasks:items"} {
		samples[0].Name = name
		metrics.Read(ex, samples)
		require.Equal(t, metrics.KindBad, samples[0].Value.Kind())
		require.Empty(t, samples[0].Workers)
		require.Panics(t, func() { samples[0].Value.Uint64() })
		require.Panics(t, func() { samples[0].Value.Float64() })
		require.Zero(t, samples[0].Value.Float())
	}
}

// Names have the form of those of runtime/metrics, are in order, and make identifiers that differ. The package's
// documentation lists them all.
func TestAll(t *testing.T) {
	source, err := os.ReadFile("metrics.go")
	require.NoError(t, err)
	doc, _, _ := strings.Cut(string(source), "*/")
	var names, listed, ids []string
	for _, d := range metrics.All() {
		names = append(names, d.Name)
		ids = append(ids, d.Identifier("_"))
		require.Regexp(t, `^/magpie(/[a-z]+)+:[a-z]+$`, d.Name)
		require.Regexp(t, `^[A-Z0-9].*\.$`, d.Description)
		require.Regexp(t, `^[a-z_]+$`, d.Identifier("_"))
		require.True(t, strings.HasSuffix(d.Name, ":"+d.Unit()))
		line := regexp.MustCompile(`(?m)^\t` + d.Name + `(?: +(.*))?$`).FindStringSubmatch(doc)
		require.NotNil(t, line, d.Name)
		require.Equal(t, d.Cumulative, strings.Contains(line[1], "counter"), d.Name)
		require.Equal(t, d.PerWorker, strings.Contains(line[1], "per worker"), d.Name)
		field := ""
		if _, after, ok := strings.Cut(line[1], "with "); ok {
			field = after
		}
		require.Equal(t, needs(d.Name), field, d.Name)
	}
	for _, m := range regexp.MustCompile(`(?m)^\t(/magpie\S+)`).FindAllStringSubmatch(doc, -1) {
		listed = append(listed, m[1])
	}
	require.True(t, slices.IsSorted(names))
	require.Equal(t, names, listed)
	slices.Sort(ids)
	require.Len(t, slices.Compact(ids), len(names))
	metrics.All()[0].Name = "changed"
	require.Equal(t, names[0], metrics.All()[0].Name, "All returns a copy")
}

// The description of a metric names all fields and calls that it is about.
func TestDescriptions(t *testing.T) {
	about := map[string][]string{
		"/magpie/intake/refused:calls":    {"TryStart", "Group.TryGo"},
		"/magpie/workers/resting:workers": {"host.Share ", "host.QuotaShare"},
	}
	for _, d := range metrics.All() {
		for _, name := range about[d.Name] {
			require.Contains(t, d.Description, name, d.Name)
		}
	}
}

// A Var shows the values of its executor, after Close too, and those of another after Set.
func TestVar(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Name: "first"})
	run(t, ex, 3)
	v := metrics.NewVar(ex)
	var published expvar.Map // for one test run: a name of expvar can be published once in a process
	published.Set("magpie_test", v)
	parse := func() (m map[string]any) {
		require.NoError(t, json.Unmarshal([]byte(published.Get("magpie_test").String()), &m))
		return m
	}
	m := parse()
	require.Equal(t, "first", m["name"])
	require.Equal(t, false, m["closed"])
	require.EqualValues(t, 3, m["/magpie/tasks:tasks"])
	require.NotContains(t, m, "/magpie/share/desire:processors")
	require.NoError(t, ex.Close())
	m = parse()
	require.Equal(t, true, m["closed"])
	require.EqualValues(t, 3, m["/magpie/tasks:tasks"])
	v.Set(newExecutor(t, executor.Config{Workers: 1, Name: `se"cond`}))
	require.Equal(t, `se"cond`, parse()["name"])
	v.Set(nil)
	require.Nil(t, parse())
	require.Equal(t, "null", metrics.NewVar(nil).String())
}

// A Var does not keep an executor open that nothing else refers to.
func TestVarKeepsNoExecutor(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	ex, err := executor.New(executor.Config{Workers: 1})
	require.NoError(t, err)
	v := metrics.NewVar(ex)
	require.NotEqual(t, "null", v.String())
	runtime.KeepAlive(ex)
	testkit.Until(t, "the executor is gone", func() bool { runtime.GC(); return v.String() == "null" })
}

// Metrics are read flat out, from several goroutines, while the workers are busy and then close.
func TestReadWhileRunning(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	v := metrics.NewVar(ex)
	over := make(chan struct{})
	for range 2 {
		go func() {
			for {
				select {
				case <-over:
					return
				default:
					all(ex)
					_ = v.String()
				}
			}
		}()
	}
	run(t, ex, 2000)
	require.NoError(t, ex.Close())
	close(over)
	require.EqualValues(t, 2000, all(ex)["/magpie/tasks:tasks"].Value.Uint64())
}

func ExampleRead() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	for range 10 {
		work := executor.NewJob("work", func(*executor.Scope) error { return nil })
		if err := ex.Run(context.Background(), work); err != nil {
			log.Fatal(err)
		}
	}
	samples := []metrics.Sample{{Name: "/magpie/tasks:tasks"}, {Name: "/magpie/runs:runs"}}
	metrics.Read(ex, samples)
	fmt.Println("tasks:", samples[0].Value.Uint64())
	fmt.Println("runs in progress:", samples[1].Value.Uint64())
	// Output:
	// tasks: 10
	// runs in progress: 0
}

func ExampleVar() {
	ex, err := executor.New(executor.Config{Workers: 2, Name: "thumbnails"})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	// Importing expvar makes the variables visible at /debug/vars of http.DefaultServeMux.
	expvar.Publish("thumbnails", metrics.NewVar(ex))
}
