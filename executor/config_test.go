package executor_test

import (
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/procs"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

func TestBadConfig(t *testing.T) {
	for _, c := range []struct {
		cfg  executor.Config
		says string
	}{
		{executor.Config{Workers: -1}, "Config.Workers is -1"},
		{executor.Config{Name: "two\nlines"}, `Config.Name is "two\nlines"`},
		{executor.Config{Workers: executor.MaxWorkers + 1}, "Config.Workers is 4097"},
		{executor.Config{Threads: host.Threads{Nice: -1}}, "Config.Threads.Nice is -1"},
		{executor.Config{Threads: host.Threads{Nice: 20}}, "Config.Threads.Nice is 20"},
		{executor.Config{Threads: host.Threads{Class: 3}}, "Config.Threads.Class is 3: use one of [normal batch idle]"},
		{executor.Config{Threads: host.Threads{Slice: -1}}, "Config.Threads.Slice is -1ns: give 100µs to 100ms, or 0"},
		{executor.Config{Threads: host.Threads{Slice: 99 * time.Microsecond}}, "Config.Threads.Slice is 99µs"},
		{executor.Config{Threads: host.Threads{Slice: 101 * time.Millisecond}}, "Config.Threads.Slice is 101ms"},
		{executor.Config{Threads: host.Threads{Slice: time.Millisecond, Class: host.ClassIdle}},
			"Config.Threads.Slice is 1ms, but threads of idle have no slice of their own"},
		{executor.Config{Threads: host.Threads{CPUs: []int{}}}, "Config.Threads.CPUs is empty"},
		{executor.Config{
			Threads: host.Threads{CPUs: []int{-1}, BestEffort: true},
		}, "Config.Threads.CPUs has [-1]: there are no such CPUs"},
		{executor.Config{
			Threads: host.Threads{CPUs: []int{1 << 30}, BestEffort: true},
		}, "Config.Threads.CPUs has [1073741824]"},
		{executor.Config{Host: host.Options{Share: host.QuotaShare(-0.1)}}, "Config.Host.Share is QuotaShare(-0.1)"},
		{executor.Config{
			Host: host.Options{Share: host.QuotaShare(1)},
		}, "Config.Host.Share is QuotaShare(1): give a part of the CPU quota above 0 and below 1, or nil"},
		{executor.Config{Host: host.Options{Share: host.QuotaShare(math.NaN())}}, "Config.Host.Share is QuotaShare(NaN)"},
		{executor.Config{
			Experiment: experiment.Options{Policy: "fair"},
		}, `Config.Experiment.Policy is "fair": use one of [adaptive adaptive-published abp`},
		{executor.Config{
			Experiment: experiment.Options{Policy: "abp", Yields: "often"},
		}, `Config.Experiment.Yields is "often": use one of [each never delayed selective]`},
		{executor.Config{
			Experiment: experiment.Options{Forks: "split"},
		}, `Config.Experiment.Forks is "split": use one of [private pushed]`},
		{executor.Config{
			Workers: 1 << 30, Experiment: experiment.Options{Deque: deque.KindPDQS},
		}, "Config.Workers is 1073741824"},
		{executor.Config{
			Workers: 2, Spares: 1 << 30, Experiment: experiment.Options{Deque: deque.KindPDQS},
		}, "Config.Spares is 1073741824"},
		{executor.Config{Experiment: experiment.Options{Capacity: -1}},
			"Config.Experiment with Deque chaselev: Capacity is -1: choose 1 to 16777216 for chaselev, or 0 for the default"},
		{executor.Config{Experiment: experiment.Options{Deque: deque.KindPadWS, Capacity: -1, BlockSize: -2}},
			"Config.Experiment with Deque padws: Capacity is -1: choose 1 to 16777216 for padws, or 0 for the default; " +
				"BlockSize is -2: choose 1 to 32768, or 0 for the default"},
	} {
		ps := runtime.GOMAXPROCS(0)
		ex, err := executor.New(c.cfg)
		require.Nil(t, ex)
		require.ErrorContains(t, err, "executor: "+c.says)
		require.Len(t, faults(err), 1)
		require.Equal(t, ps, runtime.GOMAXPROCS(0), "a refused executor must not keep Ps")
	}
}

func TestBadConfigAllAtOnce(t *testing.T) {
	_, err := executor.New(executor.Config{
		Workers: -7, Threads: host.Threads{Nice: 99},
		Experiment: experiment.Options{Policy: "fair"}, Name: "fine", Host: host.Options{KeepGOMAXPROCS: true},
	})
	require.Len(t, faults(err), 3)
	require.ErrorContains(t, err, "Config.Workers is -7")
	require.ErrorContains(t, err, "Config.Threads.Nice is 99")
	require.ErrorContains(t, err, `Config.Experiment.Policy is "fair"`)

	_, err = executor.New(executor.Config{
		Threads: host.Threads{Nice: 20, Class: 9, Slice: 1, CPUs: []int{}, BestEffort: true},
	})
	require.Len(t, faults(err), 4)

	_, err = executor.New(executor.Config{Experiment: experiment.Options{Steal: deque.Half, BlockSize: 5}})
	require.Len(t, faults(err), 2)
	_, err = executor.New(executor.Config{Experiment: experiment.Options{Steal: 9, BlockSize: 5}})
	require.Len(t, faults(err), 2)
	require.ErrorContains(t, err, "Config.Experiment.Steal is 9")
	require.ErrorContains(t, err, "BlockSize is 5, but chaselev has no blocks")
}

// A bad field is reported whatever the others are, and a good one never.
func TestBadConfigInEveryCombination(t *testing.T) {
	type value struct {
		set  func(*executor.Config)
		says string // "": it is good
	}
	fields := [][]value{
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Workers = 3 }, ""},
			{func(c *executor.Config) { c.Workers = -1 }, "Config.Workers is -1"},
			{func(c *executor.Config) { c.Workers = executor.MaxWorkers + 1 }, "Config.Workers is 4097"},
			{func(c *executor.Config) { c.Workers = math.MinInt }, "Config.Workers is -"}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Spares = -1 }, ""},
			{func(c *executor.Config) { c.Spares = 5 }, ""},
			{func(c *executor.Config) { c.Spares = executor.MaxWorkers }, "Config.Spares is 4096"},
			{func(c *executor.Config) { c.Spares = math.MaxInt }, "Config.Spares is "}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Threads.Nice = 20 }, "Config.Threads.Nice is 20"}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Experiment.Policy = "fair" },
			`Config.Experiment.Policy is "fair"`}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Experiment.Deque = deque.KindPadWS }, ""},
			{func(c *executor.Config) { c.Experiment.Deque = deque.KindPDQS }, ""},
			{func(c *executor.Config) { c.Experiment.Deque = 99 }, "Config.Experiment.Deque is 99"}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Experiment.Forks = "pushed" }, ""},
			{func(c *executor.Config) { c.Experiment.Forks = "split" }, `Config.Experiment.Forks is "split"`}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Experiment.Capacity = -1 }, "Capacity is -1"},
			{func(c *executor.Config) { c.Experiment.Capacity = math.MaxInt }, "Capacity is "}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Experiment.BlockSize = -2 }, "BlockSize is -2"},
			{func(c *executor.Config) { c.Experiment.BlockSize = math.MaxInt }, "BlockSize is "}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Experiment.Steal = 9 },
			"Config.Experiment.Steal is 9"}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Experiment.Verbatim = true }, ""}},
	}
	names := []string{"Config.Workers is", "Config.Spares is", "Config.Threads.Nice is",
		"Config.Experiment.Policy is", "Config.Experiment.Deque is",
		"Config.Experiment.Forks is", "Capacity is", "BlockSize is", "Config.Experiment.Steal is", "Verbatim"}
	ways := 1
	for _, f := range fields {
		ways *= len(f)
	}
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for way := range ways {
		if testkit.Quick() && rng.IntN(10) > 0 {
			continue
		}
		var cfg executor.Config
		var want []string
		for i, rest := 0, way; i < len(fields); i++ {
			v := fields[i][rest%len(fields[i])]
			rest /= len(fields[i])
			v.set(&cfg)
			want = append(want, v.says)
		}
		if strings.Join(want, "") == "" {
			continue // it would make an executor
		}
		_, err := executor.New(cfg)
		if err == nil {
			t.Fatalf("%+v is accepted", cfg)
		}
		for i, says := range want {
			if says != "" && !strings.Contains(err.Error(), says) ||
				says == "" && strings.Contains(err.Error(), names[i]) {
				t.Fatalf("%+v: want %q of the field that %q names, got %v", cfg, says, names[i], err)
			}
		}
	}
}

