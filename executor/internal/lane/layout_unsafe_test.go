package lane

import (
	"testing"
	"unsafe"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/stretchr/testify/require"
)

// TestLayout: what thieves read and nobody writes, what the owner writes with every push, and what thieves write are
// on lines of their own, and apart from what a worker has before and behind its lane.
func TestLayout(t *testing.T) {
	var l Lane[int]
	type area struct {
		name       string
		begin, end uintptr
	}
	areas := []area{
		{"what stands before", 0, 0},
		{"constant", unsafe.Offsetof(l.open), unsafe.Offsetof(l.asks) + unsafe.Sizeof(l.asks)},
		{"owner only", unsafe.Offsetof(l.own), unsafe.Offsetof(l.stolen) + unsafe.Sizeof(l.stolen)},
		{"what thieves write", unsafe.Offsetof(l.slack), unsafe.Offsetof(l.begged) + unsafe.Sizeof(l.begged)},
		{"what stands behind", unsafe.Sizeof(l), unsafe.Sizeof(l)},
	}
	for i, a := range areas[1:] {
		before := areas[i]
		require.GreaterOrEqual(t, a.begin, before.end+pad.Size, "%s and %s", before.name, a.name)
	}
	inside := func(area area, name string, offset uintptr) {
		require.True(t, area.begin <= offset && offset < area.end, "%s is not among what is %s", name, area.name)
	}
	inside(areas[1], "queue", unsafe.Offsetof(l.queue))
	inside(areas[1], "kind", unsafe.Offsetof(l.kind))
	inside(areas[1], "forksPushed", unsafe.Offsetof(l.forksPushed))
	inside(areas[2], "Pushed", unsafe.Offsetof(l.Pushed))
	inside(areas[2], "Popped", unsafe.Offsetof(l.Popped))
	inside(areas[2], "alone", unsafe.Offsetof(l.alone))
}
