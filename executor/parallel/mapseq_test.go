package parallel_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
)

// The events that end a loop over results early, at one of them.
var seqEvents = []string{
	"", "loop leaves", "loop panics", "loop exits", "cancelled", "call fails", "call panics", "source panics",
	"source exits",
}

// A seqLoop is one range over the results of MapSeqErr, with the event at one of them.
type seqLoop struct {
	n, at int
	event string

	running  atomic.Int64
	returned bool
	most     int // how far the source was ahead of the loop
	got      []int
	err      error
	ended    bool // the loop has come to its end by itself
}

func (l *seqLoop) run(ctx context.Context, o parallel.Options) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	source := func(yield func(int) bool) {
		defer func() { l.returned = true }()
		for i := range l.n {
			switch {
			case i == l.at && l.event == "source panics":
				panic("source")
			case i == l.at && l.event == "source exits":
				runtime.Goexit()
			}
			l.most = max(l.most, i+1-len(l.got))
			if !yield(i) {
				return
			}
		}
	}
	for v, err := range parallel.MapSeqErr(ctx, o, source, func(_ context.Context, i int) (int, error) {
		l.running.Add(1)
		defer l.running.Add(-1)
		switch {
		case i == l.at && l.event == "call fails":
			return 0, errTest
		case i == l.at && l.event == "call panics":
			panic("call")
		}
		return 2 * i, nil
	}) {
		if err != nil {
			l.err = err
			continue // there is no other pair
		}
		l.got = append(l.got, v)
		if v != 2*l.at {
			continue
		}
		switch l.event {
		case "loop leaves":
			return
		case "loop panics":
			panic("loop")
		case "loop exits":
			runtime.Goexit()
		case "cancelled":
			cancel(errTest)
		}
	}
	l.ended = true
}

func (l *seqLoop) check(t *testing.T, about string) {
	require.True(t, l.returned, about)
	require.Zero(t, l.running.Load(), about)
	for i, v := range l.got {
		require.Equal(t, 2*i, v, about)
	}
	happens := l.event != "" && l.at < l.n
	byItself := !happens || l.event == "cancelled" || l.event == "call fails" || l.event == "call panics"
	require.Equal(t, byItself, l.ended, about)
	switch {
	case !happens:
		require.NoError(t, l.err, about)
		require.Len(t, l.got, l.n, about)
	case l.event == "cancelled":
		if len(l.got) < l.n {
			require.ErrorIs(t, l.err, errTest, about)
		}
	case l.event == "call fails":
		require.Equal(t, errTest, l.err, about)
		require.LessOrEqual(t, len(l.got), l.at, about)
	case l.event == "call panics":
		var panicked *executor.PanicError
		require.ErrorAs(t, l.err, &panicked, about)
		require.LessOrEqual(t, len(l.got), l.at, about)
	case l.event == "source panics" || l.event == "source exits":
		require.LessOrEqual(t, len(l.got), l.at, about)
	default:
		require.NoError(t, l.err, about)
		require.Len(t, l.got, l.at+1, about)
	}
}

