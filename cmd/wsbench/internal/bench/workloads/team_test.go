package workloads

import (
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// calling is a function that is a program for teams.
type calling func(t Team)

func (c calling) RunOn(t Team) { c(t) }

// A waiting team counts the calls that are ready and have not begun.
type waiting struct{ now, most int }

func (w *waiting) Each(n int, f func(Team, int)) {
	w.now += n - 1
	w.most = max(w.most, w.now)
	f(w, 0)
	for i := 1; i < n; i++ {
		w.now--
		f(w, i)
	}
}

func (*waiting) Did(int) {}

// TestLoopyHidesItsParallelism: nothing but the rest of the loop is ready, however long the loop is.
func TestLoopyHidesItsParallelism(t *testing.T) {
	for _, n := range []int{2, 3, 50} {
		p, err := loopy.Program(n, 0, valuesFor(t, loopy, "iterations=1"))
		require.NoError(t, err)
		w := new(waiting)
		p.(Teamwork).RunOn(w)
		require.Equal(t, waiting{0, 1}, *w)
	}
}

// TestTeams: every team makes every call once, with more calls than there is room for on the stack, too.
func TestTeams(t *testing.T) {
	for _, n := range []int{1, 2, fewForks + 1, fewForks + 2, 100} {
		calls := make([]atomic.Int32, n)
		program := calling(func(t Team) {
			t.Did(1)
			t.Each(n, func(t Team, i int) {
				t.Did(1)
				t.Each(1, func(Team, int) { calls[i].Add(1) })
			})
		})
		ex, err := executor.New(executor.Config{Workers: 3})
		require.NoError(t, err)
		program.RunOn(inTurn{})
		program.RunOn(onGoroutines{&spawner{most: 5}})
		require.NoError(t, RunOn(ex, program, nil))
		require.NoError(t, ex.Close())
		for i := range calls {
			require.EqualValues(t, 3, calls[i].Load(), "call %d of %d", i, n)
		}
	}
}

// TestGround: the formula is right for every number of steps.
func TestGround(t *testing.T) {
	for n := range 300 {
		require.Equal(t, grind(uint64(n)*12345, n), ground(uint64(n)*12345, n), "n=%d", n)
	}
}
