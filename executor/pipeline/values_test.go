package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/internal/testkit"
)

// The events that end a journey of values early, at one of them.
const (
	bodyLeaves   = "body leaves"
	bodyPanics   = "body panics"
	bodyExits    = "body exits"
	bodyCancels  = "body cancels"
	stageFails   = "stage fails"
	stagePanics  = "stage panics"
	sourceFails  = "source fails"
	sourcePanics = "source panics"
	sourceExits  = "source exits"
)

var valueEvents = []string{
	"", bodyLeaves, bodyPanics, bodyExits, bodyCancels, stageFails, stagePanics, sourceFails, sourcePanics, sourceExits,
}

// A valueJourney is one range over the values of a Flow, with the event at one of them.
type valueJourney struct {
	n, lines, ahead, at int
	event               string

	made, running atomic.Int64 // values of the source; stages that run
	taken         atomic.Int64 // by the loop
	bound         int64        // how far made may be ahead of taken; 0 if it is not known
	tooMany       atomic.Bool
	returned      atomic.Bool // the source
	got           []int
	err           error
}

// source makes the values, each the double of its place.
func (j *valueJourney) source(yield func(int, error) bool) {
	defer j.returned.Store(true)
	for i := range j.n {
		if i == j.at {
			switch j.event {
			case sourceFails:
				yield(0, errTest)
				return
			case sourcePanics:
				panic("source")
			case sourceExits:
				runtime.Goexit()
			}
		}
		if j.made.Add(1)-j.taken.Load() > j.bound && j.bound > 0 {
			j.tooMany.Store(true)
		}
		if !yield(i, nil) {
			return
		}
	}
}

func (j *valueJourney) stage(_ *pipeline.Token, v int) (int, error) {
	j.running.Add(1)
	defer j.running.Add(-1)
	if v == j.at {
		switch j.event {
		case stageFails:
			return 0, errTest
		case stagePanics:
			panic("stage")
		}
	}
	return 2 * v, nil
}

// run ranges over the values.
func (j *valueJourney) run(ctx context.Context, ex *executor.Executor, mode pipeline.Mode) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := pipeline.SourceSeq2("v", j.lines, j.source).MaxAhead(j.ahead)
	for v, err := range pipeline.Values(ctx, ex, pipeline.Map(f, mode, j.stage)) {
		if err != nil {
			j.err = err
			continue // there is no other pair
		}
		j.got = append(j.got, v)
		j.taken.Add(1)
		if v == 2*j.at {
			switch j.event {
			case bodyLeaves:
				return
			case bodyPanics:
				panic("body")
			case bodyExits:
				runtime.Goexit()
			case bodyCancels:
				cancel(errTest)
			}
		}
	}
}

// check is called when the range statement has been left.
func (j *valueJourney) check(t *testing.T, about string) {
	require.True(t, j.made.Load() == 0 || j.returned.Load(), about)
	require.Zero(t, j.running.Load(), about)
	require.False(t, j.tooMany.Load(), about)
	for i, v := range j.got {
		require.Equal(t, 2*i, v, about)
	}
	happens := j.event != "" && j.at < j.n
	switch {
	case !happens:
		require.NoError(t, j.err, about)
		require.Len(t, j.got, j.n, about)
	case j.event == bodyLeaves || j.event == bodyPanics || j.event == bodyExits:
		require.NoError(t, j.err, about)
		require.Len(t, j.got, j.at+1, about)
	case j.event == bodyCancels:
		require.GreaterOrEqual(t, len(j.got), j.at+1, about)
		if len(j.got) < j.n {
			require.ErrorIs(t, j.err, errTest, about)
		}
	default:
		require.LessOrEqual(t, len(j.got), j.at, about)
		var failed *pipeline.StageError
		require.ErrorAs(t, j.err, &failed, about)
		require.Equal(t, j.at, failed.Token, about)
		var panicked *executor.PanicError
		switch j.event {
		case sourceFails, stageFails:
			require.ErrorIs(t, j.err, errTest, about)
		case sourceExits:
			require.ErrorIs(t, j.err, executor.ErrGoexit, about)
		default:
			require.ErrorAs(t, j.err, &panicked, about)
		}
	}
}

// The places where a loop is run. leave calls f, which may panic or call Goexit.
var valuePlaces = map[string]func(ex, other *executor.Executor, f func(context.Context, *executor.Executor)){
	"outside": func(ex, _ *executor.Executor, f func(context.Context, *executor.Executor)) {
		apart(func() { f(context.Background(), ex) })
	},
	"in a task": func(ex, _ *executor.Executor, f func(context.Context, *executor.Executor)) {
		apart(func() {
			_ = ex.Run(context.Background(), executor.NewJob("loop", func(s *executor.Scope) error {
				f(s.Context(), nil)
				return nil
			}))
		})
	},
	"in a task of another": func(ex, other *executor.Executor, f func(context.Context, *executor.Executor)) {
		apart(func() {
			_ = other.Run(context.Background(), executor.NewJob("loop", func(s *executor.Scope) error {
				f(s.Context(), ex)
				return nil
			}))
		})
	},
}