func faults(err error) []error { return err.(interface{ Unwrap() []error }).Unwrap() }

// TestText: the enumerations of Config have names, which flags and JSON take.
func TestText(t *testing.T) {
	checkText(t, "executor", "Callers", executor.BriefCallers, executor.AutoCallers, "[auto idle brief busy]")
	checkText(t, "host", "Class", host.ClassIdle, host.ClassNormal, "[normal batch idle]")
}

func checkText[E interface {
	~uint8
	fmt.Stringer
	encoding.TextMarshaler
}, P interface {
	*E
	encoding.TextUnmarshaler
}](t *testing.T, pkg, typ string, some, zero E, all string) {
	t.Helper()
	var names []string
	for e := E(0); ; e++ {
		text, err := e.MarshalText()
		if err != nil {
			require.EqualError(t, err, fmt.Sprintf("%s: %s is %d: use one of %s", pkg, typ, uint8(e), all))
			require.Equal(t, fmt.Sprintf("%s(%d)", typ, uint8(e)), e.String())
			break
		}
		require.Equal(t, e.String(), string(text))
		parsed := ^E(0)
		require.NoError(t, P(&parsed).UnmarshalText(text))
		require.Equal(t, e, parsed)
		names = append(names, e.String())
	}
	require.Equal(t, all, fmt.Sprint(names))

	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	var set E
	flags.TextVar(P(&set), "value", some, "")
	require.Equal(t, some, set)
	require.NoError(t, flags.Parse([]string{"-value", zero.String()}))
	require.Equal(t, zero, set)

	read := some
	require.NoError(t, json.Unmarshal([]byte(`""`), &read))
	require.Equal(t, zero, read, "the empty name is the zero value")
	err := json.Unmarshal([]byte(`"Brief "`), &read)
	require.EqualError(t, err, fmt.Sprintf(`%s: %s is "Brief ": use one of %s`, pkg, typ, all))
	require.Equal(t, zero, read)
}

