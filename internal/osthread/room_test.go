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
		n    int
		want string // part of the error; empty: there is room
	}{
		{0, ""},
		{5, ""},
		{6, "6 more threads do not fit b: 50 allowed, 45 in use: ask for fewer, or raise b"},
		{91, "do not fit a: 100 allowed, 10 in use"},
	} {
		err := checkRoom(limits, c.n)
		if c.want == "" {
			require.NoError(t, err, "%d threads", c.n)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
}

func TestRoom(t *testing.T) {
	require.NoError(t, Room(1))
}
