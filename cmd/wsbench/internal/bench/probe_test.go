package bench

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
)

// small has sizes of the probes that suffice to run every line, not to measure.
var small = map[string]int{
	"call": 50, "call-idle": 3, "few-idle": 3, "submit": 50, "submit-idle": 3, "idle": 20, "sleeper": 20, "awake": 20,
	"rerun": 1000, "memory": 200000,
}

// measureProbes measures every probe once for all tests.
var measureProbes = func() func(t *testing.T) []Result {
	var once sync.Once
	var results []Result
	var err error
	return func(t *testing.T) []Result {
		once.Do(func() {
			for _, p := range Probes() {
				s := &Session{
					Probes: []*Probe{p},
					Axes: Axes{
						Policies: []string{"adaptive"},
						Deques:   []string{"chaselev"}, Forks: bothForks, Workers: []int{2},
					},
					N:    small[p.Name],
					Reps: 1,
					Emit: func(r []Result) error {
						results = append(results, r...)
						return nil
					},
				}
				if err = s.Run(context.Background()); err != nil {
					return
				}
			}
		})
		require.NoError(t, err)
		return results
	}
}()

func TestProbes(t *testing.T) {
	figures := make(map[string]map[string]float64)
	for _, r := range measureProbes(t) {
		require.True(t, r.Verified)
		require.Equal(t, small[r.Workload], r.N)
		figures[r.Workload] = make(map[string]float64)
		for _, m := range r.Metrics {
			figures[r.Workload][m.Name] = m.Value
		}
	}
	require.Len(t, figures, len(Probes()))
	for _, name := range []string{"call", "call-idle", "few-idle", "submit", "submit-idle"} {
		require.Positive(t, figures[name]["p50-ns"])
		require.GreaterOrEqual(t, figures[name]["p99-ns"], figures[name]["p50-ns"])
	}
	latency := figures["submit-idle"]
	require.InEpsilon(t, latency["p50-ns"]/latency["bare-p50-ns"], latency["vs-bare"], 1e-9)
	wakeups := figures["idle"]["wakeups"]
	testkit.Fits(t, func() (wrong string) {
		if wakeups == 0 {
			return ""
		}
		// Workers without a core may have gone to sleep late.
		wrong = fmt.Sprintf("%v wake-ups", wakeups)
		setting := Setting{"magpie", "adaptive", "chaselev", "private", 2, nil, false}
		again, err := idle.measure(t.Context(), setting, small["idle"])
		require.NoError(t, err)
		for _, m := range again.Metrics {
			if m.Name == "wakeups" {
				wakeups = m.Value
			}
		}
		return wrong
	})
	require.Contains(t, figures["idle"], "cpu-ns")
	require.Contains(t, figures["sleeper"], "cpu-percent")
	if runtime.GOOS == "linux" {
		require.Contains(t, figures["idle"], "worker-cpu-ns")
		require.Contains(t, figures["idle"], "worker-switches")
	}
	// These figures are counted, not timed. The race detector allocates too, hence some slack.
	require.Less(t, figures["rerun"]["allocs/op"], 100.0)
	require.InDelta(t, 48, figures["memory"]["B/task"], 32)
	require.InDelta(t, 4, figures["memory"]["B/edge"], 4)
}

// TestProbeInterleaving: settings take turns, each with an executor of its own.
func TestProbeInterleaving(t *testing.T) {
	var workers []int
	p := &Probe{Name: "p", Default: 1}
	p.Measure = func(_ context.Context, ex *executor.Executor, n int) ([]Metric, error) {
		workers = append(workers, ex.Workers())
		return []Metric{{"p50-ns", float64(n)}}, nil
	}
	var results []Result
	s := &Session{
		Probes: []*Probe{p},
		Axes: Axes{
			Policies: []string{"adaptive", "adaptive-published"},
			Deques:   []string{"chaselev"}, Forks: bothForks, Workers: []int{1, 3},
		},
		Reps: 2,
		Emit: func(r []Result) error {
			results = r
			return nil
		},
	}
	require.NoError(t, s.Run(context.Background()))
	require.Equal(t, []int{1, 3, 1, 3, 1, 3, 1, 3}, workers)
	require.Len(t, results, 8)
	require.Equal(t, 1, results[0].N)
	require.Equal(t, "adaptive-published", results[7].Policy)
	require.Equal(t, 2, results[7].Rep)
}

