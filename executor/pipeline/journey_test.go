package pipeline_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// A journey is a pipeline of random stages with limits, whose tokens defer themselves as a plan says. It checks each
// call against a sequential model.
type journey struct {
	stages []pipeline.Stage
	plan   [][][]int // by token, then call of the first stage: the tokens to wait for
	order  []int     // the model's: in which the tokens pass the first stage
	end    error     // the model's: nil, errCircle or errVain

	calls   []int          // by token: of the first stage
	entered int            // in the first stage
	inside  []atomic.Int32 // by stage
	most    []atomic.Int32 // by stage
	passed  []int          // by stage, if serial
	stage   []atomic.Int32 // by token: stages that it has come through
}

var (
	errCircle = errors.New("tokens wait for each other")
	errVain   = errors.New("a token waits for one that does not come")
)

func newJourney(rng *rand.Rand) *journey {
	j := &journey{stages: make([]pipeline.Stage, 1+rng.IntN(5)), plan: make([][][]int, rng.IntN(40))}
	for i := range j.stages {
		if i == 0 || rng.IntN(3) == 0 {
			j.stages[i].Mode = pipeline.Serial
		} else if rng.IntN(2) == 0 {
			j.stages[i].MaxTokens = 1 + rng.IntN(3)
		}
		j.stages[i].Run = func(t *pipeline.Token) error { return j.pass(i, t) }
	}
	often, reach := 2+rng.IntN(20), 1+rng.IntN(6)
	for n := range j.plan {
		for rng.IntN(often) == 0 {
			var on []int
			for range 1 + rng.IntN(3) {
				on = append(on, max(0, n-reach+rng.IntN(2*reach+1)))
			}
			j.plan[n] = append(j.plan[n], on)
		}
	}
	j.model()
	j.calls = make([]int, len(j.plan)+1)
	j.stage = make([]atomic.Int32, len(j.plan)+1)
	j.inside, j.most = make([]atomic.Int32, len(j.stages)), make([]atomic.Int32, len(j.stages))
	j.passed = make([]int, len(j.stages))
	return j
}

// model finds out what is to come.
func (j *journey) model() {
	calls := make([]int, len(j.plan))
	waits := make(map[int][]int) // by token that is put aside
	var aside, ready []int       // in order
	for next := 0; ; {
		n := next
		switch {
		case len(ready) > 0:
			n, ready = ready[0], ready[1:]
		case next < len(j.plan):
			next++
		case len(aside) > 0:
			j.end = errVain
			return
		default:
			return
		}
		if k := calls[n]; k < len(j.plan[n]) {
			calls[n]++
			on := slices.DeleteFunc(slices.Clone(j.plan[n][k]), func(m int) bool { return slices.Contains(j.order, m) })
			if len(on) > 0 {
				waits[n] = on
				aside = append(aside, n)
				if reaches(waits, on, n, len(j.plan)*2) {
					j.end = errCircle
					return
				}
				continue
			}
		}
		j.order = append(j.order, n)
		aside = slices.DeleteFunc(aside, func(m int) bool {
			waits[m] = slices.DeleteFunc(waits[m], func(k int) bool { return k == n })
			if len(waits[m]) == 0 {
				ready = append(ready, m)
				delete(waits, m)
				return true
			}
			return false
		})
	}
}

func reaches(waits map[int][]int, from []int, to, steps int) bool {
	return slices.ContainsFunc(from, func(n int) bool {
		return n == to || steps > 0 && reaches(waits, waits[n], to, steps-1)
	})
}

func (j *journey) pass(stage int, t *pipeline.Token) error {
	n := t.Number()
	now := j.inside[stage].Add(1)
	defer j.inside[stage].Add(-1)
	serial := j.stages[stage].Mode == pipeline.Serial
	if limit := int32(j.stages[stage].MaxTokens); limit > 0 && now > limit || serial && now > 1 {
		return fmt.Errorf("%d tokens in stage %d", now, stage)
	}
	j.most[stage].Store(max(j.most[stage].Load(), now))
	if stage == 0 {
		if n == len(j.plan) {
			t.Stop()
			return nil
		}
		if t.Deferrals() > j.calls[n] {
			return fmt.Errorf("token %d was deferred %d times after %d calls", n, t.Deferrals(), j.calls[n])
		}
		if k := j.calls[n]; k < len(j.plan[n]) {
			j.calls[n]++
			if t.Defer(j.plan[n][k]...) {
				return nil
			}
		}
	}
	if serial {
		if want := j.order[j.passed[stage]]; n != want {
			return fmt.Errorf("token %d comes to stage %d in place of %d", n, stage, want)
		}
		j.passed[stage]++
	}
	if got := j.stage[n].Add(1); int(got) != stage+1 {
		return fmt.Errorf("token %d comes to stage %d after %d stages", n, stage, got-1)
	}
	if n%5 == stage {
		runtime.Gosched()
	}
	return nil
}

