package parallel_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

func TestIndexFunc(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		for _, n := range lengths {
			for _, at := range []int{0, 1, n / 2, n - 1, n, n + 5} {
				s := make([]int, n)
				for i := at; i < n && i >= 0; i += 3 {
					s[i] = 1
				}
				want := slices.Index(s, 1)
				got, err := parallel.IndexFunc(t.Context(), o, s, func(x int) bool { return x == 1 })
				require.NoError(t, err)
				require.Equal(t, want, got)
				any, err := parallel.ContainsFunc(t.Context(), o, s, func(x int) bool { return x == 1 })
				require.NoError(t, err)
				require.Equal(t, want >= 0, any)
			}
		}
	})
}

// After the first match the workers look at few more elements.
func TestContainsFuncStopsEarly(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	defer ex.Close()
	var looks atomic.Int64
	s := make([]int, 20_000_000)
	found, err := parallel.ContainsFunc(t.Context(), parallel.Options{Executor: ex}, s, func(int) bool {
		return looks.Add(1) >= 1000
	})
	require.NoError(t, err)
	require.True(t, found)
	require.Less(t, looks.Load(), int64(len(s)/10))
}

// After an element was found another worker looks at the rest of 64 elements, and with a Grain of 1 at no more.
func TestContainsFuncLooksOn(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 2, Threads: host.Threads{OnlyBlocking: true}})
	require.NoError(t, err)
	defer ex.Close()
	for grain, most := range map[int]int64{0: 63, 1: 0, 10: 9, 100: 63} {
		var found atomic.Bool
		var after atomic.Int64
		begun := make(chan struct{})
		ok, err := parallel.ContainsFunc(t.Context(), parallel.Options{Executor: ex, Grain: grain}, indices(1024),
			func(i int) bool {
				if found.Load() {
					after.Add(1)
				}
				switch i {
				case 0:
					close(begun)
					testkit.Until(t, "only this worker runs", func() bool {
						return found.Load() && ex.Stats().Gauges.Active == 1
					})
				case 512:
					<-begun
					found.Store(true)
					return true
				}
				return false
			})
		require.NoError(t, err)
		require.True(t, ok)
		require.LessOrEqual(t, after.Load(), most, "Grain %d", grain)
	}
}