// apart calls f on another goroutine, and returns when f has, or has panicked or called Goexit.
func apart(f func()) {
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() { _ = recover() }()
		f()
	})
	wg.Wait()
}

// Values are those of the source, in order, wherever the loop is and however it ends. When it has ended, so has all
// else.
func TestValuesAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	other := newExecutor(t, 1)
	alone, err := executor.New(executor.Config{Workers: 1, Spares: -1})
	require.NoError(t, err)
	defer alone.Close()
	executors := map[string]*executor.Executor{
		"one": newExecutor(t, 1), "two": newExecutor(t, 2), "four": newExecutor(t, 4), "no spares": alone,
		"inline": executor.NewInline(rng.Uint64()),
	}
	for range testkit.Scale(400) {
		for name, ex := range executors {
			for place, in := range valuePlaces {
				j := &valueJourney{
					n: rng.IntN(40), lines: rng.IntN(5), ahead: rng.IntN(4), at: rng.IntN(40),
					event: valueEvents[rng.IntN(len(valueEvents))],
				}
				if j.lines > 0 {
					// Besides, the loop and a free line may be between two values.
					j.bound = int64(j.lines+max(j.ahead, 1)) + 1
					if j.ahead == 0 {
						j.bound += int64(2*j.lines) - 1
					}
				}
				mode := []pipeline.Mode{pipeline.Parallel, pipeline.Serial}[rng.IntN(2)]
				testkit.Within(t, testkit.Patience, func() {
					in(ex, other, func(ctx context.Context, ex *executor.Executor) { j.run(ctx, ex, mode) })
				})
				j.check(t, fmt.Sprintf("%s, %s: %d values, %d lines, %d ahead, %s at %d",
					name, place, j.n, j.lines, j.ahead, j.event, j.at))
			}
		}
	}
}

// The values of every kind of source can be ranged over, several times, also at the same time.
func TestValuesOfEverySource(t *testing.T) {
	ex := newExecutor(t, 2)
	c := make(chan int, 100)
	for i := range 100 {
		c <- i
	}
	close(c)
	want := numbers(100)
	for name, f := range map[string]pipeline.Flow[int]{
		"Source":     pipeline.Source("s", 0, count(100)),
		"SourceSeq":  pipeline.SourceSeq("s", 0, slices.Values(want)),
		"SourceChan": pipeline.SourceChan("s", 0, c),
	} {
		values := pipeline.Values(t.Context(), ex, f)
		require.Equal(t, want, gathered(t, values), name)
		if name == "SourceChan" {
			continue // its values are gone
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { require.Equal(t, want, gathered(t, values), name) })
		}
		wg.Wait()
		chained := pipeline.SourceSeq2("again", 0, values)
		require.Equal(t, want, gathered(t, pipeline.Values(t.Context(), ex, chained)), name)
	}
}

func gathered(t *testing.T, values iter.Seq2[int, error]) (all []int) {
	for v, err := range values {
		require.NoError(t, err)
		all = append(all, v)
	}
	return all
}

// A loop may range over values in the body of another, and be left from there.
func TestValuesNested(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ex := newExecutor(t, workers)
		inner := pipeline.SourceSeq("inner", 2, slices.Values(numbers(10)))
		sum := 0
		err := ex.Run(t.Context(), executor.NewJob("loops", func(s *executor.Scope) error {
			for a, err := range pipeline.Values(s.Context(), nil, pipeline.SourceSeq("outer", 2, slices.Values(numbers(10)))) {
				if err != nil {
					return err
				}
				for b, err := range pipeline.Values(s.Context(), nil, inner) {
					if err != nil {
						return err
					}
					if sum += a * b; a == 5 && b == 5 {
						return nil
					}
				}
			}
			return errTest
		}))
		require.NoError(t, err)
		require.Equal(t, 10*45+25+5*10, sum)
	}
}

// The error of a run that does not begin, and of a wrong Flow, is that of the only pair.
func TestValuesOfNoRun(t *testing.T) {
	closed := newExecutor(t, 1)
	require.NoError(t, closed.Close())
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errTest)
	f := pipeline.SourceSeq("f", 0, slices.Values(numbers(3)))
	only := func(values iter.Seq2[int, error]) (err error) {
		pairs := 0
		for _, e := range values {
			err = e
			pairs++
		}
		require.Equal(t, 1, pairs)
		return err
	}
	require.ErrorIs(t, only(pipeline.Values(t.Context(), closed, f)), executor.ErrClosed)
	require.ErrorIs(t, only(pipeline.Values(ended, nil, f)), errTest)
	for want, f := range map[string]pipeline.Flow[int]{
		`pipeline "s": SourceSeq2 of a nil sequence`:                  pipeline.SourceSeq2[int]("s", 0, nil),
		`pipeline "f": MaxAhead of -1: use 0 for the default`:         f.MaxAhead(-1),
		`pipeline "f": MaxAhead of 65537: at most 65536 are possible`: f.MaxAhead(1<<16 + 1),
		`pipeline "c": MaxAhead of a source that is no sequence`:      pipeline.Source("c", 0, count(3)).MaxAhead(1),
	} {
		require.EqualError(t, only(pipeline.Values(t.Context(), nil, f)), want)
	}
	require.PanicsWithValue(t, "pipeline: Values needs a context, got nil", func() {
		pipeline.Values(nil, nil, f) //nolint:staticcheck // the mistake
	})
	var none pipeline.Flow[int]
	require.PanicsWithValue(t, "pipeline: Values of a Flow that was not made by Source", func() {
		pipeline.Values(t.Context(), nil, none)
	})
}

