package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// count is a source of the numbers below n.
func count(n int) func(*pipeline.Token) (int, error) {
	return func(t *pipeline.Token) (int, error) {
		if t.Number() == n {
			t.Stop()
		}
		return t.Number(), nil
	}
}

func double(_ *pipeline.Token, v int) (int, error) { return 2 * v, nil }

// TestFlows: flows of random stages and sources make what a loop makes, in the same order.
func TestFlows(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for _, workers := range []int{0, 1, 2, 4} {
		ex := executor.NewInline(rng.Uint64())
		if workers > 0 {
			ex = newExecutor(t, workers)
		}
		for range testkit.Scale(100) {
			n, lines := rng.IntN(100), rng.IntN(6)
			var f pipeline.Flow[int]
			switch rng.IntN(3) {
			case 0:
				f = pipeline.Source("f", lines, count(n))
			case 1:
				f = pipeline.SourceSeq("f", lines, slices.Values(numbers(n)))
			default:
				c := make(chan int, rng.IntN(3))
				go func() {
					defer close(c)
					for i := range n {
						c <- i
					}
				}()
				f = pipeline.SourceChan("f", lines, c)
			}
			want := numbers(n)
			for range rng.IntN(4) {
				mode := pipeline.Mode(rng.IntN(2))
				if rng.IntN(2) == 0 { // through another type
					text := pipeline.Map(f, mode, func(_ *pipeline.Token, v int) (string, error) {
						return strconv.Itoa(v), nil
					}).Named("print")
					f = pipeline.Map(text, pipeline.Parallel, func(_ *pipeline.Token, s string) (int, error) {
						return strconv.Atoi(s)
					}).MaxTokens(1 + rng.IntN(2))
				} else {
					f = pipeline.Map(f, mode, double)
					for i := range want {
						want[i] *= 2
					}
				}
			}
			testkit.Within(t, testkit.Patience, func() {
				got, err := pipeline.Collect(t.Context(), ex, f)
				require.NoError(t, err)
				require.Equal(t, want, append([]int{}, got...))
			})
		}
	}
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// One flow is the beginning of several pipelines, which run again and again, several times at once.
func TestFlowIsConstant(t *testing.T) {
	ex := newExecutor(t, 4)
	base := pipeline.Map(pipeline.Source("f", 3, count(50)), pipeline.Parallel, double)
	named := base.Named("other").MaxTokens(1)
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, f := range []pipeline.Flow[int]{
		base, named, pipeline.Map(base, pipeline.Serial, double),
		pipeline.Map(base, pipeline.Parallel, double).MaxTokens(2),
	} {
		p, err := pipeline.Sink(f, pipeline.Serial, func(t *pipeline.Token, v int) error {
			if v != 2*t.Number() && v != 4*t.Number() {
				return errTest
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, "f", p.Name())
		for range 3 {
			wg.Go(func() {
				for range 10 {
					if err := ex.Run(context.Background(), p); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// TestEach: every value comes to the sink, in order if the mode says so, and a failure or a mistake is the error.
func TestEach(t *testing.T) {
	ex := newExecutor(t, 2)
	for _, mode := range []pipeline.Mode{pipeline.Parallel, pipeline.Serial} {
		var mu sync.Mutex
		var got []int
		f := pipeline.Map(pipeline.Source("f", 3, count(50)), pipeline.Parallel, double)
		require.NoError(t, pipeline.Each(t.Context(), ex, f, mode, func(_ *pipeline.Token, v int) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, v/2)
			return nil
		}))
		if mode == pipeline.Parallel {
			slices.Sort(got)
		}
		require.Equal(t, numbers(50), got)
	}
	fail := func(*pipeline.Token, int) error { return errTest }
	require.ErrorIs(t, pipeline.Each(t.Context(), ex, pipeline.Source("f", 1, count(3)), pipeline.Serial, fail), errTest)
	wrong := pipeline.Source("f", -1, count(3))
	require.ErrorContains(t, pipeline.Each(t.Context(), ex, wrong, pipeline.Serial, fail), "-1 lines")
	require.PanicsWithValue(t, "pipeline: Each needs a context, got nil", func() {
		_ = pipeline.Each(nil, ex, wrong, pipeline.Serial, fail) //nolint:staticcheck // what it is about
	})
}

// TestFlowDefer: the source is called once for each token, and its value waits with the token.
func TestFlowDefer(t *testing.T) {
	ex := newExecutor(t, 2)
	calls := 0
	f := pipeline.Source("f", 3, func(t *pipeline.Token) (string, error) {
		calls++
		n := t.Number()
		if n == 9 {
			t.Stop()
		} else if n%3 == 0 {
			t.Defer(n+1, n+2)
		}
		return fmt.Sprint("v", n), nil
	})
	got, err := pipeline.Collect(t.Context(), ex, f)
	require.NoError(t, err)
	require.Equal(t, []string{"v1", "v2", "v0", "v4", "v5", "v3", "v7", "v8", "v6"}, got)
	require.Equal(t, 10, calls)
}

// TestFlowFailures: an error says in which stage and for which token, and Collect returns what came through before.
func TestFlowFailures(t *testing.T) {
	ex := newExecutor(t, 2)
	f := pipeline.Map(pipeline.Source("f", 4, count(100)), pipeline.Parallel, func(t *pipeline.Token, v int) (int, error) {
		if v == 30 {
			return 0, errTest
		}
		return v, nil
	}).Named("check")
	got, err := pipeline.Collect(t.Context(), ex, f)
	require.EqualError(t, err, `pipeline "f": stage 1 (check), token 30: the test's own error`)
	require.LessOrEqual(t, len(got), 30)
	require.Equal(t, numbers(len(got)), append([]int{}, got...))

	// In a graph's task the graph and the task are told too.
	g := graph.New("nightly")
	g.Task(func(ctx context.Context) error { _, err := pipeline.Collect(ctx, ex, f); return err }).Named("encode")
	require.EqualError(t, ex.Run(t.Context(), g),
		`graph "nightly": task encode: pipeline "f": stage 1 (check), token 30: the test's own error`)

	// A panic is one line, and %+v adds the stack.
	p, err := pipeline.Sink(pipeline.Source("f", 2, count(3)), pipeline.Parallel, func(*pipeline.Token, int) error {
		panic("boom")
	})
	require.NoError(t, err)
	err = executor.NewInline(1).Run(t.Context(), p)
	require.EqualError(t, err, `pipeline "f": stage 1, token 0: panic: boom`)
	require.Contains(t, fmt.Sprintf("%+v", err), "flow_test.go")
}

// TestSeq: a sequence is told of the end of the run, its panics and Goexits fail the run, and the run waits for it.
func TestSeq(t *testing.T) {
	guests.None(t)
	for _, workers := range []int{0, 1, 4} {
		ex := executor.NewInline(7)
		if workers > 0 {
			ex = newExecutor(t, workers)
		}
		returned := false // plain: the run waits
		endless := func(yield func(int) bool) {
			defer func() { returned = true }()
			for i := 0; ; i++ {
				if !yield(i) {
					time.Sleep(time.Millisecond)
					return
				}
			}
		}
		for name, c := range map[string]struct {
			seq   iter.Seq[int]
			stage func(*pipeline.Token, int) (int, error)
			want  string
		}{
			"stage fails": {endless, func(t *pipeline.Token, v int) (int, error) {
				if v == 20 {
					return 0, errTest
				}
				return v, nil
			}, `pipeline "s": stage 1, token 20: the test's own error`},
			"panic": {func(yield func(int) bool) {
				defer func() { returned = true }()
				for i := range 5 {
					yield(i)
				}
				panic("boom")
			}, double, `pipeline "s": stage 0, token 5: panic: boom`},
			"goexit": {func(func(int) bool) {
				returned = true
				runtime.Goexit()
			}, double, `pipeline "s": stage 0, token 0: ` + executor.ErrGoexit.Error()},
		} {
			t.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(t *testing.T) {
				testkit.Within(t, testkit.Patience, func() {
					returned = false
					f := pipeline.Map(pipeline.SourceSeq("s", 3, c.seq), pipeline.Parallel, c.stage)
					_, err := pipeline.Collect(t.Context(), ex, f)
					require.EqualError(t, err, c.want)
					require.True(t, returned)
				})
			})
		}
		t.Run(fmt.Sprintf("cancelled/workers=%d", workers), func(t *testing.T) {
			testkit.Within(t, testkit.Patience, func() {
				returned = false
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				f := pipeline.Map(pipeline.SourceSeq("s", 3, endless), pipeline.Parallel,
					func(t *pipeline.Token, v int) (int, error) {
						if v == 10 {
							cancel(errTest)
						}
						return v, nil
					})
				_, err := pipeline.Collect(ctx, ex, f)
				require.ErrorIs(t, err, errTest)
				require.True(t, returned)
			})
		})
	}
}

// TestChanEndsWithTheContext: a source that waits for a channel ends when the run does.
func TestChanEndsWithTheContext(t *testing.T) {
	ex := newExecutor(t, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	c := make(chan int, 1)
	c <- 1
	f := pipeline.Map(pipeline.SourceChan("c", 2, c), pipeline.Parallel, func(_ *pipeline.Token, v int) (int, error) {
		time.AfterFunc(time.Millisecond, func() { cancel(errTest) })
		return v, nil
	})
	testkit.Within(t, testkit.Patience, func() {
		_, err := pipeline.Collect(ctx, ex, f)
		require.ErrorIs(t, err, errTest)
		var failed *pipeline.StageError
		require.False(t, errors.As(err, &failed), "the end of the context is no failure of the stage")
	})
}

// TestFlowAllocations: tokens cost no allocation.
func TestFlowAllocations(t *testing.T) {
	ex := newExecutor(t, 1)
	allocations := func(tokens int) float64 {
		f := pipeline.Map(pipeline.Source("f", 4, count(tokens)), pipeline.Parallel, double)
		g := pipeline.Map(f, pipeline.Parallel, func(_ *pipeline.Token, v int) ([4]int, error) { return [4]int{v}, nil })
		p, err := pipeline.Sink(g.MaxTokens(2), pipeline.Serial, func(*pipeline.Token, [4]int) error { return nil })
		require.NoError(t, err)
		return testing.AllocsPerRun(5, func() { require.NoError(t, ex.Run(t.Context(), p)) })
	}
	testkit.Fits(t, func() string { // others in the process allocate a little, too
		if few, many := allocations(10), allocations(1_000); math.Abs(many-few) > 20 {
			return fmt.Sprintf("%v allocations for 10 tokens, %v for 1,000", few, many)
		}
		return ""
	})
}

// TestFlowForgets: a run keeps no value that its next stage has been called with.
func TestFlowForgets(t *testing.T) {
	ex := newExecutor(t, 1)
	type big [1 << 10]byte
	var last weak.Pointer[big]
	f := pipeline.Source("f", 1, func(t *pipeline.Token) (*big, error) {
		if t.Number() == 2 {
			t.Stop()
			return nil, nil
		}
		b := new(big)
		if t.Number() == 0 {
			last = weak.Make(b)
		}
		return b, nil
	})
	p, err := pipeline.Sink(pipeline.Map(f, pipeline.Serial, func(t *pipeline.Token, b *big) (int, error) {
		return int(b[0]), nil
	}), pipeline.Serial, func(t *pipeline.Token, _ int) error {
		if t.Number() == 0 {
			runtime.GC()
			if last.Value() != nil {
				return errTest
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, ex.Run(t.Context(), p))
}

// TestFlowMistakes: what is wrong with a flow is told by Sink, all of it, or at the call.
func TestFlowMistakes(t *testing.T) {
	f := pipeline.Source[int]("f", -1, nil)
	g := pipeline.Map[int, int](f, pipeline.Serial, nil).MaxTokens(3).Named("g")
	_, err := pipeline.Sink(g, pipeline.Parallel, nil)
	for _, want := range []string{
		`pipeline "f": -1 lines`, "stage 0 has no function", "stage 1 (g) has no function",
		"stage 1 (g) is serial and has MaxTokens", "stage 2 has no function",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = pipeline.Collect(t.Context(), newExecutor(t, 1), g)
	require.ErrorContains(t, err, "-1 lines")
	for want, f := range map[string]pipeline.Flow[int]{
		`pipeline "f": stage 0 has no function`:     pipeline.Source[int]("f", 0, nil),
		`pipeline "s": SourceSeq of a nil sequence`: pipeline.SourceSeq[int]("s", 0, nil),
		`pipeline "c": SourceChan of a nil channel`: pipeline.SourceChan[int]("c", 0, nil),
		`pipeline "n": SourceChan of a nil channel`: pipeline.SourceChan[int]("n", 0, nil).Named("read"),
		"pipeline \"l\": SourceSeq of a nil sequence\npipeline \"l\": stage 1 has no function": pipeline.Map[int, int](
			pipeline.SourceSeq[int]("l", 0, nil), pipeline.Parallel, nil),
	} {
		_, err := pipeline.Collect(t.Context(), newExecutor(t, 1), f)
		require.EqualError(t, err, want)
	}

	var none pipeline.Flow[int]
	for method, call := range map[string]func(){
		"Map":       func() { pipeline.Map(none, pipeline.Serial, double) },
		"Sink":      func() { _, _ = pipeline.Sink(none, pipeline.Serial, func(*pipeline.Token, int) error { return nil }) },
		"Collect":   func() { _, _ = pipeline.Collect(t.Context(), nil, none) },
		"Named":     func() { none.Named("n") },
		"MaxTokens": func() { none.MaxTokens(1) },
	} {
		require.PanicsWithValue(t, "pipeline: "+method+" of a Flow that was not made by Source", call)
	}
}

// TestObservedFlow: observers are told the names of stages, also of those in which tokens are put aside.
func TestObservedFlow(t *testing.T) {
	var mu sync.Mutex
	told := map[string]int{}
	ex, err := executor.New(executor.Config{Workers: 2, Observers: []*executor.Observer{{
		TaskBegin: func(e *executor.Event) {
			run, task := e.Run, e.Task
			mu.Lock()
			defer mu.Unlock()
			told[fmt.Sprintf("%s/%d %s", run.Name(), task.Index, task.Name)]++
		},
	}}})
	require.NoError(t, err)
	f := pipeline.Source("f", 3, count(20)).Named("read")
	_, err = pipeline.Collect(t.Context(), ex, pipeline.Map(f, pipeline.Parallel, double).Named("narrow").MaxTokens(1))
	require.NoError(t, err)
	require.NoError(t, ex.Close())
	require.Equal(t, map[string]int{"f/0 read": 21, "f/1 narrow": 20, "f/2 ": 20}, told)
}
