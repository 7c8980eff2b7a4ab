package bench

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/internal/plan"
)

// session returns a session that runs chain on the engines, and the results that it emits.
func session(engines ...*Engine) (*Session, *[]Result) {
	results := new([]Result)
	return &Session{
		Workloads: []*workloads.Workload{chain},
		Engines:   engines,
		Axes: Axes{
			Policies: []string{"adaptive"}, Deques: []string{"chaselev"}, Forks: bothForks, Workers: []int{1},
		},
		N:    10,
		Reps: 3,
		Seed: 5,
		Emit: func(r []Result) error {
			*results = append(*results, r...)
			return nil
		},
	}, results
}

// TestInterleaving also checks, in the fakes, that two runners are never started at once.
func TestInterleaving(t *testing.T) {
	a, b, log := fakes()
	s, results := session(a.engine(), b.engine())
	s.Axes.Workers = []int{1, 2}
	require.NoError(t, s.Run(context.Background()))
	round := []string{"a1", "a2", "b1", "b2"}
	var want []string
	for range 1 + 1 + 3 { // the order check, the warm-up, the repetitions
		want = append(want, round...)
	}
	require.Equal(t, want, *log)
	require.Len(t, *results, 12)
	for i, r := range *results {
		require.Equal(t, i/4+1, r.Rep)
		require.Equal(t, round[i%4][:1], r.Engine)
		require.Equal(t, "chain", r.Workload)
		require.Equal(t, 10, r.N)
		require.Equal(t, 10, r.Tasks)
		require.Equal(t, 9, r.Edges)
		require.EqualValues(t, 5, r.Seed)
		require.True(t, r.Verified)
		require.Positive(t, r.BuildNS)
		require.InDelta(t, float64(r.WallNS)/10, r.NSPerTask, 1e-6)
	}
}

// TestWrongAnswer breaks one engine in one of its runs: nothing of that workload is emitted.
func TestWrongAnswer(t *testing.T) {
	leaveOut := func(bad, task int) func(int, *plan.Plan) (int, int) {
		return func(run int, _ *plan.Plan) (int, int) {
			if run == bad {
				return task, 0
			}
			return -1, 0
		}
	}
	miscount := func(bad, by int) func(int, *plan.Plan) (int, int) {
		return func(run int, _ *plan.Plan) (int, int) {
			if run == bad {
				return -1, by
			}
			return -1, 0
		}
	}
	tests := []struct {
		name  string
		wrong func(int, *plan.Plan) (int, int)
		want  string
	}{
		{"a task left out in the order check", leaveOut(0, 7), "task 7 ran 0 times"},
		{"a task left out in the warm-up", leaveOut(1, 7), "the counter is 9 after 10 tasks"},
		{"a task left out in the last repetition", leaveOut(4, 0), "the counter is 9 after 10 tasks"},
		{"a task too few counted", miscount(2, -1), "9 tasks ran, the graph has 10"},
		{"a task too many counted", miscount(3, 1), "11 tasks ran, the graph has 10"},
	}
	for _, tt := range tests {
		a, b, _ := fakes()
		b.wrong = tt.wrong
		s, results := session(a.engine(), b.engine())
		err := s.Run(context.Background())
		var wrong *WrongAnswer
		require.ErrorAs(t, err, &wrong, tt.name)
		require.ErrorContains(t, err, tt.want, tt.name)
		require.Equal(t, Setting{"b", None, None, None, 1, nil, false}, wrong.Setting, tt.name)
		require.Empty(t, *results, tt.name)
	}
}

// TestWrongOrder has an engine that runs all tasks, and counts correctly, in a wrong order.
func TestWrongOrder(t *testing.T) {
	a, _, _ := fakes()
	e := a.engine()
	e.Open = func(s Setting, t Target) (Runner, error) { return &backwards{plan: t.Plan}, nil }
	s, results := session(e)
	s.Workloads = []*workloads.Workload{btree}
	var wrong *WrongAnswer
	err := s.Run(context.Background())
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, "before its predecessor")
	require.Empty(t, *results)
}

// backwards runs the tasks from the last to the first.
type backwards struct {
	plan *plan.Plan
	ran  uint64
}

func (b *backwards) Start() error { return nil }

func (b *backwards) Run(ctx context.Context) error {
	for i := b.plan.Len() - 1; i >= 0; i-- {
		b.ran++
		if err := b.plan.Funcs[i](ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *backwards) Counts() Counts { return Counts{Tasks: b.ran} }
func (b *backwards) Stop() error    { return nil }

// TestCancelled ends the context in the middle: results that were complete have been emitted, the others are not.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	a, _, _ := fakes()
	a.wrong = func(run int, _ *plan.Plan) (int, int) {
		if run == 5+3 { // in the second workload
			cancel()
		}
		return -1, 0
	}
	s, results := session(a.engine())
	s.Workloads = []*workloads.Workload{chain, btree, fan}
	require.ErrorIs(t, s.Run(ctx), context.Canceled)
	require.Len(t, *results, 3)
	require.Equal(t, "chain", (*results)[2].Workload)
}

// TestCancelledBefore: if the context has ended before the session, nothing is measured.
func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, results := session(Engines()...)
	s.Probes = Probes()
	require.ErrorIs(t, s.Run(ctx), context.Canceled)
	s.Workloads = nil
	require.ErrorIs(t, s.Run(ctx), context.Canceled)
	require.Empty(t, *results)
}

