package service

import (
	"fmt"
	"hash/fnv"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// A Load is a kind of background work. Its unit is the same in all measurements; a task has a number of units.
type Load struct {
	Name, About string
	// begin returns a function that does one unit with the inputs of a seed and returns its result, for a task of so
	// many units.
	begin func(units int) func(unit, seed int) uint64
	// hold, if not nil, returns memory that the server keeps while the load runs.
	hold func() any
}

// Loads returns all loads.
func Loads() []*Load { return []*Load{pureLoad, allocatingLoad, gcLoad} }

// seeds is the number of different inputs of a unit.
const seeds = 64

var pureLoad = &Load{
	Name:  "pure",
	About: "arithmetic in registers, without allocation",
	begin: func(int) func(int, int) uint64 {
		return func(_, seed int) uint64 {
			x := uint64(seed) + 1
			for range 20_000 {
				x ^= x << 13
				x ^= x >> 7
				x ^= x << 17
			}
			return x
		}
	},
}

// tile is the side of a tile in pixels, and thumb that of its thumbnail. A pixel has four bytes.
const (
	tile  = 64
	thumb = tile / 4
)

var allocatingLoad = &Load{
	Name:  "allocating",
	About: "thumbnails: a task allocates a picture, computes it tile by tile and scales it down",
	begin: func(units int) func(int, int) uint64 {
		const size = tile * tile * 4
		picture := make([]byte, units*size)
		return func(unit, seed int) uint64 {
			return thumbnail(picture[unit*size:][:size], seed)
		}
	},
}

// thumbnail computes the pixels of a tile, and returns the checksum of its thumbnail.
func thumbnail(pixels []byte, seed int) uint64 {
	x := uint64(seed) + 1
	for i := range pixels {
		x = x*6364136223846793005 + 1442695040888963407
		pixels[i] = byte(x >> 56)
	}
	small := make([]byte, 0, thumb*thumb*4)
	for y := 0; y < tile; y += 4 {
		for x := 0; x < tile; x += 4 {
			for c := range 4 {
				sum := 0
				for dy := range 4 {
					for dx := range 4 {
						sum += int(pixels[((y+dy)*tile+x+dx)*4+c])
					}
				}
				small = append(small, byte(sum/16))
			}
		}
	}
	h := fnv.New64a()
	_, _ = h.Write(small)
	return h.Sum64()
}

var gcLoad = &Load{
	Name:  "gc",
	About: "trees of small nodes, beside 64 MiB of such trees that stay alive: the garbage collector runs all the time",
	begin: func(int) func(int, int) uint64 {
		return func(_, seed int) uint64 { return newNode(9, uint64(seed)).sum() }
	},
	hold: func() any {
		const depth, nodeSize = 15, 32
		kept := make([]*node, 64<<20/(nodeSize<<depth))
		for i := range kept {
			kept[i] = newNode(depth, uint64(i))
		}
		return kept
	},
}

type node struct {
	left, right *node
	value       uint64
	_           uint64
}

// newNode returns a tree with 1<<depth - 1 nodes.
func newNode(depth int, value uint64) *node {
	if depth == 0 {
		return nil
	}
	return &node{left: newNode(depth-1, 2*value+1), right: newNode(depth-1, 2*value+2), value: value}
}

func (n *node) sum() uint64 {
	if n == nil {
		return 0
	}
	return n.value*0x9e3779b97f4a7c15 ^ (n.left.sum() + 3*n.right.sum())
}

// results returns the results of all seeds.
func (l *Load) results() []uint64 {
	do := l.begin(1)
	var all []uint64
	for seed := range seeds {
		all = append(all, do(0, seed))
	}
	return all
}

// UnitsOf returns the number of units, at least 1, that take about so long on the calling goroutine alone.
func (l *Load) UnitsOf(task time.Duration) int {
	const units, tries = 32, 15
	var times []time.Duration
	for range tries {
		begin := time.Now()
		do := l.begin(units)
		for i := range units {
			do(i, i)
		}
		times = append(times, time.Since(begin)/units)
	}
	slices.Sort(times)
	return max(1, int((task+times[tries/2]/2)/times[tries/2]))
}

// A work is the background work of a server: tasks without end, until it is stopped.
type work struct {
	load   *Load
	units  int // of a task
	window int // tasks that have been started and have not ended, for backgrounds that start many
	want   []uint64
	held   any
	pause  func() // unless it is nil, a task calls it after each unit

	stopped atomic.Bool
	begun   atomic.Uint64 // tasks
	done    atomic.Uint64 // units, with the right result
	wrong   atomic.Pointer[error]
}

func newWork(l *Load, units, window int) *work {
	w := &work{load: l, units: units, window: window, want: l.results()}
	if l.hold != nil {
		w.held = l.hold()
		runtime.GC()
	}
	return w
}

// task runs one task, unless the work is stopped. It reports whether to go on with another.
func (w *work) task() (more bool) {
	if w.stopped.Load() {
		return false
	}
	begin := int(w.begun.Add(1) % seeds)
	do := w.load.begin(w.units)
	for i := range w.units {
		seed := (begin + i) % seeds
		if got := do(i, seed); got != w.want[seed] {
			err := fmt.Errorf("background %s: unit with seed %d: %#x, not %#x", w.load.Name, seed, got, w.want[seed])
			w.wrong.CompareAndSwap(nil, &err)
			return false
		}
		w.done.Add(1)
		if w.pause != nil {
			w.pause()
		}
	}
	return !w.stopped.Load()
}

// err returns what was wrong.
func (w *work) err() error {
	runtime.KeepAlive(w.held)
	if err := w.wrong.Load(); err != nil {
		return *err
	}
	return nil
}
