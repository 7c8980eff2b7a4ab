package bench

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// settled has a session repeat one trial whose times are these, of which the first three have been measured.
func settled(ctx context.Context, bound time.Duration, times ...float64) (results []Result, said []string, err error) {
	s := &Session{Reps: 3, Settle: bound, Step: func(what string, _ time.Duration) { said = append(said, what) }}
	at := func(rep int) Result { return Result{Workload: "w", Engine: "e", Rep: rep, NSPerTask: times[rep-1]} }
	for rep := 1; rep <= s.Reps; rep++ {
		results = append(results, at(rep))
	}
	t := trial[Result]{DequePoint{}, func(_ context.Context, rep int) (Result, error) {
		if rep > len(times) {
			return Result{}, errors.New("one too many")
		}
		return at(rep), nil
	}}
	results, err = s.settle(ctx, "w", []trial[Result]{t}, results)
	return results, said, err
}

// TestSettle: a loose workload is repeated until it is not, or the time is over.
func TestSettle(t *testing.T) {
	for what, tt := range map[string]struct {
		bound time.Duration
		times []float64
		want  int
	}{
		"tight":       {time.Hour, []float64{100, 101, 102}, 3},
		"loose":       {time.Hour, []float64{100, 150, 100, 100, 100, 100, 100}, 7},
		"without end": {0, []float64{100, 150, 100}, 3},
	} {
		results, said, err := settled(t.Context(), tt.bound, tt.times...)
		require.NoError(t, err, what)
		require.Len(t, results, tt.want, what)
		require.Len(t, said, tt.want-3, what)
		for i, r := range results {
			require.Equal(t, i+1, r.Rep, what)
		}
	}
	_, said, _ := settled(t.Context(), time.Hour, 100, 150, 100)
	require.Equal(t, []string{"w varies by more than 10 %: repetition 4"}, said)
}

// TestSettleEnds: after an error, or the end of the context, there are no results.
func TestSettleEnds(t *testing.T) {
	results, _, err := settled(t.Context(), time.Hour, 100, 150, 100)
	require.EqualError(t, err, "one too many")
	require.Empty(t, results)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	results, _, err = settled(ctx, time.Hour, 100, 150, 100, 100)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, results)
}

// TestLooseReport: a figure that is loose has a mark, and a line that explains it.
func TestLooseReport(t *testing.T) {
	require.NotContains(t, report(t, "text", someResults()), looseMark)
	results := someResults()
	for i := range results {
		if results[i].Engine == "serial" && results[i].Rep == 5 {
			results[i].NSPerTask *= 2
		}
	}
	text := report(t, "text", results, "a note")
	require.Contains(t, text, " 15.2 ± 103%! ")
	require.Contains(t, text, "\n\n"+looseNote+"\n\na note\n")
}
