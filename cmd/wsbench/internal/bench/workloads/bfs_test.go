package workloads

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
)

// TestBFSDistances checks the distances by which runs are verified: no edge leads farther than by one.
func TestBFSDistances(t *testing.T) {
	unreached := 0
	for _, n := range []int{1, 2, 3, 100, 20000} {
		program, err := bfs.Program(n, 5, Values{})
		require.NoError(t, err)
		b := program.(*bfsProgram)
		require.Zero(t, b.want[0])
		for i, d := range b.want {
			edges := b.edges(int32(i))
			require.NotEmpty(t, edges)
			require.LessOrEqual(t, len(edges), bfsDegrees)
			if d < 0 {
				unreached++
				continue
			}
			for _, head := range edges {
				require.True(t, 0 <= b.want[head] && b.want[head] <= d+1, "edge %d→%d", i, head)
			}
		}
		everyEngine(t, b, []int{1, 2, 4}, func() any { return b.distance })
	}
	require.Positive(t, unreached, "no graph has a node without a path")
	require.InEpsilon(t, 8*20000, len(newBFS(20000, 1).heads), 0.02)
}

// TestGoroutineLoops: each index is in one range.
func TestGoroutineLoops(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 100} {
		for _, workers := range []int{1, 3, 200} {
			for _, grain := range []int{1, 8, 1000} {
				calls := make([]int, n)
				goroutineLoops(workers, grain, func(each loop) error {
					return each(n, func(lo, hi int) {
						if hi-lo > grain {
							t.Errorf("the range from %d to %d is longer than %d", lo, hi, grain)
						}
						for i := lo; i < hi; i++ {
							calls[i]++
						}
					})
				})
				for i, c := range calls {
					require.Equal(t, 1, c, "index %d of %d", i, n)
				}
			}
		}
	}
	require.Panics(t, func() { goroutineLoops(1, 1, func(loop) error { return os.ErrInvalid }) })
}

// everyEngine runs a program on each engine, and verifies each run. Engines with workers give the same result, to the
// last bit.
func everyEngine(t *testing.T, p Program, workers []int, result func() any) {
	var want any
	check := func(what string) {
		require.NoError(t, p.Verify(), what)
		if want == nil {
			want = result()
		}
		require.Equal(t, want, result(), what)
	}
	for _, workers := range workers {
		ex, err := executor.New(executor.Config{Workers: workers})
		require.NoError(t, err)
		p.Reset()
		require.NoError(t, p.Magpie(ex))
		check("magpie")
		require.NoError(t, ex.Close())
		p.Reset()
		p.Goroutines(workers)
		check("goroutines")
	}
	p.Reset()
	p.Serial()
	require.NoError(t, p.Verify(), "serial")
}
