package osthread

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckRoom(t *testing.T) {
	limits := []limit{
		{"a", 100, 10, "raise a"},
		{"b", 50, 45, "raise b"},
	}
	for _, c := range []struct {
		n, others int64
		want      string // part of the error; "" means no error
	}{
		{0, 0, ""},
		{5, 0, ""},
		{2, 3, ""},
		{6, 0, "6 more threads, and 0 that the process may start besides, " +
			"do not fit b: 50 allowed, 45 or more in use: ask for fewer, or raise b"},
		{2, 4, "2 more threads, and 4 that the process may start besides, " +
			"do not fit b: 50 allowed, 45 or more in use: ask for fewer, or raise b"},
		{1, 90, "do not fit a: 100 allowed, 10 or more in use"},
	} {
		err := checkRoom(limits, c.n, c.others)
		if c.want == "" {
			require.NoError(t, err, "%+v", c)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
}

// Claimed threads that have not arrived count once, whether or not they exist already. Threads with locked goroutines
// serve no P.
func TestOthers(t *testing.T) {
	for _, c := range []struct {
		claim   claim
		threads int64
		ps      int
		want    int64
	}{
		{claim{}, 1, 2, beyondPs + 2*perP - 1},
		{claim{}, 2*perP + beyondPs, 2, 0},
		{claim{}, 100, 2, 0},
		{claim{all: 4}, 4, 2, beyondPs + 2*perP},
		{claim{all: 4, coming: 4}, 5, 2, beyondPs + 2*perP - 5 + 4},
		{claim{all: 4, coming: 1}, 100, 2, 1},
		{claim{all: 4}, 0, 2, beyondPs + 2*perP}, // unknown
		{claim{ps: 3}, 1, 2, beyondPs + 5*perP - 1},
	} {
		require.Equal(t, c.want, c.claim.others(c.threads, c.ps), "%+v", c)
	}
}

func TestClaim(t *testing.T) {
	require.NoError(t, Claim(1, 0))
	Arrive()
	Unclaim()
}