// Results are those of the elements, in order, wherever the loop is and however it ends. When it has ended, the
// sequence has returned, and no call is in progress.
func TestMapSeqAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	alone, err := executor.New(executor.Config{Workers: 1, Spares: -1})
	require.NoError(t, err)
	defer alone.Close()
	inline := executor.NewInline(rng.Uint64())
	executors := append(executorsForBounds(t), alone, inline)
	for range testkit.Scale(4000) {
		ex := executors[rng.IntN(len(executors))]
		o := parallel.Options{Executor: ex, MaxAhead: rng.IntN(6), Workers: rng.IntN(3)}
		l := &seqLoop{n: rng.IntN(100), at: rng.IntN(100), event: seqEvents[rng.IntN(len(seqEvents))]}
		in := executors[rng.IntN(len(executors))]
		place := rng.IntN(3)
		about := fmt.Sprintf("%+v on %d workers, place %d: %s at %d of %d", o, ex.Workers(), place, l.event, l.at, l.n)
		testkit.Within(t, testkit.Patience, func() {
			var wg sync.WaitGroup
			wg.Go(func() {
				defer func() { _ = recover() }()
				switch place {
				case 0:
					l.run(t.Context(), o)
				case 1: // in a task, perhaps of another executor
					_ = in.Run(t.Context(), executor.NewJob("task", func(s *executor.Scope) error {
						l.run(s.Context(), o)
						return nil
					}))
				case 2:
					_ = ex.Run(t.Context(), executor.NewJob("task", func(s *executor.Scope) error {
						o.Executor = nil
						l.run(s.Context(), o)
						return nil
					}))
				}
			})
			wg.Wait()
		})
		l.check(t, about)
		if o.MaxAhead > 0 {
			require.LessOrEqual(t, l.most, max(o.MaxAhead, ex.Workers()), about)
		}
	}
	require.NoError(t, inline.Close())
}

// The sequence may be ranged over again, by several loops at the same time, and by a loop in another's body.
func TestMapSeqAgain(t *testing.T) {
	for _, ex := range executorsForBounds(t) {
		o := parallel.Options{Executor: ex}
		doubles := parallel.MapSeq(t.Context(), o, count(50), func(i int) int { return 2 * i })
		all := func() (sum int) {
			for v, err := range doubles {
				if err == nil {
					sum += v
				}
			}
			return sum
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { require.Equal(t, 2450, all()) })
		}
		wg.Wait()
		sum := 0
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("nested", func(*executor.Scope) error {
			for range doubles {
				sum += all()
			}
			return nil
		})))
		require.Equal(t, 50*2450, sum)
	}
}

// No more workers than Options.Workers call the function, and as many do.
func TestMapSeqWorkers(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 4, Threads: host.Threads{OnlyBlocking: true}})
	require.NoError(t, err)
	defer ex.Close()
	var running, most atomic.Int64
	o := parallel.Options{Executor: ex, Workers: 2, MaxAhead: 8}
	for _, err := range parallel.MapSeq(t.Context(), o, count(200), func(int) int {
		now := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
		}
		runtime.Gosched()
		return 0
	}) {
		require.NoError(t, err)
	}
	require.LessOrEqual(t, most.Load(), int64(2))
}

// The error of a run that does not begin is that of the only pair, and nothing is called.
func TestMapSeqOfNoRun(t *testing.T) {
	closed, err := executor.New(executor.Config{Workers: 1})
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	pairs := 0
	for _, err := range parallel.MapSeq(t.Context(), parallel.Options{Executor: closed},
		func(func(int) bool) { t.Error("called") }, func(int) int { t.Error("called"); return 0 }) {
		require.ErrorIs(t, err, executor.ErrClosed)
		pairs++
	}
	require.Equal(t, 1, pairs)

	ex := executorsForBounds(t)[0]
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTest)
	for _, err := range parallel.MapSeq(ctx, parallel.Options{Executor: ex}, count(5), func(int) int {
		t.Error("called")
		return 0
	}) {
		require.ErrorIs(t, err, errTest)
	}
	require.PanicsWithValue(t, "parallel: MapSeq of a nil sequence", func() {
		parallel.MapSeq(t.Context(), parallel.Options{}, nil, func(int) int { return 0 })
	})
}

// A loop keeps no element and no result that it has gone past.
func TestMapSeqForgets(t *testing.T) {
	ex := executorsForBounds(t)[1]
	type big [1 << 10]byte
	var made []weak.Pointer[big]
	elements := func(yield func(*big) bool) {
		for range 20 {
			b := new(big)
			made = append(made, weak.Make(b))
			if !yield(b) {
				return
			}
		}
	}
	results := parallel.MapSeq(t.Context(), parallel.Options{Executor: ex}, elements, func(b *big) *big { return b })
	next, stop := iter.Pull2(results)
	defer stop()
	for range 20 {
		_, err, ok := next()
		require.NoError(t, err)
		require.True(t, ok)
	}
	testkit.Until(t, "no element but the last, which Pull2 has, is kept", func() bool {
		runtime.GC()
		return !slices.ContainsFunc(made[:19], func(p weak.Pointer[big]) bool { return p.Value() != nil })
	})
}

