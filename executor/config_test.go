package executor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

func TestBadConfig(t *testing.T) {
	firstUnknown := executor.Policy(len(executor.Policies()))
	for _, c := range []struct {
		cfg  executor.Config
		says string
	}{
		{executor.Config{Workers: -1}, "Config.Workers is -1"},
		{executor.Config{Workers: executor.MaxWorkers + 1}, "Config.Workers is 4097"},
		{executor.Config{Nice: -1}, "Config.Nice is -1"},
		{executor.Config{Nice: 20}, "Config.Nice is 20"},
		{executor.Config{Class: 3}, "Config.Class is 3: use one of [normal batch idle]"},
		{executor.Config{Slice: -1}, "Config.Slice is -1ns: give 100µs to 100ms, or 0"},
		{executor.Config{Slice: 99 * time.Microsecond}, "Config.Slice is 99µs"},
		{executor.Config{Slice: 101 * time.Millisecond}, "Config.Slice is 101ms"},
		{executor.Config{Slice: time.Millisecond, Class: executor.ClassIdle},
			"Config.Slice is 1ms, but threads of idle have no slice of their own"},
		{executor.Config{CPUs: []int{}}, "Config.CPUs is empty"},
		{executor.Config{CPUs: []int{-1}, BestEffort: true}, "Config.CPUs has [-1]: there are no such CPUs"},
		{executor.Config{CPUs: []int{1 << 30}, BestEffort: true}, "Config.CPUs has [1073741824]"},
		{executor.Config{Pin: 2}, "Config.Pin is 2: use one of [none one-each]"},
		{executor.Config{HostShare: -0.1}, "Config.HostShare is -0.1"},
		{executor.Config{HostShare: 1}, "Config.HostShare is 1: give a part of the CPU quota above 0 and below 1"},
		{executor.Config{HostShare: math.NaN()}, "Config.HostShare is NaN"},
		{executor.Config{Policy: firstUnknown}, fmt.Sprint("Config.Policy is ", uint8(firstUnknown))},
		{executor.Config{Policy: 255}, "Config.Policy is 255"},
		{executor.Config{Forks: 2}, "Config.Forks is 2: use one of [private pushed]"},
		{executor.Config{Workers: 1 << 30, Deque: deque.KindPDQS}, "Config.Workers is 1073741824"},
		{executor.Config{Workers: 2, Spares: 1 << 30, Deque: deque.KindPDQS}, "Config.Spares is 1073741824"},
		{executor.Config{Capacity: -1},
			"Config with Deque chaselev: Capacity is -1: choose 1 to 16777216 for chaselev, or 0 for the default"},
		{executor.Config{Deque: deque.KindPadWS, Capacity: -1, BlockSize: -2},
			"Config with Deque padws: Capacity is -1: choose 1 to 16777216 for padws, or 0 for the default; " +
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
	_, err := executor.New(executor.Config{Workers: -7, Nice: 99, Policy: 99, Name: "fine", KeepGOMAXPROCS: true})
	require.Len(t, faults(err), 3)
	require.ErrorContains(t, err, "Config.Workers is -7")
	require.ErrorContains(t, err, "Config.Nice is 99")
	require.ErrorContains(t, err, "Config.Policy is 99")

	_, err = executor.New(executor.Config{Nice: 20, Class: 9, Slice: 1, CPUs: []int{}, Pin: 9, BestEffort: true})
	require.Len(t, faults(err), 5)

	_, err = executor.New(executor.Config{Steal: deque.Half, BlockSize: 5})
	require.Len(t, faults(err), 2)
	_, err = executor.New(executor.Config{Steal: 9, BlockSize: 5})
	require.Len(t, faults(err), 2)
	require.ErrorContains(t, err, "Config.Steal is 9")
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
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Nice = 20 }, "Config.Nice is 20"}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Policy = 99 }, "Config.Policy is 99"}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Deque = deque.KindPadWS }, ""},
			{func(c *executor.Config) { c.Deque = deque.KindPDQS }, ""},
			{func(c *executor.Config) { c.Deque = 99 }, "Config.Deque is 99"}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Forks = executor.PushedForks }, ""},
			{func(c *executor.Config) { c.Forks = 9 }, "Config.Forks is 9"}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Capacity = -1 }, "Capacity is -1"},
			{func(c *executor.Config) { c.Capacity = math.MaxInt }, "Capacity is "}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.BlockSize = -2 }, "BlockSize is -2"},
			{func(c *executor.Config) { c.BlockSize = math.MaxInt }, "BlockSize is "}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Steal = 9 }, "Config.Steal is 9"}},
		{{func(c *executor.Config) {}, ""}, {func(c *executor.Config) { c.Verbatim = true }, ""}},
	}
	names := []string{"Config.Workers is", "Config.Spares is", "Config.Nice is", "Config.Policy is", "Config.Deque is",
		"Config.Forks is", "Capacity is", "BlockSize is", "Config.Steal is", "Verbatim"}
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

