package osthread

import (
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program sets the maximum before one of the calls that ask makes, or before two of them. The program's last value
// stands, and the next ask returns it.
func TestMaxThreadsOfTheProgramStands(t *testing.T) {
	for _, start := range []int{10000, 20000} {
		for _, guess := range []int{10000, 20000} {
			for first := range 5 {
				for second := range 5 {
					for _, a := range []int{500, 30000} {
						for _, b := range []int{500, 30000} {
							now, calls, want := start, 0, start
							m := threadMaximum{guess: guess}
							m.set = func(n int) int {
								if calls == first {
									now, want = a, a
								}
								if calls == second {
									now, want = b, b
								}
								calls++
								before := now
								now = n
								return before
							}
							m.ask(7)
							at := fmt.Sprintf("start %d, guess %d, %d before call %d, %d before call %d",
								start, guess, a, first, b, second)
							require.Equal(t, want, now, at)
							calls = 100 // nothing more is set
							require.EqualValues(t, want, m.ask(7), at)
							require.Equal(t, want, now, at)
						}
					}
				}
			}
		}
	}
}

// ask never sets a number below that of the threads that exist.
func TestMaxThreadsIsNeverTooFew(t *testing.T) {
	for _, threads := range []int64{1, 4999, 5000, 5001, 9999, 12000} {
		now := 100000
		m := threadMaximum{guess: 10000, set: func(n int) int {
			require.Greater(t, int64(n), threads)
			before := now
			now = n
			return before
		}}
		require.EqualValues(t, 100000, m.ask(threads))
		require.EqualValues(t, 100000, m.ask(threads))
		require.Equal(t, 100000, now)
	}
}

// A second ask, with no change meanwhile, sets the value that is already set.
func TestMaxThreadsAsksQuietly(t *testing.T) {
	for range 3 {
		m := threadMaximum{guess: 10000, set: func(n int) int {
			require.Equal(t, 10000, n)
			return 10000
		}}
		require.EqualValues(t, 10000, m.ask(7))
	}
	before := debug.SetMaxThreads(20000)
	defer debug.SetMaxThreads(before)
	m := threadMaximum{guess: 10000, set: debug.SetMaxThreads}
	require.EqualValues(t, 20000, m.ask(7))
	require.EqualValues(t, 20000, m.ask(7))
}