// In a bubble, an inline executor runs a loop whose sequence sleeps.
func TestMapSeqInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := executor.NewInline(1)
		begun, n := time.Now(), 0
		for _, err := range parallel.MapSeq(t.Context(), parallel.Options{Executor: ex}, func(yield func(int) bool) {
			for i := 0; yield(i) && i < 9; i++ {
				time.Sleep(time.Hour)
			}
		}, func(i int) int { return i }) {
			require.NoError(t, err)
			require.Equal(t, time.Duration(n)*time.Hour, time.Since(begun)) // each result comes at once
			n++
		}
		require.Equal(t, 10, n)
		require.NoError(t, ex.Close())
	})
}

// Observers are told of each call, and of those that are left out.
func TestMapSeqObserved(t *testing.T) {
	var begun, skipped atomic.Int64
	ex, err := executor.New(executor.Config{Workers: 1, Observers: []*executor.Observer{{
		TaskBegin: func(e *executor.Event) {
			if e.Task.Set.Job == "parallel.MapSeqErr" {
				begun.Add(1)
			}
		},
		TaskSkip: func(*executor.Event) { skipped.Add(1) },
	}}})
	require.NoError(t, err)
	var last error
	for _, err := range parallel.MapSeqErr(t.Context(), parallel.Options{Executor: ex}, count(100),
		func(_ context.Context, i int) (int, error) {
			if i == 5 {
				return 0, errTest
			}
			return i, nil
		}) {
		last = err
	}
	require.Equal(t, errTest, last)
	require.NoError(t, ex.Close())
	require.GreaterOrEqual(t, begun.Load(), int64(6))
	require.LessOrEqual(t, begun.Load()+skipped.Load(), int64(6+4))
}

// Calls that are left out are no tasks that were run, also without observers.
func TestMapSeqCountsWhatItLeavesOut(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 1, Spares: -1})
	require.NoError(t, err)
	defer ex.Close()
	const n = 50
	given := make(chan struct{})
	source := func(yield func(int) bool) {
		defer close(given)
		count(n)(yield)
	}
	before := ex.Stats()
	for _, err := range parallel.MapSeqErr(t.Context(), parallel.Options{Executor: ex, MaxAhead: 2 * n}, source,
		func(context.Context, int) (int, error) {
			<-given
			return 0, errTest
		}) {
		require.Equal(t, errTest, err)
	}
	total := ex.Stats().Sub(before).Total
	require.EqualValues(t, 1, total.Tasks)
	require.EqualValues(t, n-1, total.Skipped)
}

// A sequence may go on where an iter.Pull of the loop's function is: the loop iterates on its own goroutine.
func TestMapSeqOfPulled(t *testing.T) {
	for _, ex := range executorsForBounds(t) {
		all := func(ctx context.Context) (got []int) {
			next, stop := iter.Pull(count(100))
			defer stop()
			_, _ = next()
			rest := func(yield func(int) bool) {
				for x, ok := next(); ok && yield(x); x, ok = next() {
				}
			}
			o := parallel.Options{Executor: ex, MaxAhead: 2}
			for x, err := range parallel.MapSeq(ctx, o, rest, func(x int) int { return x }) {
				require.NoError(t, err)
				got = append(got, x)
			}
			return got
		}
		want := indices(100)[1:]
		require.Equal(t, want, all(t.Context()))
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("task", func(s *executor.Scope) error {
			require.Equal(t, want, all(s.Context()))
			return nil
		})))
	}
}