// Without a number there are as many workers as the process has Ps of its own, not counting those that other executors
// added.
func TestDefaultWorkers(t *testing.T) {
	own := procs.Base() // GOMAXPROCS has Ps of the default executor, which other tests make and none closes
	require.Equal(t, own, newExecutor(t, executor.Config{}).Workers())
	newExecutor(t, executor.Config{Workers: 3})
	require.Equal(t, own, newExecutor(t, executor.Config{}).Workers())
}

// GOMAXPROCS rises by a third of the number of workers, rounded up, and where nobody looks how long workers are awake,
// by their number besides.
func TestReservedPs(t *testing.T) {
	defer executor.SetLongStint(time.Hour)()
	own := runtime.GOMAXPROCS(0)
	three, err := executor.New(executor.Config{Workers: 3, Threads: host.Threads{OnlyBlocking: true}})
	require.NoError(t, err)
	require.Equal(t, own+4, runtime.GOMAXPROCS(0))
	two, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	require.Equal(t, own+5, runtime.GOMAXPROCS(0))
	none, err := executor.New(executor.Config{Workers: 4, Spares: -1})
	require.NoError(t, err)
	require.Equal(t, own+11, runtime.GOMAXPROCS(0))
	require.NoError(t, none.Close())
	keep, err := executor.New(executor.Config{Workers: 4, Host: host.Options{KeepGOMAXPROCS: true}})
	require.NoError(t, err)
	require.Equal(t, own+5, runtime.GOMAXPROCS(0))

	require.NoError(t, three.Close())
	require.Equal(t, own+1, runtime.GOMAXPROCS(0), "the other's Ps stay")
	require.NoError(t, three.Close())
	require.Equal(t, own+1, runtime.GOMAXPROCS(0), "a second Close gives nothing back")
	require.NoError(t, keep.Close())
	require.Equal(t, own+1, runtime.GOMAXPROCS(0))
	require.NoError(t, two.Close())
	require.Equal(t, own, runtime.GOMAXPROCS(0))
}