// A value that the loop has taken is free when its body is done with it, and so are all after a loop that was left.
func TestValuesForget(t *testing.T) {
	ex := newExecutor(t, 2)
	type big [1 << 10]byte
	var made []weak.Pointer[big]
	f := pipeline.SourceSeq("f", 2, func(yield func(*big) bool) {
		for range 20 {
			b := new(big)
			made = append(made, weak.Make(b))
			if !yield(b) {
				return
			}
		}
	})
	taken := 0
	for b, err := range pipeline.Values(t.Context(), ex, f) {
		require.NoError(t, err)
		if taken += len(b) >> 10; taken == 10 {
			break
		}
	}
	testkit.Until(t, "no value is kept", func() bool {
		runtime.GC()
		return !slices.ContainsFunc(made, func(p weak.Pointer[big]) bool { return p.Value() != nil })
	})
}

// In a bubble, an inline executor runs a loop whose source sleeps.
func TestValuesInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := executor.NewInline(1)
		require.Equal(t, numbers(10), gathered(t, pipeline.Values(t.Context(), ex,
			pipeline.SourceSeq("f", 2, slices.Values(numbers(10))))))
		require.NoError(t, ex.Close())
	})
}

// MaxAhead bounds what a sequence has made and no token has: the first stage is held up, and the source is not asked.
func TestMaxAhead(t *testing.T) {
	ex := newExecutor(t, 2)
	for _, c := range []struct{ lines, ahead, want int }{{1, 1, 1}, {3, 1, 1}, {2, 5, 5}, {1, 0, 2}, {3, 0, 6}} {
		var made atomic.Int64
		f := pipeline.SourceSeq("f", c.lines, func(yield func(int) bool) {
			for i := range 1000 {
				made.Add(1)
				if !yield(i) {
					return
				}
			}
		}).MaxAhead(c.ahead)
		for _, err := range pipeline.Values(t.Context(), ex, f) {
			require.NoError(t, err)
			// The loop has one value, and each line another.
			all := int64(1 + c.lines + c.want)
			testkit.Until(t, "the source is asked", func() bool { return made.Load() >= all })
			runtime.Gosched()
			require.Equal(t, all, made.Load(), "%+v", c)
			break
		}
	}
}

// Values as a source needs room for its own run. Where MaxRuns leaves none, it waits, and the context ends that.
func TestValuesNeedRoom(t *testing.T) {
	for _, most := range []int{1, 2} {
		ex, err := executor.New(executor.Config{Workers: 2, MaxRuns: most})
		require.NoError(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		inner := pipeline.Values(ctx, ex, pipeline.SourceSeq("inner", 0, slices.Values([]int{1, 2, 3})))
		if most == 1 {
			go func() {
				testkit.Until(t, "the inner run waits for room", func() bool { return ex.Stats().Gauges.Entering == 1 })
				cancel(errTest)
			}()
		}
		testkit.Within(t, testkit.Patience, func() {
			got, err := pipeline.Collect(ctx, ex, pipeline.SourceSeq2("outer", 0, inner))
			if most == 1 {
				require.ErrorIs(t, err, errTest)
				return
			}
			require.NoError(t, err)
			require.Equal(t, []int{1, 2, 3}, got)
		})
		cancel(nil)
		require.NoError(t, ex.Close())
	}
}

// What SourceSeq2 is given after an error is not asked for.
func TestSourceSeq2(t *testing.T) {
	ex := newExecutor(t, 1)
	asked := 0
	got, err := pipeline.Collect(t.Context(), ex, pipeline.SourceSeq2("f", 1, func(yield func(int, error) bool) {
		for i := range 5 {
			var err error
			if i == 3 {
				err = errTest
			}
			asked++
			if !yield(i, err) {
				return
			}
		}
	}))
	require.EqualError(t, err, `pipeline "f": stage 0, token 3: `+errTest.Error())
	require.True(t, errors.Is(err, errTest))
	require.Equal(t, 4, asked)
	require.LessOrEqual(t, len(got), 3)
	require.Equal(t, numbers(len(got)), append([]int{}, got...))
}
