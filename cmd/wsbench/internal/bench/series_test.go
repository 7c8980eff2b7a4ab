package bench

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRepeatAll: all trials are repeated in turn, after a warm-up if there is one.
func TestRepeatAll(t *testing.T) {
	type made struct {
		at  string
		rep int
	}
	for _, cold := range []bool{false, true} {
		var all []made
		var trials []trial[made]
		for _, at := range []string{"a", "b"} {
			trials = append(trials, trial[made]{DequePoint{Deque: at}, func(_ context.Context, rep int) (made, error) {
				all = append(all, made{at, rep})
				return made{at, rep}, nil
			}})
		}
		results, err := repeatAll(t.Context(), series{what: "x", reps: 2, cold: cold}, trials)
		require.NoError(t, err)
		require.Equal(t, []made{{"a", 1}, {"b", 1}, {"a", 2}, {"b", 2}}, results)
		if cold {
			require.Equal(t, results, all)
		} else {
			require.Equal(t, append([]made{{"a", 0}, {"b", 0}}, results...), all)
		}
	}
}

// TestRepeatAllEnds: after an error, or the end of the context, nothing is repeated and there are no results.
func TestRepeatAllEnds(t *testing.T) {
	wrong := errors.New("wrong")
	for _, want := range []error{wrong, context.Canceled} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		trials := []trial[int]{{DequePoint{}, func(_ context.Context, rep int) (int, error) {
			n++
			if rep < 2 {
				return rep, nil
			}
			cancel()
			if want == wrong {
				return rep, wrong
			}
			return rep, nil
		}}}
		results, err := repeatAll(ctx, series{reps: 5}, trials)
		require.ErrorIs(t, err, want)
		require.Empty(t, results)
		require.Equal(t, 3, n)
		cancel()
	}
}

// TestPace: long repetitions are announced each, short ones once in a second, with the time that is left.
func TestPace(t *testing.T) {
	begin := time.Now()
	at := func(d time.Duration) time.Time { return begin.Add(d) }
	p := pace{begin: begin, each: 5 * time.Second, left: 4}
	require.True(t, p.isDue(begin))
	require.Equal(t, 20*time.Second, p.toTheEnd())
	p.done(at(100 * time.Millisecond))
	require.False(t, p.isDue(at(100*time.Millisecond)))
	p.done(at(1500 * time.Millisecond))
	require.True(t, p.isDue(at(1500*time.Millisecond)))
	require.Equal(t, 1500*time.Millisecond, p.toTheEnd())
	require.False(t, p.isDue(at(1600*time.Millisecond)))
	p.done(at(9 * time.Second))
	require.True(t, p.isDue(at(9*time.Second)))
	require.Equal(t, 3*time.Second, p.toTheEnd())
	require.True(t, p.isDue(at(9*time.Second+1)))
}
