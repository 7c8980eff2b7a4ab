package pool_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/internal/fixture"
	"github.com/magpie-go/magpie/executor/pool"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

var errTest = errors.New("the test's own error")

func newExecutor(t testing.TB, c executor.Config) *executor.Executor {
	t.Helper()
	ex, err := fixture.New(t, fixture.Beside(t, c))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ex.Close()) })
	return ex
}

func newPool(t testing.TB, o pool.Options) *pool.Pool {
	t.Helper()
	p, err := pool.New("test", o)
	require.NoError(t, err)
	return p
}

// everyOptions returns every queue with every way to steal from it and to be idle.
func everyOptions() (all []pool.Options) {
	for _, q := range pool.Queues() {
		for _, s := range pool.Stealings() {
			for _, i := range pool.Idles() {
				if s == pool.NoStealing || q.Steals() {
					all = append(all, pool.Options{Queue: q, Stealing: s, Idle: i})
				}
			}
		}
	}
	return all
}

// A ledger counts the runs of each task.
type ledger struct{ ran []atomic.Int32 }

func (l *ledger) fill(p *pool.Pool, tasks int, also func(i int, t *pool.Task) error) {
	l.ran = make([]atomic.Int32, tasks)
	for i := range tasks {
		p.AddPriority(i%3, func(t *pool.Task) error {
			if t.Number() != i {
				return fmt.Errorf("task %d has number %d", i, t.Number())
			}
			l.ran[i].Add(1)
			return also(i, t)
		})
	}
}

// total returns how many tasks ran. No task ran more often than most times.
func (l *ledger) total(t *testing.T, most int32) (total int) {
	for i := range l.ran {
		n := l.ran[i].Load()
		require.LessOrEqual(t, n, most, "task %d", i)
		total += int(n)
	}
	return total
}

// TestEverywhere: on every policy and kind of deque, with any number of workers, every kind of pool runs each task
// once.
func TestEverywhere(t *testing.T) {
	for _, policy := range testkit.Some(t, testkit.Usable(experiment.Policies(), experiment.Available)) {
		for _, kind := range deque.Kinds() {
			for _, workers := range testkit.Part(t, []int{1, 2, 4}) {
				ex := newExecutor(t, executor.Config{Workers: workers, Experiment: experiment.Options{Policy: policy, Deque: kind}})
				for _, o := range everyOptions() {
					const tasks = 150 // more than a worker runs between two looks at the injector
					p, l := newPool(t, o), new(ledger)
					l.fill(p, tasks, func(int, *pool.Task) error { return nil })
					testkit.Within(t, testkit.Patience, func() {
						require.NoError(t, ex.Run(t.Context(), p), "%v, %v, %d workers, %+v", policy, kind, workers, o)
					})
					require.Equal(t, tasks, l.total(t, 1))
					s := p.Stats()
					require.Equal(t, tasks, s.Total.Tasks)
					require.Len(t, s.Drainers, workers)
					require.False(t, s.Found)
				}
			}
		}
	}
}