func (j *journey) check(t *testing.T, err error) {
	var failed *pipeline.DeferError
	if j.end == nil {
		require.NoError(t, err)
		require.Equal(t, len(j.plan), len(j.order))
		for n := range j.plan {
			require.EqualValues(t, len(j.stages), j.stage[n].Load(), "token %d", n)
		}
		return
	}
	require.ErrorAs(t, err, &failed)
	require.Equal(t, errors.Is(j.end, errCircle), failed.Circle)
	require.Equal(t, len(j.order), j.passed[0])
	path := failed.Path
	if failed.Circle {
		path = append(slices.Clone(path), path[0])
	} else {
		last := path[len(path)-1]
		require.GreaterOrEqual(t, last, len(j.plan))
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(path))), len(path), "no token twice in %v", path)
	}
	for i, n := range path[:len(path)-1] {
		require.Contains(t, j.plan[n][j.calls[n]-1], path[i+1], "%v", path)
		require.NotContains(t, j.order, n)
	}
}

// TestJourneys: random stages, limits and deferrals, against a sequential model.
func TestJourneys(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	ends := map[error]int{}
	try := func(ex *executor.Executor) {
		j := newJourney(rng)
		p, err := pipeline.New("journey", 1+rng.IntN(6), j.stages...)
		require.NoError(t, err)
		testkit.Within(t, testkit.Patience, func() { err = ex.Run(t.Context(), p) })
		j.check(t, err)
		ends[j.end]++
	}
	for _, workers := range []int{0, 1, 2, 4} {
		ex := executor.NewInline(rng.Uint64())
		if workers > 0 {
			ex = newExecutor(t, workers)
		}
		for range testkit.Scale(400) {
			try(ex)
		}
	}
	inline := executor.NewInline(rng.Uint64())
	for _, end := range []error{nil, errCircle, errVain} {
		for n := 0; ends[end] == 0; n++ { // few tries may not have come to each
			require.Less(t, n, 10_000, "%v never happens", end)
			try(inline)
		}
	}
}

// TestLimit: a stage takes as many tokens at a time as its limit says, and no fewer.
func TestLimit(t *testing.T) {
	const workers, limit, tokens = 4, 2, 50
	ex := newExecutor(t, workers)
	var inside, most atomic.Int32
	meet := make(chan struct{}) // the first two tokens meet in the stage, so it takes two
	p, err := pipeline.New("limited", 8,
		pipeline.Stage{Mode: pipeline.Serial, Run: until(tokens)},
		pipeline.Stage{Name: "narrow", MaxTokens: limit, Run: func(t *pipeline.Token) error {
			now := inside.Add(1)
			defer inside.Add(-1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			switch t.Number() {
			case 0:
				executor.Blocking(func() { meet <- struct{}{} })
			case 1:
				executor.Blocking(func() { <-meet })
			}
			return nil
		}})
	require.NoError(t, err)
	testkit.Within(t, testkit.Patience, func() { require.NoError(t, ex.Run(t.Context(), p)) })
	require.EqualValues(t, limit, most.Load())
}

// A token that fails in a full stage gives its place to the next, so the run ends.
func TestLimitAndFailures(t *testing.T) {
	guests.None(t)
	for name, fail := range map[string]func() error{
		"error":  func() error { return errTest },
		"panic":  func() error { panic(errTest) },
		"goexit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, 4)
			for at := range 10 {
				p, err := pipeline.New("limited", 8,
					pipeline.Stage{Mode: pipeline.Serial, Run: until(100)},
					pipeline.Stage{Name: "narrow", MaxTokens: 1, Run: func(t *pipeline.Token) error {
						runtime.Gosched()
						if t.Number() == at {
							return fail()
						}
						return nil
					}})
				require.NoError(t, err)
				testkit.Within(t, testkit.Patience, func() { err = ex.Run(t.Context(), p) })
				var failed *pipeline.StageError
				require.ErrorAs(t, err, &failed)
				require.Contains(t, err.Error(), fmt.Sprintf(`pipeline "limited": stage 1 (narrow), token %d: `, at))
				require.Equal(t, "narrow", failed.Name)
			}
		})
	}
}

// until is a first stage that lets so many tokens enter.
func until(tokens int) func(*pipeline.Token) error {
	return func(t *pipeline.Token) error {
		if t.Number() == tokens {
			t.Stop()
		}
		return nil
	}
}

