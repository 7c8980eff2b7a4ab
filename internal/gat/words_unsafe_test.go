package gat

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestLayout: programs built at different times for different architectures share a table. A change of the layout needs
// another version.
func TestLayout(t *testing.T) {
	var b table
	require.Equal(t, 1, version)
	require.EqualValues(t, 128, slots)
	require.EqualValues(t, 18048, size)
	for name, c := range map[string]struct{ want, got uintptr }{
		"version":         {8, unsafe.Offsetof(b.version)},
		"size":            {12, unsafe.Offsetof(b.size)},
		"boot":            {16, unsafe.Offsetof(b.boot)},
		"processors":      {32, unsafe.Offsetof(b.processors)},
		"holder":          {36, unsafe.Offsetof(b.holder)},
		"cycle":           {40, unsafe.Offsetof(b.cycle)},
		"joins":           {48, unsafe.Offsetof(b.joins)},
		"published":       {64, unsafe.Offsetof(b.published)},
		"states":          {128, unsafe.Offsetof(b.states)},
		"vectors":         {640, unsafe.Offsetof(b.vectors)},
		"jobs":            {1664, unsafe.Offsetof(b.jobs)},
		"a slot":          {128, unsafe.Sizeof(b.jobs[0])},
		"slot.pid":        {8, unsafe.Offsetof(b.jobs[0].pid)},
		"slot.weight":     {12, unsafe.Offsetof(b.jobs[0].weight)},
		"slot.minimum":    {16, unsafe.Offsetof(b.jobs[0].minimum)},
		"slot.limit":      {20, unsafe.Offsetof(b.jobs[0].limit)},
		"slot.name":       {24, unsafe.Offsetof(b.jobs[0].name)},
		"slot.stopped":    {56, unsafe.Offsetof(b.jobs[0].stopped)},
		"slot.desire":     {60, unsafe.Offsetof(b.jobs[0].desire)},
		"slot.usage":      {64, unsafe.Offsetof(b.jobs[0].usage)},
		"slot.efficiency": {68, unsafe.Offsetof(b.jobs[0].efficiency)},
		"slot.heartbeat":  {72, unsafe.Offsetof(b.jobs[0].heartbeat)},
	} {
		require.Equal(t, c.want, c.got, name)
	}
}
