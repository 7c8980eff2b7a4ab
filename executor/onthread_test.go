package executor_test

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestThreadTable compares the table of threads with a map. Threads that have ended leave no entries for ever.
func TestThreadTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	table := executor.NewThreadTable()
	workers := make([]executor.Worker, 5)
	known := make(map[int64]*executor.Worker)
	numbers := []int64{0, -1, 1, math.MinInt64 + 1, math.MaxInt64}
	for range 200 {
		numbers = append(numbers, 0x7f00_0000_0000+rng.Int64N(1<<20)<<6)
	}
	for range testkit.Scale(20_000) {
		self := numbers[rng.IntN(len(numbers))]
		if rng.IntN(3) == 0 {
			table.End(self)
			delete(known, self)
		} else {
			w := &workers[rng.IntN(len(workers))]
			if rng.IntN(3) == 0 {
				w = nil
			}
			table.Set(self, w)
			known[self] = w
		}
		got, stays := table.Find(self)
		want, ok := known[self]
		require.True(t, want == got, "thread %d", self)
		require.Equal(t, ok, stays)
	}
	for _, self := range numbers {
		got, stays := table.Find(self)
		want, ok := known[self]
		require.True(t, want == got, "thread %d", self)
		require.Equal(t, ok, stays)
	}
	for self := range int64(testkit.Scale(50_000)) { // threads that come and go
		table.Set(1<<40+self, &workers[0])
		table.End(1<<40 + self)
	}
	require.LessOrEqual(t, table.Size(), 4096)
	for self, w := range known {
		got, stays := table.Find(self)
		require.True(t, w == got, "thread %d", self)
		require.True(t, stays)
	}
}

// TestThreadTableAtOnce: each thread finds its own worker while others come and go. Where the system tells which
// threads have ended, those that have had guests leave no entries for ever, and others may have their numbers.
func TestThreadTableAtOnce(t *testing.T) {
	for _, tells := range []bool{false, true} {
		threadsAtOnce(t, tells)
	}
}

func threadsAtOnce(t *testing.T, tells bool) {
	const threads, numbers = 8, 50
	table := executor.NewThreadTable()
	var alive [threads * numbers]atomic.Bool
	if tells {
		table.TellGone(func(self int64) bool { return !alive[self/64-1].Load() })
	}
	var all sync.WaitGroup
	for i := range int64(threads) {
		all.Go(func() {
			var mine executor.Worker
			for round := range int64(testkit.Scale(5000)) {
				number := i + threads*(round%numbers)
				self := 64 * (1 + number)
				alive[number].Store(true)
				table.Set(self, &mine)
				for range 3 {
					if w, _ := table.Find(self); w != &mine {
						t.Errorf("thread %d finds another worker", self)
					}
				}
				if round%3 == 0 {
					table.End(self)
				} else {
					table.Set(self, nil)
				}
				alive[number].Store(false)
			}
		})
	}
	all.Wait()
	if tells {
		require.LessOrEqual(t, table.Size(), 8*threads)
	}
}

// TestThreadTableNumberAgain: a new thread that gets the number of one that is just found to be gone keeps its worker.
func TestThreadTableNumberAgain(t *testing.T) {
	table := executor.NewThreadTable()
	var mine, other executor.Worker
	table.Set(1, nil)
	asked := 0
	table.TellGone(func(self int64) bool {
		if asked++; asked == 1 {
			table.Set(1, &mine) // the answer is out of date
			return true
		}
		return false
	})
	for self := int64(2); asked == 0; self++ {
		table.Set(self, &other)
	}
	w, stays := table.Find(1)
	require.True(t, w == &mine)
	require.True(t, stays)
}
