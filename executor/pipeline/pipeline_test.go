package pipeline_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/internal/fixture"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

var errTest = errors.New("the test's own error")

func newExecutor(t testing.TB, workers int) *executor.Executor {
	t.Helper()
	ex, err := fixture.New(t, fixture.Beside(t, executor.Config{Workers: workers}))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ex.Close()) })
	return ex
}

// A course is a pipeline that checks itself: which tokens are where, and in what order they come.
type course struct {
	t      *testing.T
	tokens int
	serial []bool
	inside atomic.Int32
	most   int
	stages []courseStage
	passed []atomic.Int32 // stages, by token
}

type courseStage struct {
	busy atomic.Int32
	next int // plain: in a serial stage one comes after the other
}

func newCourse(t *testing.T, lines, tokens int, serial []bool) (*course, *pipeline.Pipeline) {
	c := &course{t: t, tokens: tokens, serial: serial, most: lines, stages: make([]courseStage, len(serial)),
		passed: make([]atomic.Int32, tokens)}
	stages := make([]pipeline.Stage, len(serial))
	for i := range stages {
		stages[i].Run = func(t *pipeline.Token) error { return c.pass(i, t) }
		if serial[i] {
			stages[i].Mode = pipeline.Serial
		}
	}
	p, err := pipeline.New("course", lines, stages...)
	require.NoError(t, err)
	return c, p
}

func (c *course) pass(stage int, t *pipeline.Token) error {
	s := &c.stages[stage]
	if c.serial[stage] {
		if s.busy.Add(1) != 1 {
			return fmt.Errorf("two tokens in serial stage %d", stage)
		}
		defer s.busy.Add(-1)
		if t.Number() != s.next {
			return fmt.Errorf("token %d comes to stage %d in place of %d", t.Number(), stage, s.next)
		}
		s.next++
	}
	if stage == 0 {
		if t.Number() == c.tokens {
			t.Stop()
			return nil
		}
		if n := c.inside.Add(1); int(n) > c.most {
			return fmt.Errorf("%d tokens on %d lines", n, c.most)
		}
	}
	if n := c.passed[t.Number()].Add(1); int(n) != stage+1 {
		return fmt.Errorf("token %d comes to stage %d after %d stages", t.Number(), stage, n-1)
	}
	if t.Number()%7 == stage {
		runtime.Gosched()
	}
	if stage == len(c.serial)-1 {
		c.inside.Add(-1)
	}
	return nil
}

func (c *course) check() {
	for i := range c.passed {
		require.EqualValues(c.t, len(c.serial), c.passed[i].Load(), "token %d", i)
	}
	require.Zero(c.t, c.inside.Load())
}

// TestPipelines: every token goes through every stage once and in order; serial stages take one at a time, in the order
// of entering; no more tokens are inside than there are lines.
func TestPipelines(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for _, workers := range []int{1, 2, 4} {
		ex := newExecutor(t, workers)
		for range testkit.Scale(150) {
			serial := make([]bool, 1+rng.IntN(5))
			for i := range serial {
				serial[i] = i == 0 || rng.IntN(2) == 0
			}
			lines, tokens := 1+rng.IntN(6), rng.IntN(60)
			testkit.Within(t, testkit.Patience, func() {
				c, p := newCourse(t, lines, tokens, serial)
				require.NoError(t, ex.Run(t.Context(), p), "%d lines, %d tokens, serial %v", lines, tokens, serial)
				c.check()
			})
		}
	}
}

