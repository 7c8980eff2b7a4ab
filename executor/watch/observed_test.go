package watch_test

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/watch"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// A Watcher that observes its executor names the task, also while that runs in one of many.
func TestLongTaskByName(t *testing.T) {
	fits(t, func(t testing.TB, limit time.Duration) {
		records := new(records)
		w := watch.New(watch.Options{LongTask: limit, Logger: slog.New(records)})
		ex, err := executor.New(executor.Config{Workers: 2, Observers: []*executor.Observer{w.Observer()}})
		require.NoError(t, err)
		gate, open := newGate(t)
		g := graph.New("build")
		link := g.Task(func(context.Context) error { <-gate; return nil }).Named("link")
		for range 100 {
			link.Succeed(g.Task(func(context.Context) error { return nil }).Named("compile"))
		}
		r := ex.Start(t.Context(), g)
		records.eventually(t, 1)
		open()
		require.NoError(t, r.Wait())
		records.eventually(t, 2)
		require.Equal(t, []string{"task runs for long", "long task has ended"}, records.messages())
		for i := range 2 {
			a := records.attrs(i)
			require.Equal(t, "build", a["job"].String())
			require.Equal(t, "link", a["task"].String())
		}
		require.Contains(t, records.attrs(0)["stacks"].String(), "watch_test.TestLongTaskByName.func")
		require.NoError(t, ex.Close())

		other := newExecutor(t, executor.Config{Workers: 1})
		require.Panics(t, func() { w.Observer().Attach(other) }, "a Watcher is for one executor")
	})
}

// bothHang returns a function whose two calls hang once both have begun, and one that ends them.
func bothHang(t testing.TB) (hangs func(context.Context) error, open func()) {
	gate, open := newGate(t)
	var calls atomic.Int32
	return func(context.Context) error {
		for calls.Add(1); calls.Load() < 2; {
			runtime.Gosched()
		}
		<-gate
		return nil
	}, open
}

// The report of a stall names the task of each worker, and one without a name by its index.
func TestStallByName(t *testing.T) {
	fits(t, func(t testing.TB, limit time.Duration) {
		records := new(records)
		w := watch.New(watch.Options{NoProgress: limit, LongTask: -1, Logger: slog.New(records)})
		ex := newExecutor(t, executor.Config{Workers: 3, Observers: []*executor.Observer{w.Observer()}})
		hangs, open := bothHang(t)
		g, nameless := graph.New("build"), graph.New("")
		g.Task(hangs).Named("link")
		nameless.Task(hangs)
		one, two := ex.Start(t.Context(), g), ex.Start(t.Context(), nameless)
		records.eventually(t, 1)
		open()
		require.NoError(t, one.Wait())
		require.NoError(t, two.Wait())
		tasks := records.attrs(0)["tasks"].String()
		require.Regexp(t, `^worker \d: (build link|job #0), worker \d: (build link|job #0)$`, tasks)
		require.Contains(t, tasks, "build link")
		require.Contains(t, tasks, "job #0")
	})
}

// A report tells the name of a run that is not the job's.
func TestNamedRuns(t *testing.T) {
	fits(t, func(t testing.TB, limit time.Duration) {
		records := new(records)
		w := watch.New(watch.Options{NoProgress: limit, LongTask: limit, Logger: slog.New(records)})
		ex := newExecutor(t, executor.Config{Workers: 2, Observers: []*executor.Observer{w.Observer()}})
		hangs, open := bothHang(t)
		g := graph.New("build")
		g.Task(hangs).Named("link")
		own := ex.Start(t.Context(), g)
		tenant := ex.Start(t.Context(), executor.With(g, executor.RunOptions{Name: "nightly"}))
		records.eventually(t, 3)
		open()
		require.NoError(t, own.Wait())
		require.NoError(t, tenant.Wait())
		var runs []string
		for i, message := range records.messages()[:3] {
			a := records.attrs(i)
			switch message {
			case "executor makes no progress":
				require.Regexp(t, `^worker 0: build link( \(run nightly\))?, worker 1: build link( \(run nightly\))?$`,
					a["tasks"].String())
				require.Equal(t, 1, strings.Count(a["tasks"].String(), "(run nightly)"))
			case "task runs for long":
				require.Equal(t, "build", a["job"].String())
				run, ok := a["run"]
				require.Equal(t, ok, run.String() == "nightly")
				runs = append(runs, run.String())
			}
		}
		require.ElementsMatch(t, []string{"<nil>", "nightly"}, runs)
	})
}

// A long task without a name is told by its index.
func TestLongTaskWithoutName(t *testing.T) {
	fits(t, func(t testing.TB, limit time.Duration) {
		records := new(records)
		w := watch.New(watch.Options{NoProgress: -1, LongTask: limit, Logger: slog.New(records)})
		ex := newExecutor(t, executor.Config{Workers: 1, Observers: []*executor.Observer{w.Observer()}})
		gate, open := newGate(t)
		g := graph.New("")
		g.Task(func(context.Context) error { return nil }).Precede(
			g.Task(func(context.Context) error { <-gate; return nil }))
		r := ex.Start(t.Context(), g)
		records.eventually(t, 1)
		open()
		require.NoError(t, r.Wait())
		a := records.attrs(0)
		require.Equal(t, "job", a["job"].String())
		require.Equal(t, "#1", a["task"].String())
		require.EqualValues(t, 1, a["index"].Int64())
	})
}

// A task that waits for tasks on its own worker is not long meanwhile, and no stall.
func TestObservedWaits(t *testing.T) {
	fits(t, func(t testing.TB, limit time.Duration) {
		records := new(records)
		w := watch.New(watch.Options{LongTask: limit, NoProgress: limit, Logger: slog.New(records)})
		ex := newExecutor(t, executor.Config{Workers: 1, Observers: []*executor.Observer{w.Observer()}})
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("outer", func(s *executor.Scope) error {
			for begin := time.Now(); time.Since(begin) < 3*limit; {
				if err := ex.Run(s.Context(), work("inner", func() { time.Sleep(time.Millisecond) })); err != nil {
					return err
				}
			}
			return nil
		})))
		require.Empty(t, records.messages())
	})
}
