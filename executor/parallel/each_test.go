package parallel_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
)

// A loop over a sequence ends in every way, anywhere: the body is called once for each element that was taken before
// the end, the sequence has returned when the loop has, and no body runs.
func TestForEachAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	inline := executor.NewInline(rng.Uint64())
	executors := append(executorsForBounds(t), inline)
	events := []string{"", "body fails", "body panics", "source panics", "source exits", "body exits", "cancelled"}
	for range testkit.Scale(2000) {
		ex := executors[rng.IntN(len(executors))]
		o := parallel.Options{Executor: ex, Grain: rng.IntN(4), MaxAhead: rng.IntN(6), Workers: rng.IntN(3)}
		n, at, event := rng.IntN(200), rng.IntN(200), events[rng.IntN(len(events))]
		about := fmt.Sprintf("%+v on %d workers: %s at %d of %d", o, ex.Workers(), event, at, n)
		var mu sync.Mutex
		var got []int
		var running atomic.Int64
		returned := false
		ctx, cancel := context.WithCancelCause(t.Context())
		source := func(yield func(int) bool) {
			defer func() { returned = true }()
			for i := range n {
				switch {
				case i == at && event == "source panics":
					panic("source")
				case i == at && event == "source exits":
					runtime.Goexit()
				}
				if !yield(i) {
					return
				}
			}
		}
		loop := func(ctx context.Context) error {
			return parallel.ForEachErr(ctx, o, source, func(_ context.Context, i int) error {
				running.Add(1)
				defer running.Add(-1)
				mu.Lock()
				got = append(got, i)
				mu.Unlock()
				if i != at {
					return nil
				}
				switch event {
				case "body fails":
					return errTest
				case "body panics":
					panic("body")
				case "body exits":
					runtime.Goexit()
				case "cancelled":
					cancel(errTest)
				}
				return nil
			})
		}
		var err error
		testkit.Within(t, testkit.Patience, func() {
			inTask := rng.IntN(2) == 0
			err = executor.ErrGoexit // if a task ends this goroutine
			done := make(chan struct{})
			go func() {
				defer close(done)
				if inTask {
					task := func(s *executor.Scope) error { return loop(s.Context()) }
					err = ex.Run(ctx, executor.NewJob("task", task))
				} else {
					err = loop(ctx)
				}
			}()
			<-done
		})
		cancel(nil)
		require.Zero(t, running.Load(), about)
		require.True(t, returned, about)
		slices.Sort(got)
		require.Equal(t, len(got), len(slices.Compact(slices.Clone(got))), about)
		var panicked *executor.PanicError
		switch happens := at < n; {
		case !happens || event == "":
			require.NoError(t, err, about)
			require.Len(t, got, n, about)
		case event == "cancelled":
			if len(got) < n {
				require.ErrorIs(t, err, errTest, about)
			}
		case event == "body fails":
			require.ErrorIs(t, err, errTest, about)
		case event == "source exits" || event == "body exits":
			require.ErrorIs(t, err, executor.ErrGoexit, about)
		default:
			require.ErrorAs(t, err, &panicked, about)
		}
	}
	require.NoError(t, inline.Close())
}

// MaxAhead bounds how far the sequence is ahead of the calls: each worker may have taken a batch and not begun it, and
// one element has been made and not been passed on.
func TestForEachMaxAhead(t *testing.T) {
	for _, ex := range executorsForBounds(t) {
		for _, ahead := range []int{1, 2, 7, 50} {
			var made, begun, most atomic.Int64
			o := parallel.Options{Executor: ex, Grain: 1, MaxAhead: ahead}
			err := parallel.ForEach(t.Context(), o, func(yield func(int) bool) {
				for i := range 1000 {
					most.Store(max(most.Load(), made.Add(1)-begun.Load()))
					if !yield(i) {
						return
					}
				}
			}, func(int) { begun.Add(1) })
			require.NoError(t, err)
			workers := ex.Workers()
			require.LessOrEqual(t, most.Load(), int64(max(ahead, workers)+workers+1))
		}
	}
}

// With a Grain of 1, a sequence may wait for the calls: each element is there for others at once.
func TestForEachSequenceThatWaits(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ex, err := executor.New(executor.Config{Workers: workers})
		require.NoError(t, err)
		answers := make(chan int, 1)
		sum := 0
		testkit.Within(t, testkit.Patience, func() {
			err = parallel.ForEach(t.Context(), parallel.Options{Executor: ex, Grain: 1}, func(yield func(int) bool) {
				for i := range 100 {
					if !yield(i) {
						return
					}
					executor.Blocking(func() { sum += <-answers })
				}
			}, func(i int) { answers <- i })
		})
		require.NoError(t, err)
		require.Equal(t, 4950, sum)
		require.NoError(t, ex.Close())
	}
}

// Bodies in Blocking may wait for later elements, and seq for all of them, though there are more than workers: a spare
// runs each batch that the seq has passed on. With Options.Workers that takes a worker for each that waits.
func TestForEachBodiesThatWait(t *testing.T) {
	const n = 10
	for _, workers := range []int{1, 2} {
		ex, err := executor.New(executor.Config{Workers: workers})
		require.NoError(t, err)
		for _, limit := range []int{0, n + 1} {
			o := parallel.Options{Executor: ex, Grain: 1, MaxAhead: 2 * n, Workers: limit}
			var begun atomic.Int64
			all := make(chan struct{})
			testkit.Within(t, testkit.Patience, func() {
				err = parallel.ForEach(t.Context(), o, func(yield func(int) bool) {
					for i := 0; i < n && yield(i); i++ {
					}
					executor.Blocking(func() { <-all })
				}, func(int) {
					if begun.Add(1) == n {
						close(all)
					}
					executor.Blocking(func() { <-all })
				})
			})
			require.NoError(t, err)
			require.Equal(t, int64(n), begun.Load())
		}
		require.NoError(t, ex.Close())
	}
}

// A loop keeps no element whose call has ended, even of a batch that is not done.
func TestForEachForgets(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 1})
	require.NoError(t, err)
	defer ex.Close()
	type big [1 << 10]byte
	var made []weak.Pointer[big]
	calls := 0
	err = parallel.ForEach(t.Context(), parallel.Options{Executor: ex, Grain: 10}, func(yield func(*big) bool) {
		for range 10 {
			b := new(big)
			made = append(made, weak.Make(b))
			if !yield(b) {
				return
			}
		}
	}, func(*big) {
		if calls++; calls == 10 {
			runtime.GC()
			for _, p := range made[:9] {
				require.Nil(t, p.Value())
			}
		}
	})
	require.NoError(t, err)
	require.Equal(t, 10, calls)
}

// With a Grain as large as MaxAhead there are elements for another worker, too, while one runs a batch.
func TestForEachGrainAndMaxAhead(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 2, Spares: -1})
	require.NoError(t, err)
	defer ex.Close()
	busy, free, another := make(chan struct{}), make(chan struct{}), make(chan struct{})
	first := ex.Start(t.Context(), executor.NewJob("busy", func(*executor.Scope) error {
		close(busy)
		<-free
		return nil
	}))
	<-busy // so the worker that iterates takes the first batch
	var calls atomic.Int64
	testkit.Within(t, testkit.Patience, func() {
		o := parallel.Options{Executor: ex, Grain: 4, MaxAhead: 4}
		err = parallel.ForEach(t.Context(), o, count(20), func(int) {
			switch calls.Add(1) {
			case 1:
				close(free)
				<-another
			case 2:
				close(another)
			}
		})
	})
	require.NoError(t, err)
	require.NoError(t, first.Wait())
}
