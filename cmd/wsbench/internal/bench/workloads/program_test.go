package workloads

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/circuit"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/sta"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// wholeSizes of the programs have some of everything, to be spoilt.
var wholeSizes = map[string]int{
	"fib":        20,
	"fat":        2,
	"thin":       12,
	"nqueens":    8,
	"skynet":     5003,
	"sort":       50_000,
	"scan":       50_000,
	"mandelbrot": 64,
	"mm":         100,
	"mi":         50,
	"raytracer":  24,
	"clip":       40,
	"bfs":        5000,
	"ep":         epBatch + 1,
	"cg":         cgSmall,
	"loop":       1,
	"sta":        3,
	"loopy":      3,
	"knary":      4,
	"complement": 4,
	"cholesky":   60,
	"strassen":   70,
}

// TestProgramVerify runs each program correctly, then leaves out everything, and then spoils the result in every way.
func TestProgramVerify(t *testing.T) {
	type spoil struct {
		name string
		do   func()
	}
	places := 10 // where a result is spoilt
	if testkit.Quick() {
		places = 3
	}
	for _, w := range Programs() {
		n := wholeSizes[w.Name]
		p, err := w.Program(n, 42, valuesFor(t, w, ""))
		require.NoError(t, err)
		var spoils []spoil
		each := func(from, to int, name string, do func(i int)) {
			for i := from; i < to; i += max(1, (to-from)/places) {
				spoils = append(spoils, spoil{fmt.Sprintf("%s %d", name, i), func() { do(i) }})
			}
		}
		of := func(got *int64) {
			spoils = append(spoils, spoil{"one more", func() { *got++ }}, spoil{"one less", func() { *got-- }})
		}
		switch p := p.(type) {
		case *recursion[int]:
			of(&p.got)
		case *recursion[span]:
			of(&p.got)
		case *recursion[board]:
			of(&p.got)
		case *recursion[spawns]:
			of(&p.got)
		case *recursion[knaryNode]:
			of(&p.got)
		case *recursion[knaryPair]:
			of(&p.got)
		case *choleskyProgram:
			entry := func(i, j int) *float64 { return p.factor.entry(p.levels, i, j) }
			each(0, n, "last bit", func(i int) { *entry(i, i) = math.Nextafter(*entry(i, i), 9) })
			each(0, n, "no number", func(i int) { *entry(n-1, i) = math.NaN() })
			each(0, 1, "left out", func(int) { p.factor.quarters[1][0] = nil })
		case *strassenProgram:
			each(0, n*n, "larger", func(i int) { p.c.row(i / n)[i%n]++ })
			each(0, n*n, "left out", func(i int) { p.c.row(i / n)[i%n] = math.NaN() })
		case *sortProgram:
			each(1, n, "changed places", func(i int) { p.s[i-1], p.s[i] = p.s[i], p.s[i-1] })
			each(1, n, "twice", func(i int) { p.s[i] = p.s[i-1] })
		case *scanProgram:
			each(0, n, "larger", func(i int) { p.dst[i]++ })
			each(0, n, "left out", func(i int) { p.dst[i] = 0 })
		case *timingProgram:
			each(p.timer.Circuit().Inputs(), p.timer.Circuit().Len(), "another size", func(i int) {
				p.timer.Resize(circuit.Net(i), 16)
			})
			each(p.timer.Circuit().Inputs(), p.timer.Circuit().Len(), "one change more", func(i int) {
				changes := p.changes
				p.changes = []sta.Change{{Gate: circuit.Net(i), Size: 16}}
				p.Serial()
				p.changes = changes
			})
			each(0, 10, "other slacks", func(i int) { p.slacks ^= 1 << i })
			each(0, 1, "an error", func(int) { p.err = errors.New("an error") })
		case *mandelbrotProgram:
			each(0, n*n, "other pixel", func(i int) { p.steps[i] ^= 1 })
			each(0, n, "row left out", func(i int) { p.steps[i*n] = mandelbrotSteps + 1 })
		case *mmProgram:
			each(0, n*n, "larger", func(i int) { p.c[i]++ })
			each(0, n*n, "left out", func(i int) { p.c[i] = math.NaN() })
		case *miProgram:
			each(0, n, "last bit", func(i int) { p.rows[i][i] = math.Nextafter(p.rows[i][i], 9) })
			each(1, n, "changed places", func(i int) { p.rows[i-1], p.rows[i] = p.rows[i], p.rows[i-1] })
		case *clipProgram:
			each(0, n, "larger intersection", func(i int) { p.got[i].intersections *= 1 + 0x1p-52 })
			each(0, n, "larger union", func(i int) { p.got[i].unions *= 1 + 0x1p-52 })
		case *raytracerProgram:
			each(0, len(p.picture.Pix), "other pixel", func(i int) { p.picture.Pix[i] ^= 1 })
		case *loopProgram:
			each(0, 1, "too few", func(int) { p.made = p.rounds - 1 })
		case *bfsProgram:
			each(0, n, "farther", func(i int) { p.distance[i]++ })
			each(0, n, "left out", func(i int) { p.distance[i], p.parent[i] = p.distance[i]-1, -1 })
			each(1, n, "its own parent", func(i int) { p.parent[i] = int32(i) })
			each(1, n, "no edge", func(i int) { p.parent[i] = notTo(p, int32(i)) })
		case *epProgram:
			each(0, 5, "one pair more", func(i int) { p.got.counts[i]++ })
			each(0, 3, "changed sum", func(i int) { p.got.x *= 1 + 1e-7 })
			each(0, 3, "changed other sum", func(i int) { p.got.y *= 1 - 1e-7 })
			each(0, 2, "batch left out", func(i int) { p.batches[i] = epTally{}; p.sum() })
		case *cgProgram:
			each(0, 3, "larger", func(i int) { p.zeta *= 1 + 1e-9 })
			each(0, 3, "smaller", func(i int) { p.zeta *= 1 - 1e-9 })
			each(0, 3, "not solved", func(i int) { p.residual = 1e-9 })
		}
		require.NotEmpty(t, spoils, w.Name)
		for _, s := range spoils {
			p.Reset()
			require.Error(t, p.Verify(), "%s, nothing done", w.Name)
			p.Serial()
			require.NoError(t, p.Verify(), w.Name)
			s.do()
			require.Error(t, p.Verify(), "%s, %s", w.Name, s.name)
		}
	}
}