// One pipeline runs again and again, and several times at once.
func TestRuns(t *testing.T) {
	ex := newExecutor(t, 4)
	var sum atomic.Int64
	p, err := pipeline.New("sum", 3,
		pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
			if t.Number() == 100 {
				t.Stop()
			}
			return nil
		}},
		pipeline.Stage{Run: func(t *pipeline.Token) error { sum.Add(int64(t.Number())); return nil }})
	require.NoError(t, err)
	require.Equal(t, "sum", p.Name())
	testkit.Within(t, testkit.Patience, func() {
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				for range 20 {
					if err := ex.Run(t.Context(), p); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
	require.EqualValues(t, 5*20*4950, sum.Load())
	// From a task.
	require.NoError(t, ex.Run(t.Context(), executor.NewJob("task", func(*executor.Scope) error {
		return ex.Run(t.Context(), p)
	})))
}

func TestFailures(t *testing.T) {
	guests.None(t)
	for _, workers := range []int{1, 2} {
		ex := newExecutor(t, workers)
		for name, fail := range map[string]func(cancel context.CancelCauseFunc) error{
			"error":  func(context.CancelCauseFunc) error { return errTest },
			"panic":  func(context.CancelCauseFunc) error { panic(errTest) },
			"goexit": func(context.CancelCauseFunc) error { runtime.Goexit(); return nil },
			"cancel": func(cancel context.CancelCauseFunc) error { cancel(errTest); return nil },
		} {
			for at := range 3 {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				stages := []pipeline.Stage{{Mode: pipeline.Serial}, {Mode: pipeline.Parallel}, {Mode: pipeline.Serial}}
				for i := range stages {
					stages[i].Run = func(t *pipeline.Token) error {
						if i == at && t.Number() == 20 {
							err := fail(cancel)
							for t.Context().Err() == nil && name == "cancel" {
								runtime.Gosched()
							}
							return err
						}
						return nil
					}
				}
				p, err := pipeline.New("endless", 4, stages...)
				require.NoError(t, err)
				testkit.Within(t, testkit.Patience, func() {
					err = ex.Run(ctx, p)
					var failed *pipeline.StageError
					switch name {
					case "goexit":
						require.ErrorIs(t, err, executor.ErrGoexit)
					case "cancel":
						require.ErrorIs(t, err, errTest)
						require.False(t, errors.As(err, &failed))
						return
					default:
						require.ErrorIs(t, err, errTest)
					}
					require.ErrorAs(t, err, &failed)
					require.Equal(t, []int{at, 20}, []int{failed.Stage, failed.Token})
					require.Contains(t, err.Error(), fmt.Sprintf(`pipeline "endless": stage %d, token 20: `, at))
				})
			}
		}
	}
}

// The error of a stage tells the run too, if that has another name than the pipeline.
func TestStageErrorOfNamedRun(t *testing.T) {
	ex := newExecutor(t, 1)
	p, err := pipeline.New("pages", 1, pipeline.Stage{Name: "fetch", Mode: pipeline.Serial, Run: func(
		*pipeline.Token,
	) error {
		return errTest
	}})
	require.NoError(t, err)
	plain := `pipeline "pages": stage 0 (fetch), token 0: ` + errTest.Error()
	for name, want := range map[string]string{"": plain, "pages": plain, "nightly": `run of "nightly": ` + plain} {
		err := ex.Run(t.Context(), executor.With(p, executor.RunOptions{Name: name}))
		require.EqualError(t, err, want)
		var failed *pipeline.StageError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, cmp.Or(name, "pages"), failed.Run)
		require.Equal(t, "pages", failed.Pipeline)
	}
	require.EqualError(t, &pipeline.StageError{Pipeline: "p", Err: errTest},
		`pipeline "p": stage 0, token 0: `+errTest.Error())
}

// TestTooManyLines: a number of lines that no memory has room for is an error of whatever makes the pipeline.
func TestTooManyLines(t *testing.T) {
	stop := func(t *pipeline.Token) (int, error) { t.Stop(); return 0, nil }
	sink := func(*pipeline.Token, int) error { return nil }
	ex := newExecutor(t, 1)
	for name, build := range map[string]func(lines int) (*pipeline.Pipeline, error){
		"New": func(lines int) (*pipeline.Pipeline, error) {
			return pipeline.New("p", lines, pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
				_, err := stop(t)
				return err
			}})
		},
		"Source": func(lines int) (*pipeline.Pipeline, error) {
			return pipeline.Sink(pipeline.Source("p", lines, stop), pipeline.Serial, sink)
		},
		"SourceSeq": func(lines int) (*pipeline.Pipeline, error) {
			return pipeline.Sink(pipeline.SourceSeq("p", lines, slices.Values([]int{1})), pipeline.Serial, sink)
		},
		"SourceChan": func(lines int) (*pipeline.Pipeline, error) {
			c := make(chan int)
			close(c)
			return pipeline.Sink(pipeline.SourceChan("p", lines, c), pipeline.Serial, sink)
		},
		"Collect": func(lines int) (*pipeline.Pipeline, error) {
			_, err := pipeline.Collect(t.Context(), ex, pipeline.Source("p", lines, stop))
			return nil, err
		},
	} {
		for _, lines := range []int{1<<16 + 1, 1 << 30, math.MaxInt} {
			p, err := build(lines)
			require.Nil(t, p, name)
			require.EqualError(t, err, fmt.Sprintf(
				`pipeline "p": %d lines: give at most 65536, better one or two for each worker`, lines), name)
		}
		p, err := build(1 << 16)
		require.NoError(t, err, name)
		if p != nil {
			require.NoError(t, ex.Run(t.Context(), p), name)
		}
	}
}

func TestMistakes(t *testing.T) {
	fine := pipeline.Stage{Mode: pipeline.Serial, Run: func(*pipeline.Token) error { return nil }}
	for want, make := range map[string]func() (*pipeline.Pipeline, error){
		"0 lines":   func() (*pipeline.Pipeline, error) { return pipeline.New("p", 0, fine) },
		"no stages": func() (*pipeline.Pipeline, error) { return pipeline.New("p", 1) },
		"the first stage is parallel": func() (*pipeline.Pipeline, error) {
			return pipeline.New("p", 1, pipeline.Stage{Run: fine.Run}, fine)
		},
		"stage 1 has no function": func() (*pipeline.Pipeline, error) {
			return pipeline.New("p", 1, fine, pipeline.Stage{})
		},
	} {
		p, err := make()
		require.Nil(t, p)
		require.ErrorContains(t, err, want)
		require.Equal(t, 1, strings.Count(err.Error(), `pipeline "p"`))
	}
	ex := newExecutor(t, 1)
	p, err := pipeline.New("p", 2, fine, pipeline.Stage{Run: func(t *pipeline.Token) error { t.Stop(); return nil }})
	require.NoError(t, err)
	require.ErrorContains(t, ex.Run(t.Context(), p), "only the first stage says")
}