// TestRandom: whatever the pool, the executor and the way in which the run ends, no task runs twice, every task runs if
// nothing ends the run early, and the statistics agree with the tasks. After the end was decided each drainer begins at
// most the task that it had already taken.
func TestRandom(t *testing.T) {
	guests.None(t)
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	every, stolen := everyOptions(), 0
	policies := testkit.Usable(experiment.Policies(), experiment.Available)
	for round := 0; round < testkit.Scale(400) || stolen == 0; round++ {
		o := every[rng.IntN(len(every))]
		o.Seed, o.Timed, o.Drainers = rng.Uint64(), rng.IntN(2) == 0, rng.IntN(5)
		workers := []int{1, 2, 4}[rng.IntN(3)]
		var ex *executor.Executor
		if inline := rng.IntN(4) == 0; inline {
			ex, workers = executor.NewInline(rng.Uint64()), 1
		} else {
			ex = newExecutor(t, executor.Config{
				Workers: workers,
				Experiment: experiment.Options{
					Policy: policies[rng.IntN(len(policies))], Deque: deque.Kinds()[rng.IntN(len(deque.Kinds()))],
				},
			})
		}
		ending := []string{"end", "found", "error", "panic", "goexit", "cancel"}[round%6]
		tasks, nested := 1+rng.IntN(80), rng.IntN(3) == 0
		at := rng.IntN(tasks)
		if ending == "goexit" && workers == 1 && !nested {
			nested = true // or it would end the test's goroutine on an inline executor
		}
		name := fmt.Sprintf("%+v, %d workers, %d tasks, %s at %d, nested %v", o, workers, tasks, ending, at, nested)
		ctx, cancel := context.WithCancelCause(t.Context())
		p, l := newPool(t, o), new(ledger)
		var decided atomic.Bool
		var late atomic.Int32
		l.fill(p, tasks, func(i int, task *pool.Task) error {
			if decided.Load() {
				late.Add(1)
			}
			switch i % 7 {
			case 1:
				runtime.Gosched()
			case 2:
				executor.Blocking(func() { time.Sleep(time.Microsecond) })
			}
			if i != at {
				return nil
			}
			switch ending {
			case "found":
				if !task.Found() || task.Found() {
					return errors.New("Found is not true once")
				}
				decided.Store(true)
				if context.Cause(task.Context()) != pool.ErrFound {
					return errors.New("the context has not ended")
				}
			case "error":
				return errTest
			case "panic":
				panic(errTest)
			case "goexit":
				runtime.Goexit()
			case "cancel":
				cancel(errTest)
				for task.Context().Err() == nil {
					runtime.Gosched()
				}
				decided.Store(true)
			}
			return nil
		})
		var err error
		testkit.Within(t, testkit.Patience, func() {
			if !nested {
				err = ex.Run(ctx, p)
				return
			}
			done := make(chan struct{})
			go func() { // Goexit ends the outer task too if that helps, and on an inline executor the goroutine
				defer close(done)
				outer := newPool(t, pool.Options{})
				outer.Add(func(*pool.Task) error { err = ex.Run(ctx, p); return nil })
				if err := ex.Run(t.Context(), outer); err != nil && ending != "goexit" {
					t.Error(err)
				}
			}()
			<-done
		})
		cancel(nil)
		s, ran := p.Stats(), l.total(t, 1)
		if ending == "goexit" && err == nil {
			continue // the task or goroutine that was to receive the error has ended
		}
		require.Equal(t, ran, s.Total.Tasks, name)
		require.Equal(t, ending == "found", s.Found, name)
		require.LessOrEqual(t, int(late.Load()), len(s.Drainers), name)
		var failed *pool.TaskError
		switch ending {
		case "end":
			require.NoError(t, err, name)
			require.Equal(t, tasks, ran, name)
		case "found":
			require.NoError(t, err, name)
		case "cancel":
			require.ErrorIs(t, err, errTest, name)
			require.False(t, errors.As(err, &failed), name)
		default:
			require.ErrorAs(t, err, &failed, name)
			require.Equal(t, at, failed.Task, name)
			if ending == "goexit" {
				require.ErrorIs(t, err, executor.ErrGoexit, name)
			} else {
				require.ErrorIs(t, err, errTest, name)
			}
		}
		var sum pool.DrainerStats
		for _, d := range s.Drainers {
			sum.Tasks += d.Tasks
			sum.Moved += d.Moved
			require.LessOrEqual(t, d.Steals, d.Moved, name)
			if !o.Timed {
				require.Zero(t, d.Busy+d.LockWait, name)
			}
		}
		require.Equal(t, []int{s.Total.Tasks, s.Total.Moved}, []int{sum.Tasks, sum.Moved}, name)
		if o.Stealing == pool.NoStealing {
			require.Zero(t, s.Total.Steals+s.Total.FailedSteals, name)
		}
		stolen += s.Total.Moved
	}
}

// TestBlockedDrainer: a drainer whose task waits keeps its queue without stealing, and loses it with stealing.
func TestBlockedDrainer(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	for _, s := range pool.Stealings()[1:] {
		p := newPool(t, pool.Options{Queue: pool.PerThread, Stealing: s})
		const tasks = 40
		var ran atomic.Int32
		for i := range tasks {
			p.Add(func(*pool.Task) error {
				if i == tasks-1 { // the first of drainer 1, whose other tasks are in its queue
					executor.Blocking(func() {
						for ran.Load() < tasks-1 {
							runtime.Gosched()
						}
					})
				}
				ran.Add(1)
				return nil
			})
		}
		testkit.Within(t, testkit.Patience, func() { require.NoError(t, ex.Run(t.Context(), p)) })
		require.EqualValues(t, tasks, ran.Load(), "%v", s)
		require.Positive(t, p.Stats().Total.Steals)
	}
}

