package parallel_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/internal/fixture"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

var errTest = errors.New("test")

// onEach runs a test on executors with several numbers of workers, deques, ways to fork and grains. With the default
// kind of deque all combinations are run; with each other kind one, and the seed chooses how it forks. If tests are to
// be quick, the seed chooses one way to fork for each number of workers.
func onEach(t *testing.T, test func(t *testing.T, o parallel.Options)) {
	turn := int(testkit.Seed(t) % 1024)
	for _, workers := range []int{1, 2, 4} {
		on := func(d deque.Kind, forks string, grains ...int) {
			ex, err := fixture.New(t, fixture.Beside(t, executor.Config{
				Workers: workers, Experiment: experiment.Options{Deque: d, Forks: forks},
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
		some := ways
		if testkit.Quick() {
			some = ways[(turn+workers)%len(ways):][:1]
		}
		for _, forks := range some {
			on(deque.KindChaseLev, forks, 0, 1, 7, 100_000)
		}
		for i, d := range deque.Kinds() {
			if d != deque.KindChaseLev && !d.FIFO() && workers == 2 { // loops fork
				on(d, ways[(turn+i)%len(ways)], 0)
			}
		}
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