// TestProbeSettles: a probe is repeated until what it measures first is not loose, whatever its other figures are.
func TestProbeSettles(t *testing.T) {
	first := []float64{100, 150, 100, 100, 100, 100, 100}
	measured := 0
	p := &Probe{Name: "p", Default: 1}
	p.Measure = func(context.Context, *executor.Executor, int) ([]Metric, error) {
		measured++
		return []Metric{{"p50-ns", first[measured-1]}, {"p99-ns", float64(measured)}}, nil
	}
	s := &Session{
		Probes: []*Probe{p},
		Axes: Axes{
			Policies: []string{"adaptive"}, Deques: []string{"chaselev"}, Forks: bothForks, Workers: []int{1},
		},
		Reps: 3, Settle: time.Hour,
		Emit: func(results []Result) error {
			require.Len(t, results, 7)
			return nil
		},
	}
	require.NoError(t, s.Run(context.Background()))
	require.Equal(t, 7, measured)
}

// TestWrongProbe: a task that did not run as often as it was submitted is a wrong answer.
func TestWrongProbe(t *testing.T) {
	o := newOneTask()
	o.runs = 1
	p := &Probe{Name: "p", Default: 1}
	p.Measure = func(_ context.Context, ex *executor.Executor, n int) ([]Metric, error) {
		_, err := o.submit(ex)
		require.NoError(t, err)
		return []Metric{{"p50-ns", 1}}, o.ran(1)
	}
	s := &Session{
		Probes: []*Probe{p},
		Axes: Axes{
			Policies: []string{"adaptive"},
			Deques:   []string{"chaselev"}, Forks: bothForks, Workers: []int{1},
		},
		Reps: 1,
		Emit: func([]Result) error { t.Error("emitted"); return nil },
	}
	var wrong *WrongAnswer
	err := s.Run(context.Background())
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, "the task ran 2 times in 1 submissions")
}

// TestProbesStop: a probe that waits ends with its context.
func TestProbesStop(t *testing.T) {
	for _, p := range []*Probe{submitIdle, idle, sleeper} {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		s := Setting{"magpie", "adaptive", "chaselev", "private", 1, nil, false}
		_, err := p.measure(ctx, s, 1<<20) // a quarter of an hour, and for submit-idle more
		require.ErrorIs(t, err, context.DeadlineExceeded, p.Name)
		cancel()
	}
}

func TestQuantile(t *testing.T) {
	times := []time.Duration{5, 1, 4, 2, 3}
	for q, want := range map[float64]float64{0: 1, 0.2: 1, 0.21: 2, 0.5: 3, 0.99: 5, 1: 5} {
		require.Equal(t, want, quantile(times, q), "q=%v", q)
	}
	require.Equal(t, 7.0, quantile([]time.Duration{7}, 0.5))
}

// TestUsedSince counts a worker's thread that has something to do, and no other thread.
func TestUsedSince(t *testing.T) {
	if runtime.GOOS != "linux" {
		require.Empty(t, workerThreads())
		return
	}
	ex, err := executorFor(Setting{"magpie", "adaptive", "chaselev", "private", 2, nil, false})
	require.NoError(t, err)
	before := workerThreads()
	require.Len(t, before, 2)
	o := newOneTask()
	for range 1000 {
		require.NoError(t, ex.Start(t.Context(), o.graph).Wait()) // no Run: its caller would take part
	}
	used := usedSince(before)
	require.Positive(t, used.cpu)
	require.NoError(t, ex.Close())
	require.Empty(t, workerThreads())
}

func TestBareThread(t *testing.T) {
	b := newBareThread()
	for range 100 {
		require.Positive(t, b.roundTrip())
	}
	b.close()
}