// TestRunsOfOne: a pool runs again and again, and several times at once. Tasks that are added later belong to the runs
// that start later.
func TestRunsOfOne(t *testing.T) {
	for _, o := range everyOptions() {
		ex := newExecutor(t, executor.Config{Workers: 2})
		p := newPool(t, o)
		var sum atomic.Int64
		for i := range 50 {
			p.Add(func(*pool.Task) error { sum.Add(int64(i)); return nil })
		}
		testkit.Within(t, testkit.Patience, func() {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 5 {
						if err := ex.Run(t.Context(), p); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
		})
		require.EqualValues(t, 4*5*1225, sum.Load(), "%+v", o)
		p.Add(func(*pool.Task) error { sum.Store(-1); return nil })
		require.NoError(t, ex.Run(t.Context(), p))
		require.Equal(t, 51, p.Stats().Total.Tasks)
		require.Equal(t, 51, p.Len())
	}
}

// TestAddDuringRun: tasks may add tasks, at the same time. The run in progress does not run these, the next one does.
func TestAddDuringRun(t *testing.T) {
	for _, o := range everyOptions() {
		ex := newExecutor(t, executor.Config{Workers: 2})
		p := newPool(t, o)
		var late atomic.Int64
		for range 50 {
			p.Add(func(*pool.Task) error {
				p.Add(func(*pool.Task) error { late.Add(1); return nil })
				return nil
			})
		}
		require.NoError(t, ex.Run(t.Context(), p))
		require.Zero(t, late.Load(), "%+v", o)
		require.Equal(t, 100, p.Len())
		require.NoError(t, ex.Run(t.Context(), p))
		require.EqualValues(t, 50, late.Load(), "%+v", o)
	}
}

// TestSpinGivesWay: a drainer that spins and has the only free worker lets another drainer run that has none.
func TestSpinGivesWay(t *testing.T) {
	for _, o := range everyOptions() {
		o.Drainers = 4
		for _, workers := range []int{1, 2} {
			ex := newExecutor(t, executor.Config{Workers: workers})
			p, l := newPool(t, o), new(ledger)
			l.fill(p, 100, func(int, *pool.Task) error { return nil })
			testkit.Within(t, testkit.Patience, func() {
				outer := newPool(t, pool.Options{})
				outer.Add(func(*pool.Task) error { return ex.Run(t.Context(), p) })
				require.NoError(t, ex.Run(t.Context(), outer))
				require.NoError(t, ex.Run(t.Context(), p))
			})
			require.Equal(t, 200, l.total(t, 2))
		}
	}
}

func TestStats(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	p := newPool(t, pool.Options{Timed: true})
	require.NoError(t, ex.Run(t.Context(), p), "no tasks")
	require.Zero(t, p.Stats().Total)
	for range 3 {
		p.Add(func(*pool.Task) error { time.Sleep(time.Millisecond); return nil })
	}
	before := ex.Stats().Total.Tasks
	require.NoError(t, ex.Run(t.Context(), p))
	require.EqualValues(t, 3, ex.Stats().Total.Tasks-before, "the executor counts tasks, not the items of the pool")
	s := p.Stats()
	require.GreaterOrEqual(t, s.Total.Busy, 3*time.Millisecond)
	require.Equal(t, []pool.DrainerStats{s.Total}, s.Drainers)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, ex.Run(ctx, p), context.Canceled)
	require.Equal(t, s, p.Stats(), "the run has not begun")
}

func TestMistakes(t *testing.T) {
	for want, o := range map[string]pool.Options{
		"Options.Queue is 9: use one of [centralised perthread perthread-fifo priority]": {Queue: 9},
		"Options.Stealing is 9: use one of [off neighbour+one":                           {Stealing: 9},
		"Options.Stealing is neighbour+one, but all workers share the queue centralised: " +
			"set Stealing to off, or Queue to one of [perthread perthread-fifo]": {Stealing: pool.NeighbourOne},
		"Options.Idle is 9: use one of [leave spin]":                          {Idle: 9},
		"Options.Drainers is -1: give 1 to 4096, or 0 for the number of work": {Drainers: -1},
		"Options.Drainers is 5000":                                            {Drainers: 5000},
	} {
		p, err := pool.New("p", o)
		require.Nil(t, p)
		require.ErrorContains(t, err, want)
		require.True(t, strings.HasPrefix(err.Error(), `pool "p": `))
	}
	_, err := pool.New("p", pool.Options{Queue: 9, Stealing: 9, Idle: 9})
	require.Equal(t, 2, strings.Count(err.Error(), "\n"), "every error at once")
	p := newPool(t, pool.Options{})
	require.PanicsWithValue(t, `pool "test": a task needs a function, got nil`, func() { p.Add(nil) })
	require.Equal(t, "test", p.Name())
	require.Equal(t, pool.Options{}, p.Options())
}

func TestTaskError(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	p := newPool(t, pool.Options{})
	p.Add(func(*pool.Task) error { panic(errTest) })
	err := ex.Run(t.Context(), p)
	require.ErrorIs(t, err, errTest)
	require.Contains(t, err.Error(), `pool "test": task 0: `)
	require.NotContains(t, err.Error(), "goroutine ")
	require.Contains(t, fmt.Sprintf("%+v", err), "goroutine ")
}
