package peer

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrUnsupported(t *testing.T) {
	require.ErrorIs(t, ErrUnsupported, errors.ErrUnsupported)
	require.ErrorIs(t, Has(Feature(99)), ErrUnsupported)
	for f, name := range map[Feature]string{
		SameCPU: "SameCPU", Clock: "Clock", Pull: "Pull", Records: "Records", 99: "Feature(99)",
	} {
		require.Equal(t, name, f.String())
	}
	for s, name := range map[State]string{
		Unknown: "unknown", Running: "running", Preempted: "preempted", Blocked: "blocked", 99: "State(99)",
	} {
		require.Equal(t, name, s.String())
	}
}

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		preempted bool
		state     State
		want      Counts
	}{
		{true, Unknown, Counts{Unknown: 1}},
		{false, Unknown, Counts{Unknown: 1}},
		{true, Running, Counts{Checked: 1, FalsePositive: 1}},
		{false, Running, Counts{Checked: 1}},
		{true, Preempted, Counts{Checked: 1}},
		{false, Preempted, Counts{Checked: 1, FalseNegative: 1}},
		{true, Blocked, Counts{Checked: 1, Blocked: 1}},
		{false, Blocked, Counts{Checked: 1}},
	} {
		var got Counts
		got.judge(c.preempted, c.state)
		c.want.Asked = 1
		if c.preempted {
			c.want.Preempted = 1
		}
		require.Equal(t, c.want, got, "%v %v", c.preempted, c.state)
	}
}