func TestPolicyNames(t *testing.T) {
	require.Subset(t, executor.Policies(), []executor.Policy{executor.Adaptive, executor.AdaptivePublished})
	require.Equal(t, executor.Adaptive, executor.Config{}.Policy, "the zero value is a good executor")
	for _, p := range executor.Policies() {
		parsed, err := executor.ParsePolicy(p.String())
		require.NoError(t, err)
		require.Equal(t, p, parsed)
	}
	require.Equal(t, "adaptive", executor.Adaptive.String())
	require.Equal(t, "adaptive-published", executor.AdaptivePublished.String())
	require.Equal(t, "[adaptive adaptive-published abp mbws mbws-role bws-same bws-clock bws-pull wsgi taskflow]",
		fmt.Sprint(executor.Policies()))
	require.Equal(t, "Policy(77)", executor.Policy(77).String())
	for _, bad := range []string{"", "Adaptive", "adaptive ", "Policy(0)"} {
		_, err := executor.ParsePolicy(bad)
		for _, p := range executor.Policies() {
			require.ErrorContains(t, err, p.String(), "the message says what there is")
		}
	}
}

func TestYieldsNames(t *testing.T) {
	require.Equal(t, "[each never delayed selective]", fmt.Sprint(executor.AllYields()))
	require.Equal(t, "Yields(7)", executor.Yields(7).String())
	for _, y := range executor.AllYields() {
		parsed, err := executor.ParseYields(y.String())
		require.NoError(t, err)
		require.Equal(t, y, parsed)
	}
	_, err := executor.ParseYields("often")
	require.EqualError(t, err, `executor: no way to yield "often": use one of [each never delayed selective]`)
}

func TestClassNames(t *testing.T) {
	want := []executor.Class{executor.ClassNormal, executor.ClassBatch, executor.ClassIdle}
	require.Equal(t, want, executor.Classes())
	require.Equal(t, executor.ClassNormal, executor.Config{}.Class, "the zero value changes nothing")
	for _, c := range executor.Classes() {
		parsed, err := executor.ParseClass(c.String())
		require.NoError(t, err)
		require.Equal(t, c, parsed)
	}
	require.Equal(t, "[normal batch idle]", fmt.Sprint(executor.Classes()))
	require.Equal(t, "Class(7)", executor.Class(7).String())
	_, err := executor.ParseClass("realtime")
	require.EqualError(t, err, `executor: no class "realtime": use one of [normal batch idle]`)
}

func TestPinNames(t *testing.T) {
	require.Equal(t, []executor.Pin{executor.PinNone, executor.PinOneEach}, executor.Pins())
	require.Equal(t, executor.PinNone, executor.Config{}.Pin, "the zero value changes nothing")
	for _, p := range executor.Pins() {
		parsed, err := executor.ParsePin(p.String())
		require.NoError(t, err)
		require.Equal(t, p, parsed)
	}
	require.Equal(t, "[none one-each]", fmt.Sprint(executor.Pins()))
	require.Equal(t, "Pin(7)", executor.Pin(7).String())
	_, err := executor.ParsePin("all")
	require.EqualError(t, err, `executor: no way to pin "all": use one of [none one-each]`)
}

func TestForksNames(t *testing.T) {
	require.Equal(t, []executor.Forks{executor.PrivateForks, executor.PushedForks}, executor.AllForks())
	require.Equal(t, executor.PrivateForks, executor.Config{}.Forks, "the zero value is a good executor")
	for _, f := range executor.AllForks() {
		parsed, err := executor.ParseForks(f.String())
		require.NoError(t, err)
		require.Equal(t, f, parsed)
	}
	require.Equal(t, "private", executor.PrivateForks.String())
	require.Equal(t, "pushed", executor.PushedForks.String())
	require.Equal(t, "Forks(7)", executor.Forks(7).String())
	_, err := executor.ParseForks("split")
	require.EqualError(t, err, `executor: no way to fork "split": use one of [private pushed]`)
}

// Without a number there are as many workers as the process has Ps of its own, not counting those that other executors
// added.
func TestDefaultWorkers(t *testing.T) {
	own := runtime.GOMAXPROCS(0)
	require.Equal(t, own, newExecutor(t, executor.Config{}).Workers())
	newExecutor(t, executor.Config{Workers: 3})
	require.Equal(t, own, newExecutor(t, executor.Config{}).Workers())
}

// GOMAXPROCS rises by the number of workers and a third of it, rounded up.
func TestReservedPs(t *testing.T) {
	own := runtime.GOMAXPROCS(0)
	three, err := executor.New(executor.Config{Workers: 3})
	require.NoError(t, err)
	require.Equal(t, own+4, runtime.GOMAXPROCS(0))
	two, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	require.Equal(t, own+7, runtime.GOMAXPROCS(0))
	keep, err := executor.New(executor.Config{Workers: 4, KeepGOMAXPROCS: true})
	require.NoError(t, err)
	require.Equal(t, own+7, runtime.GOMAXPROCS(0))

	require.NoError(t, three.Close())
	require.Equal(t, own+3, runtime.GOMAXPROCS(0), "the other's Ps stay")
	require.NoError(t, three.Close())
	require.Equal(t, own+3, runtime.GOMAXPROCS(0), "a second Close gives nothing back")
	require.NoError(t, keep.Close())
	require.Equal(t, own+3, runtime.GOMAXPROCS(0))
	require.NoError(t, two.Close())
	require.Equal(t, own, runtime.GOMAXPROCS(0))
}