// notTo returns a node other than 0 that is as near as a parent of node has to be, or farther, and has no edge to it.
func notTo(b *bfsProgram, node int32) int32 {
	for p := int32(1); ; p++ {
		if b.distance[p] >= b.distance[node]-1 && !slices.Contains(b.edges(p), node) {
			return p
		}
	}
}

// TestProgramShapes pins the numbers of tasks by which figures are divided, and counts the tasks where the number is
// not the size.
func TestProgramShapes(t *testing.T) {
	for w, want := range map[*Workload]float64{
		fib: 14930351, fat: 17043521, thin: 8388607, nqueens: 4674889, skynet: 1111111,
		sorting: 10000000, scan: 10000000, mandelbrot: 2048,
		mm: 32 * 32 * 32, mi: 800 * 800, raytracer: 360, clip: 100000,
		bfs: 1 << 20, ep: 1 << 24, cg: 15 * 26 * 7000, threadLoop: 500000, timing: 500,
		loopy: 64, knary: 12093235, complement: 575662, cholesky: 2048, strassen: 16807,
	} {
		require.Equal(t, want, w.Shape(w.Default).Tasks, w.Name)
	}
	require.Len(t, Programs(), 22)

	var forks func(n int) float64
	forks = func(n int) float64 {
		if n < 2 {
			return 0
		}
		return 1 + forks(n-1) + forks(n-2)
	}
	for n := range 20 {
		require.Equal(t, forks(n), fib.Shape(n).Tasks, "fib, n=%d", n)
	}
	var placed func(b board) float64
	placed = func(b board) (n float64) {
		for c := range b.n {
			if b.rows < b.n && b.free(c) {
				n += 1 + placed(b.with(c))
			}
		}
		return n
	}
	for n := 1; n <= 10; n++ {
		require.Equal(t, placed(board{n: int8(n)}), nqueens.Shape(n).Tasks, "nqueens, n=%d", n)
	}
	var parts func(p span) float64
	parts = func(p span) float64 {
		n := 1.0
		for i := int64(0); i < skynetChildren && p.size > 1; i++ {
			if c := p.child(i); c.size > 0 {
				n += parts(c)
			}
		}
		return n
	}
	for n := 1; n < 3000; n += 1 + n/10 {
		require.Equal(t, parts(span{0, int64(n)}), skynet.Shape(n).Tasks, "skynet, n=%d", n)
	}
	var nodes func(k knaryNode) float64
	nodes = func(k knaryNode) float64 {
		n := 1.0
		for range k.branching {
			if !k.isLeaf() {
				n += nodes(k.child())
			}
		}
		return n
	}
	for n := 1; n <= 5; n++ {
		require.Equal(t, nodes(knaryNode{n, knaryBranching, 1}), knary.Shape(n).Tasks, "knary, n=%d", n)
		three := knary.ShapeWith(n, valuesFor(t, knary, "branching=3"))
		require.Equal(t, nodes(knaryNode{n, 3, 1}), three.Tasks, "knary, n=%d", n)
	}
	// Even the largest size gives a shape, which is refused later.
	for _, w := range Programs() {
		if w.Most == 0 && w.Sizes == nil {
			s := w.Shape(math.MaxInt)
			require.Greater(t, max(s.Tasks, s.Data), 1e9, w.Name)
		}
	}
}

// TestKnownResults compares the values by which programs are verified with published ones.
func TestKnownResults(t *testing.T) {
	require.EqualValues(t, 9227465, fibonacci[int64](35))
	require.EqualValues(t, 73712, queens[13].solutions)
	require.Equal(t, int64(499999500000), sumBelow(1000000))
	require.EqualValues(t, 3, sumBelow(3))
	require.EqualValues(t, 1, sumBelow(2))
}

// TestSpawner: there are never more goroutines than allowed, and a function without one is called all the same.
func TestSpawner(t *testing.T) {
	for _, most := range []int64{0, 1, 3, 1000} {
		g := &spawner{most: most}
		require.EqualValues(t, 6765, fibGoroutines(g, 20))
		require.Zero(t, g.alive.Load())
		require.EqualValues(t, 4161, fatGoroutines(g, 2))
		require.EqualValues(t, 92, queensGoroutines(g, board{n: 8}))
	}
	g := &spawner{most: 5}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 5 {
		g.start(&wg, func() { <-stop })
	}
	inline := 0
	for range 10 {
		g.start(&wg, func() { inline++ })
	}
	require.Equal(t, 10, inline)
	require.EqualValues(t, 5, g.alive.Load())
	close(stop)
	wg.Wait()
}
