package workloads

import (
	"testing"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/circuit"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/sta"
)

// TestTimingCircuits runs every circuit that is not from a file.
func TestTimingCircuits(t *testing.T) {
	gates := map[string]int{"c6288": 2416, "c6288-mapped": 1664, "tv80": 5300, "b19": 255300}
	for name, want := range gates {
		if name == "b19" && testkit.Quick() {
			continue
		}
		p, err := timing.Program(2, 1, valuesFor(t, timing, "circuit="+name+"/corners=1/changes=any"))
		require.NoError(t, err)
		require.Equal(t, want, p.(*timingProgram).circuit.Gates())
		p.Reset()
		p.Goroutines(2)
		require.NoError(t, p.Verify())
	}
}

// TestTimingChanges: the same seed makes the same changes, those of sizes are of another size, and the clock is too
// fast at first.
func TestTimingChanges(t *testing.T) {
	c := circuit.C6288()
	changes := 3000
	if testkit.Quick() {
		changes = 300
	}
	for _, form := range []timingChanges{resizing, anyChanges} {
		t.Run(string(form), func(t *testing.T) { timingChangesAgree(t, c, changes, form) })
	}
}

func timingChangesAgree(t *testing.T, c *circuit.Circuit, changes int, form timingChanges) {
	p, err := newTiming(changes, 7, c, 1, form)
	require.NoError(t, err)
	again, err := newTiming(changes, 7, c, 1, form)
	require.NoError(t, err)
	require.Equal(t, p.changes, again.changes)
	require.Equal(t, p.want, again.want)
	other, err := newTiming(changes, 8, c, 1, form)
	require.NoError(t, err)
	require.NotEqual(t, p.changes, other.changes)
	require.NotEqual(t, p.want, other.want)

	p.Reset()
	worst, total := p.timer.Slack()
	require.InDelta(t, -p.timer.Latest()/10, worst, 1e-6)
	require.Less(t, total, worst)
	resized := 0
	for _, change := range p.changes {
		require.NotEqual(t, circuit.Input, p.timer.Circuit().Kind(change.Gate))
		if change.Operation == sta.Resize {
			require.NotEqual(t, change.Size, p.timer.Size(change.Gate))
			resized++
		}
		p.timer.Do(change)
	}
	require.Equal(t, form == resizing, resized == len(p.changes))
}

func TestTimingMemory(t *testing.T) {
	_, err := newTiming(1, 1, circuit.C6288(), 1<<30, resizing)
	var bad *input.Error
	require.ErrorAs(t, err, &bad)
	require.ErrorContains(t, err, "for c6288 with -corners 1073741824, and ")
}