// TestDeferErrors: the texts for deferrals that cannot end.
func TestDeferErrors(t *testing.T) {
	ex := newExecutor(t, 2)
	for name, c := range map[string]struct {
		on   map[int][]int
		want string
	}{
		"oneself": {map[int][]int{3: {3}}, "token 3: deferred tokens wait for each other: 3 → 3"},
		"circle": {map[int][]int{1: {4}, 4: {2, 6}, 6: {0, 1}},
			"token 6: deferred tokens wait for each other: 6 → 1 → 4 → 6"},
		"vain": {map[int][]int{2: {10}}, "token 2: deferred until a token passes that does not come: 2 → 10"},
		"vain far": {map[int][]int{2: {5}, 5: {1, 99}, 7: {2}},
			"token 2: deferred until a token passes that does not come: 2 → 5 → 99"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := pipeline.New("d", 3, pipeline.Stage{Name: "read", Mode: pipeline.Serial, Run: func(
				t *pipeline.Token,
			) error {
				if t.Number() == 10 {
					t.Stop()
				} else {
					t.Defer(c.on[t.Number()]...)
				}
				return nil
			}})
			require.NoError(t, err)
			testkit.Within(t, testkit.Patience, func() { err = ex.Run(t.Context(), p) })
			require.EqualError(t, err, `pipeline "d": stage 0 (read), `+c.want)
		})
	}
	// Of a long circle the middle is left out.
	p, err := pipeline.New("long", 3, pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
		if t.Number() < 1000 {
			t.Defer(t.Number() + 1)
		} else {
			t.Defer(0)
		}
		return nil
	}})
	require.NoError(t, err)
	err = ex.Run(t.Context(), p)
	require.ErrorContains(t, err,
		"1000 → 0 → 1 → 2 → 3 → 4 → … 989 more … → 994 → 995 → 996 → 997 → 998 → 999 → 1000")
}

// TestDeferMany: the cost of deferrals does not grow with their number.
func TestDeferMany(t *testing.T) {
	ex := newExecutor(t, 2)
	tokens := 1 + testkit.Scale(20_000)
	for name, on := range map[string]func(n int) int{
		"all for the last":  func(int) int { return tokens - 1 },
		"each for the next": func(n int) int { return min(n+1, tokens-1) },
		"each for the last": func(n int) int { return max(n-1, 0) },
		"a chain that begins last": func(n int) int {
			if n == 0 {
				return tokens - 1
			}
			return min(n-1+n/(tokens-1), tokens-1)
		},
		"pairs":              func(n int) int { return n | 1 },
		"last for the first": func(n int) int { return n + tokens - 1 },
	} {
		t.Run(name, func(t *testing.T) {
			order := 0
			p, err := pipeline.New("many", 4, pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
				n := t.Number()
				switch {
				case n == tokens:
					t.Stop()
				case on(n) != n && on(n) < tokens && t.Deferrals() == 0 && t.Defer(on(n)):
				default:
					order++
				}
				return nil
			}})
			require.NoError(t, err)
			testkit.Within(t, testkit.Patience, func() { err = ex.Run(t.Context(), p) })
			require.NoError(t, err)
			require.Equal(t, tokens, order)
		})
	}
}

// TestMisuse: what is wrong is told at once, with the place.
func TestMisuse(t *testing.T) {
	ex := newExecutor(t, 1)
	fine := pipeline.Stage{Mode: pipeline.Serial, Run: until(3)}
	for want, stages := range map[string][]pipeline.Stage{
		"Stop in stage 1 (late): only the first stage says when there are no more tokens": {fine,
			{Name: "late", Run: func(t *pipeline.Token) error { t.Stop(); return nil }}},
		"Defer in stage 1: only tokens in the first stage can wait for others": {fine,
			{Run: func(t *pipeline.Token) error { t.Defer(7); return nil }}},
		"token 0 is to wait for token -1: numbers begin at 0": {
			{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error { t.Defer(-1); return nil }}},
		"token 0 is deferred after Stop": {
			{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error { t.Stop(); t.Defer(1); return nil }}},
		"Stop of token 0, which is deferred": {
			{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error { t.Defer(1); t.Stop(); return nil }}},
		"Stop of a token that was deferred": {
			{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
				if t.Deferrals() > 0 {
					t.Stop()
				} else if t.Number() == 0 {
					t.Defer(1)
				}
				return nil
			}}},
	} {
		p, err := pipeline.New("p", 2, stages...)
		require.NoError(t, err)
		testkit.Within(t, testkit.Patience, func() { require.ErrorContains(t, ex.Run(t.Context(), p), want) })
	}
	for want, stage := range map[string]pipeline.Stage{
		"stage 1 (narrow) has MaxTokens of -1":         {Name: "narrow", MaxTokens: -1, Run: fine.Run},
		"stage 1 (narrow) is serial and has MaxTokens": {Name: "narrow", MaxTokens: 1, Mode: pipeline.Serial, Run: fine.Run},
		"stage 1 (nothing) has no function":            {Name: "nothing"},
		"stage 1 has a Mode of 2":                      {Mode: 2, Run: fine.Run},
		"stage 1 has no function\npipeline \"p\": st":  {MaxTokens: -1},
	} {
		_, err := pipeline.New("p", 1, fine, stage)
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, ex.Run(t.Context(), &pipeline.Pipeline{}), "not made by New or Sink")
}
