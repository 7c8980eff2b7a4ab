package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/internal/fixture"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// A foe misuses an executor, as its seed chooses. Only one goroutine uses it.
type foe struct {
	*rand.Rand
	ex *executor.Executor
}

func newFoe(ex *executor.Executor, seed uint64) *foe { return &foe{rand.New(rand.NewPCG(seed, 0)), ex} }

func (f *foe) chance(n int) bool { return f.IntN(n) == 0 }

// context returns a context that may be hostile, at once or later, and a function that ends it.
func (f *foe) context(parent context.Context) (context.Context, context.CancelFunc) {
	live, cancel := context.WithCancel(parent)
	c := hostile{Context: live, done: f.chance(8), err: f.chance(4), value: f.chance(6), after: f.chance(6),
		stop: f.chance(3)}
	if f.chance(2) {
		c.late = new(atomic.Bool)
		if turn := c.late; f.chance(2) {
			context.AfterFunc(live, func() { turn.Store(true) })
		}
	}
	if f.chance(6) {
		c.says = func() error { return nil }
	} else if f.chance(6) {
		c.says = func() error {
			if err := live.Err(); err != nil {
				return uncomparable{err.Error()}
			}
			return nil
		}
	}
	// Package context asks a context without AfterFunc for Err on a goroutine of its own once Done is closed, unless
	// Done is that of a context of its own: what panics there ends the process, and so does an Err of nil. So no other
	// is made here.
	switch f.IntN(3) {
	case 0:
		return &c, cancel
	case 1:
		c.err, c.value, c.says = false, false, nil
		return newStopper(c), cancel
	default:
		return live, cancel
	}
}

// error returns what a task may return.
func (f *foe) error(ctx context.Context) error {
	circle := &chained{}
	circle.err = circle
	switch f.IntN(9) {
	case 0:
		return circle
	case 1:
		return badError{}
	case 2:
		return uncomparable{"a"}
	case 3:
		return bearer{uncomparable{"a"}}
	case 4:
		return fmt.Errorf("wrapped: %w", context.Cause(ctx))
	case 5:
		return errTest
	default:
		return nil
	}
}

// act is what a task does.
func (f *foe) act(ctx context.Context, depth int) error {
	switch n := f.IntN(14); {
	case n == 0:
		panic(f.error(context.Background()))
	case n == 1:
		runtime.Goexit()
	case n == 2:
		panic(badError{})
	case n < 6 && depth > 0:
		f.attack(ctx, depth-1)
	case n == 6:
		executor.Blocking(runtime.Gosched)
	case n == 7:
		runtime.Gosched()
	}
	return f.error(ctx)
}

// attack makes one call of the public API. Its caller recovers from a panic.
func (f *foe) attack(parent context.Context, depth int) {
	defer func() { _ = recover() }()
	ctx, cancel := f.context(parent)
	defer cancel()
	if f.chance(4) {
		cancel()
	}
	ex := f.ex
	seed := f.Uint64()
	task := func(i int) func(context.Context) error { // the same each time it is called
		return func(ctx context.Context) error { return newFoe(ex, seed+uint64(i)).act(ctx, depth) }
	}
	switch f.IntN(9) {
	case 0:
		jobs := []executor.Job{
			nil, (*graph.Graph)(nil), &pipeline.Pipeline{},
			badJob(func() (*executor.Item, error) { panic("Begin") }),
			badJob(func() (*executor.Item, error) { return &executor.Item{}, nil }),
			badJob(func() (*executor.Item, error) { return nil, f.error(ctx) }),
			badJob(func() (*executor.Item, error) { return &executor.Item{Body: &executor.Body{}}, errTest }),
		}
		_ = ex.Run(ctx, jobs[f.IntN(len(jobs))])
	case 1, 2:
		g := graph.New("g")
		var tasks []graph.Task
		for i := range 6 {
			tasks = append(tasks, g.Task(task(i)))
			if i > 0 && f.chance(2) {
				tasks[f.IntN(i)].Precede(tasks[i])
			}
		}
		sub := func(_ context.Context, sub *graph.Graph) error { sub.Task(task(6)); return nil }
		if f.chance(3) {
			g.DetachedSubflow(sub)
		} else if f.chance(3) {
			g.Subflow(sub)
		}
		r := ex.Start(ctx, g)
		if f.chance(2) {
			r.Cancel(f.error(context.Background()))
		}
		_ = r.Wait()
	case 3, 4:
		_ = ex.Run(ctx, executor.NewJob("f", func(s *executor.Scope) error {
			for i := range 3 {
				s.Go(task(i))
				s.Spawn(func(s *executor.Scope) error { s.Go(task(3 + i)); return s.Wait() })
			}
			forked := executor.Fork(s, func(s *executor.Scope, i int) error { return task(i)(s.Context()) }, 6)
			err := s.Wait()
			return errors.Join(err, forked.Join(s))
		}))
	case 5:
		fn := func(i int) func(context.Context) (int, error) {
			return func(ctx context.Context) (int, error) { return i, task(i)(ctx) }
		}
		first := executor.Async(ctx, ex, fn(0))
		if f.chance(2) {
			first.Cancel(nil)
		}
		after := []executor.Awaitable{first, nil, (*executor.Future[int])(nil), new(executor.Future[int])}
		second := executor.Async(ctx, ex, fn(1), after[:1+f.IntN(2)*f.IntN(4)]...)
		_, _ = second.Wait()
	case 6:
		_, _ = executor.First(ctx, ex, func(ctx context.Context) (int, error) { return 0, task(0)(ctx) },
			func(ctx context.Context) (int, error) { return 1, task(1)(ctx) })
	case 7:
		p, err := pipeline.New("p", 2, pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
			if t.Number() == 5 {
				t.Stop()
				return nil
			}
			return task(0)(t.Context())
		}}, pipeline.Stage{Run: func(t *pipeline.Token) error { return task(1 + t.Line())(t.Context()) }})
		if err == nil {
			_ = ex.Run(ctx, p)
		}
	case 8:
		_ = parallel.For(ctx, parallel.Options{Executor: ex}, 0, 20, func(i int) { _ = task(i)(ctx) })
	}
}

// However an executor is misused, if everything that has begun can end, Close returns and leaves no goroutine and no
// thread.
func TestRandomHostility(t *testing.T) {
	guests.None(t)
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	goroutines := runtime.NumGoroutine()
	for range max(5, testkit.Scale(60)) {
		cfg := oneOf(rng, openStores).in(executor.Config{
			Workers: 1 + rng.IntN(3), Spares: 1 + rng.IntN(2), Experiment: experiment.Options{Policy: oneOf(rng, usable())},
			Host: host.Options{KeepGOMAXPROCS: true},
		})
		ex, err := fixture.New(t, cfg)
		require.NoError(t, err)
		within(t, ex, func() {
			var wg sync.WaitGroup
			for range 1 + rng.IntN(2) {
				f := newFoe(ex, rng.Uint64())
				wg.Go(func() {
					for range 10 {
						f.attack(context.Background(), 2)
					}
				})
			}
			wg.Wait()
			threads := ex.Threads()
			require.NoError(t, ex.Close())
			for _, thread := range threads {
				require.False(t, executor.OnWorker(thread))
			}
		})
	}
	eventually(func() bool { return runtime.NumGoroutine() <= goroutines })
}