func TestEmitError(t *testing.T) {
	full := errors.New("disk full")
	a, _, log := fakes()
	s, _ := session(a.engine())
	s.Workloads = []*workloads.Workload{chain, btree}
	s.Emit = func([]Result) error { return full }
	require.ErrorIs(t, s.Run(context.Background()), full)
	require.Len(t, *log, 5) // and nothing more is measured
}

// TestStep: what takes long is announced with the time to its end.
func TestStep(t *testing.T) {
	a, _, _ := fakes()
	s, _ := session(a.engine())
	var said []string
	var expected []time.Duration
	s.Step = func(what string, expect time.Duration) {
		said, expected = append(said, what), append(expected, expect)
	}
	require.NoError(t, s.Run(context.Background()))
	require.Equal(t, []string{
		"building chain", "checking chain on a, 1 worker",
		"building chain", "building chain", "building chain",
		"warming up chain on a, 1 worker",
	}, said)
	require.Equal(t, guess(10), expected[0])
	require.Equal(t, 4*guess(10), expected[5])
}

func TestBadSessions(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Session)
		want   []string
	}{
		{"negative size", func(s *Session) { s.N = -1 }, []string{"size must be at least 1"}},
		{"no repetition", func(s *Session) { s.Reps = 0 }, []string{"repetitions must be at least 1"}},
		{"no time", func(s *Session) { s.Settle = -1 }, []string{"the time to settle must be at least 0, not -1ns"}},
		{"no worker", func(s *Session) { s.Axes.Workers = []int{2, 0} }, []string{"workers must be 1 to 4096, not 0"}},
		{"many workers", func(s *Session) { s.Axes.Workers = []int{4097} },
			[]string{"workers must be 1 to 4096, not 4097"}},
		{"policy", func(s *Session) { s.Axes.Policies = []string{"x"} },
			[]string{`no policy "x"`, "adaptive, adaptive-published"}},
		{"deque", func(s *Session) { s.Axes.Deques = []string{"x"} }, []string{`no deque "x"`, "chaselev"}},
		{"forks", func(s *Session) { s.Axes.Forks = []string{"x"} }, []string{`no way to fork "x"`, "private, pushed"}},
		{"too many tasks", func(s *Session) { s.N = 1 << 30 }, []string{"at most 536870911 together fit a graph"}},
		{"too large", func(s *Session) { s.Workloads, s.N = []*workloads.Workload{matmul}, 50_000_000 },
			[]string{"matmul with n=50000000 needs about 55879367.9 GiB, and ", " GiB are available"}},
		{"a probe too large",
			func(s *Session) { s.Workloads, s.Probes, s.N = nil, []*Probe{idle, submit}, math.MaxInt },
			[]string{"submit with n=", " needs about ", " GiB are available"}},
		{"a probe of too many tasks", func(s *Session) { s.Workloads, s.Probes, s.N = nil, []*Probe{memory}, 1<<27 },
			[]string{"memory with n=134217728 has 134217728 tasks and 1073741824 edges, at most 536870911 together"}},
		{"the last is too large", func(s *Session) { s.Workloads, s.N = []*workloads.Workload{chain, matmul}, 1_000_000 },
			[]string{"matmul"}},
	}
	for _, tt := range tests {
		a, _, log := fakes()
		s, results := session(a.engine())
		tt.change(s)
		err := s.Run(context.Background())
		var bad *input.Error
		require.ErrorAs(t, err, &bad, tt.name)
		for _, want := range tt.want {
			require.ErrorContains(t, err, want, tt.name)
		}
		require.Empty(t, *log, tt.name)
		require.Empty(t, *results, tt.name)
	}
}

func TestFits(t *testing.T) {
	shape := workloads.Shape{Tasks: 1e6, Edges: 2e6, Data: 5}
	need := shape.Bytes()
	require.NoError(t, fits("x", 1, shape, need, need))
	require.EqualError(t, fits("x", 1, shape, 3<<30, 2<<30),
		"x with n=1 needs about 3.0 GiB, and 2.0 GiB are available: choose a smaller n")
	require.NoError(t, fits("x", 1, workloads.Shape{Tasks: plan.Max}, 0, 1))
	require.ErrorContains(t, fits("x", 1, workloads.Shape{Tasks: plan.Max, Edges: 1}, 0, 1), "together fit a graph")
}

// TestEnginesCountForMemory: an engine that needs memory for each ready task adds to the estimate.
func TestEnginesCountForMemory(t *testing.T) {
	a, _, log := fakes()
	e := a.engine()
	var width float64
	e.Bytes = func(w float64) float64 {
		width = w
		return 1e30
	}
	s, _ := session(e)
	s.Workloads = []*workloads.Workload{fan}
	var bad *input.Error
	require.ErrorAs(t, s.Run(context.Background()), &bad)
	require.Equal(t, 10.0, width)
	require.Empty(t, *log)
	require.EqualValues(t, 100*goroutineBytes, Engines()[2].Bytes(100))
	require.EqualValues(t, goroutinesAlive*goroutineBytes, Engines()[2].Bytes(1e9))
}
