package virtual

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShapes(t *testing.T) {
	job := func(phases ...Phase) Job { return Job{Phases: phases} }
	for name, c := range map[string]struct {
		job        Job
		work, span int
	}{
		"serial":            {job(Serial(7)), 7, 7},
		"parallel":          {job(Parallel(7)), 7, 1},
		"one after another": {job(Serial(7), Parallel(7)), 14, 8},
		"grains":            {job(Phase{Tasks: 7, Grain: 3}), 21, 3},
		"a width":           {job(Phase{Tasks: 7, Grain: 3, Width: 3}), 21, 9},
		"loopy":             {job(Loopy(64, 64)), 64 * 64, 64 + 63}, // N² and 2N, but for the loop itself
		"two a step":        {job(Phase{Tasks: 7, Grain: 5, Spread: 2}), 35, 8},
		"a node":            {job(Knary(1, 4, 2)...), 1, 1},
		"knary":             {job(Knary(3, 4, 2)...), 1 + 4 + 16, 13},
		"knary, parallel":   {job(Knary(4, 5, 0)...), 1 + 5 + 25 + 125, 4},
		"knary, serial":     {job(Knary(4, 4, 4)...), 1 + 4 + 16 + 64, 85},
	} {
		require.Equal(t, c.work, c.job.Work(), name)
		require.Equal(t, c.span, c.job.Span(), name)
		if c.work < 4096 {
			r := Machine{Processors: c.work, Control: Uncontrolled}.Run([]Job{c.job})
			require.Equal(t, c.span, r.Jobs[0].Finish, "%s, with more processors than it can use", name)
			r = Machine{Processors: 1, Control: Static}.Run([]Job{c.job})
			require.Equal(t, c.work, r.Jobs[0].Finish, "%s, on one", name)
		}
	}
	require.Equal(t, []Phase{
		{Tasks: 1, Width: 1}, {Tasks: 3, Width: 3}, {Tasks: 9, Width: 9},
	}, Knary(3, 3, 0))
	require.Equal(t, []Phase{
		{Tasks: 1 + 2, Width: 1}, // the root; of the first subtree its root and first child
		{Tasks: 2 + 4, Width: 2}, // its two other children; of two subtrees side by side the same as above
		{Tasks: 4, Width: 4},     // their four other children
	}, Knary(3, 3, 1))
	require.Equal(t, []Phase{{Tasks: 85, Width: 1}}, Knary(4, 4, 4))
}

func TestMisuse(t *testing.T) {
	good := Job{Phases: []Phase{Serial(1)}}
	for _, run := range []func(){
		func() { Machine{}.Run(nil) },
		func() { Machine{Processors: 2, Partition: 3}.Run([]Job{good}) },
		func() { Machine{Processors: 2, Control: Shared, Rule: wsap}.Run([]Job{good}) },
		func() { Machine{Processors: 2}.Run([]Job{{}}) },
		func() { Machine{Processors: 2}.Run([]Job{{Arrival: -1, Phases: good.Phases}}) },
		func() { Machine{Processors: 2}.Run([]Job{{Phases: []Phase{{}}}}) },
		func() { Machine{Processors: 2}.Run([]Job{{Phases: []Phase{{Tasks: 1, Width: 1, Spread: 1}}}}) },
	} {
		require.Panics(t, run)
	}
}
