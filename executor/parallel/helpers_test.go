package parallel_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/internal/fixture"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

var errTest = errors.New("test")

// onEach runs a test on executors with several numbers of workers, deques, ways to fork and grains. With the default
// kind of deque all combinations are run; with each other kind one, and the seed chooses how it forks. If tests are to
// be quick, the seed chooses one way to fork and two grains for each number of workers, and two of the other kinds.
func onEach(t *testing.T, test func(t *testing.T, o parallel.Options)) {
	onEachWith(t, host.Threads{}, test)
}

// onEachWith is onEach on executors with such threads.
func onEachWith(t *testing.T, threads host.Threads, test func(t *testing.T, o parallel.Options)) {
	rng := testkit.Drawer(t)
	turn := rng.IntN(1024)
	on := func(workers int, d deque.Kind, forks string, grains ...int) {
		ex, err := fixture.New(t, fixture.Beside(t, executor.Config{
			Workers: workers, Threads: threads, Experiment: experiment.Options{Deque: d, Forks: forks},
		}))
		require.NoError(t, err)
		for _, grain := range grains {
			t.Run(fmt.Sprintf("W=%d/%v-%v/grain=%d", workers, d, forks, grain), func(t *testing.T) {
				testkit.Within(t, testkit.Patience, func() { test(t, parallel.Options{Executor: ex, Grain: grain}) })
			})
		}
		require.NoError(t, ex.Close())
	}
	ways := experiment.Forks()
	for _, workers := range []int{1, 2, 4} {
		some, grains := ways, []int{0, 1, 7, 100_000}
		if testkit.Quick() {
			some, grains = ways[(turn+workers)%len(ways):][:1], testkit.DrawBy(rng, grains, 1, 1)
		}
		for _, forks := range some {
			on(workers, deque.KindChaseLev, forks, grains...)
		}
	}
	others := slices.DeleteFunc(slices.Clone(deque.Kinds()), func(d deque.Kind) bool {
		return d == deque.KindChaseLev || d.FIFO() // loops fork
	})
	if testkit.Quick() {
		others = testkit.DrawBy(rng, others, 0, 2)
	}
	for i, d := range others {
		on(2, d, ways[(turn+i)%len(ways)], 0)
	}
}

var lengths = []int{0, 1, 2, 3, 7, 8, 100, 1000, 4099, testkit.Scale(20_000)}

func numbers(rng *rand.Rand, n, most int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = rng.IntN(most)
	}
	return s
}
