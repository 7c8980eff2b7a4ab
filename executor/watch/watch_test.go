package watch_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/watch"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A records keeps what is logged.
type records struct {
	mu  sync.Mutex
	all []slog.Record
}

func (r *records) Enabled(context.Context, slog.Level) bool { return true }
func (r *records) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *records) WithGroup(string) slog.Handler            { return r }
func (r *records) Handle(_ context.Context, rec slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, rec.Clone())
	return nil
}

// messages returns the messages so far.
func (r *records) messages() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range r.all {
		all = append(all, rec.Message)
	}
	return all
}

// attrs returns the attributes of record i.
func (r *records) attrs(i int) map[string]slog.Value {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := make(map[string]slog.Value)
	r.all[i].Attrs(func(a slog.Attr) bool { m[a.Key] = a.Value; return true })
	return m
}

// eventually waits until there are that many records.
func (r *records) eventually(t testing.TB, n int) {
	t.Helper()
	testkit.Until(t, "so many records", func() bool { return len(r.messages()) >= n })
}

// newExecutor makes an executor without stand-ins for tasks that wait outside Blocking. With them fewer tasks stall.
func newExecutor(t testing.TB, cfg executor.Config) *executor.Executor {
	cfg.Threads.OnlyBlocking = true
	ex, err := executor.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ex.Close()) })
	return ex
}

// start starts a Watcher with short times.
func start(t testing.TB, ex *executor.Executor, opts watch.Options) (*watch.Watcher, *records) {
	r := new(records)
	opts.Logger = slog.New(r)
	w := watch.Start(ex, opts)
	t.Cleanup(w.Close)
	return w, r
}

const soon = 20 * time.Millisecond

// An attempt collects what a test requires in vain. A failure ends it. A hang ends the test.
type attempt struct {
	testing.TB
	cleanups []func()
	wrong    string
}

type failed struct{}

func (a *attempt) Errorf(format string, args ...any) { a.wrong += fmt.Sprintf(format, args...) }
func (a *attempt) FailNow()                          { panic(failed{}) }
func (a *attempt) Cleanup(f func())                  { a.cleanups = append(a.cleanups, f) }

// run runs f and its cleanups.
func (a *attempt) run(f func()) {
	defer func() {
		for _, cleanup := range slices.Backward(a.cleanups) {
			cleanup()
		}
	}()
	defer func() {
		switch r := recover().(type) {
		case nil, failed:
		default:
			panic(r)
		}
	}()
	f()
}

// fits repeats a test until what it requires holds. A busy machine may keep a thread waiting for any time, and then a
// Watcher rightly reports it. So the limit for the Watcher is twice as long in each attempt, up to some seconds.
func fits(t *testing.T, f func(t testing.TB, limit time.Duration)) {
	t.Helper()
	limit := soon
	testkit.Fits(t, func() string {
		a := &attempt{TB: t}
		a.run(func() { f(a, limit) })
		if a.wrong != "" {
			t.Logf("with the limit %v: %s", limit, a.wrong)
		}
		limit = min(2*limit, 4*time.Second)
		return a.wrong
	})
}

// newGate returns a channel and a function that closes it, which is called in the end at the latest.
func newGate(t testing.TB) (gate chan struct{}, open func()) {
	gate = make(chan struct{})
	open = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(open)
	return gate, open
}

// busy waits until that many workers have a task or are in Blocking, and that many items wait.
func busy(t testing.TB, ex *executor.Executor, workers, queued int) {
	t.Helper()
	testkit.Until(t, "the workers are busy", func() bool {
		s := ex.Stats()
		return s.Gauges.Active+s.Gauges.Blocked == workers && s.Gauges.Pending() == queued
	})
}

func work(name string, f func()) executor.Job {
	return executor.NewJob(name, func(*executor.Scope) error { f(); return nil })
}

//go:noinline
func hangsHere(gate chan struct{}) { <-gate }

// A stall is reported once, with the place where tasks hang and the dump, and once more when it is over.
func TestStall(t *testing.T) {
	fits(t, func(t testing.TB, limit time.Duration) {
		ex := newExecutor(t, executor.Config{Workers: 2, Name: "hung"})
		gate, open := newGate(t)
		var runs []*executor.Run
		for range 5 {
			runs = append(runs, ex.Start(t.Context(), work("hangs", func() { hangsHere(gate) })))
		}
		busy(t, ex, 2, 3)
		_, records := start(t, ex, watch.Options{NoProgress: limit, LongTask: -1})
		records.eventually(t, 1)
		time.Sleep(3 * limit)
		require.Equal(t, []string{"executor makes no progress"}, records.messages())
		a := records.attrs(0)
		require.Equal(t, "hung", a["executor"].String())
		require.EqualValues(t, 3, a["queued"].Int64())
		require.EqualValues(t, 5, a["runs"].Int64())
		require.EqualValues(t, 2, a["active"].Int64())
		require.GreaterOrEqual(t, a["for"].Duration(), limit)
		require.Equal(t, 2, strings.Count(a["stacks"].String(), "watch_test.hangsHere("))
		require.Contains(t, a["dump"].String(), `run of "hangs"`)
		require.NotContains(t, a, "tasks", "the Watcher does not observe")
		open()
		for _, r := range runs {
			require.NoError(t, r.Wait())
		}
		records.eventually(t, 2)
		require.Equal(t, "executor makes progress again", records.messages()[1])
		require.GreaterOrEqual(t, records.attrs(1)["for"].Duration(), 3*limit)
		time.Sleep(3 * limit)
		require.Len(t, records.messages(), 2, "an executor without work does not stall")
	})
}

// Tasks in Blocking stall the executor if they hold all workers and spares while work is queued. So do one that waits
// in Blocking for ever, as a poller does, and one that hangs on the worker in its place.
func TestStallBesideBlocking(t *testing.T) {
	for name, jobs := range map[string]func(gate chan struct{}) []executor.Job{
		"all block": func(gate chan struct{}) []executor.Job {
			blocks := work("blocks", func() { executor.Blocking(func() { hangsHere(gate) }) })
			return []executor.Job{blocks, blocks, blocks}
		},
		"a poller and a task that hangs": func(gate chan struct{}) []executor.Job {
			return []executor.Job{
				work("polls", func() { executor.Blocking(func() { hangsHere(gate) }) }),
				work("hangs", func() { hangsHere(gate) }),
				work("waits", func() {}),
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			fits(t, func(t testing.TB, limit time.Duration) {
				ex := newExecutor(t, executor.Config{Workers: 1, Spares: 1})
				gate, open := newGate(t)
				var runs []*executor.Run
				for _, job := range jobs(gate) {
					runs = append(runs, ex.Start(t.Context(), job))
				}
				busy(t, ex, 2, 1)
				_, records := start(t, ex, watch.Options{NoProgress: limit, LongTask: -1})
				records.eventually(t, 1)
				require.Equal(t, []string{"executor makes no progress"}, records.messages())
				a := records.attrs(0)
				require.EqualValues(t, 1, a["queued"].Int64())
				require.GreaterOrEqual(t, a["blocked"].Int64(), int64(1))
				require.Equal(t, 2, strings.Count(a["stacks"].String(), "watch_test.hangsHere("))
				open()
				for _, r := range runs {
					require.NoError(t, r.Wait())
				}
				records.eventually(t, 2)
				require.Equal(t, "executor makes progress again", records.messages()[1])
			})
		})
	}
}

// The caller of Run may have the place of a worker. Its stall is reported, too, with its stack.
func TestStallOfACaller(t *testing.T) {
	fits(t, func(t testing.TB, limit time.Duration) {
		ex := newExecutor(t, executor.Config{Workers: 2})
		_, records := start(t, ex, watch.Options{NoProgress: limit, LongTask: -1})
		gate, open := newGate(t)
		result := make(chan error, 1)
		go func() { result <- ex.Run(t.Context(), work("hangs", func() { hangsHere(gate) })) }()
		records.eventually(t, 1)
		require.Equal(t, []string{"executor makes no progress"}, records.messages())
		require.Contains(t, records.attrs(0)["stacks"].String(), "watch_test.hangsHere(")
		open()
		require.NoError(t, <-result)
		records.eventually(t, 2)
	})
}

// Tasks that wait for each other are a stall although nothing is queued.
func TestStallOfTasksThatWaitForEachOther(t *testing.T) {
	fits(t, func(t testing.TB, limit time.Duration) {
		ex := newExecutor(t, executor.Config{Workers: 2})
		var a, b sync.Mutex // the tasks would lock both, in different orders
		a.Lock()
		b.Lock()
		open := sync.OnceFunc(func() { a.Unlock(); b.Unlock() })
		t.Cleanup(open)
		one := ex.Start(t.Context(), work("ab", func() { b.Lock() }))
		two := ex.Start(t.Context(), work("ba", func() { a.Lock() }))
		busy(t, ex, 2, 0)
		_, records := start(t, ex, watch.Options{NoProgress: limit, LongTask: -1})
		records.eventually(t, 1)
		require.EqualValues(t, 0, records.attrs(0)["queued"].Int64())
		require.Contains(t, records.attrs(0)["dump"].String(), `run of "ab"`)
		require.Contains(t, records.attrs(0)["stacks"].String(), "sync.(*Mutex).Lock(")
		open()
		require.NoError(t, one.Wait())
		require.NoError(t, two.Wait())
	})
}

// What is no stall: tasks that compute for long, tasks in Blocking while a spare takes what is queued, many short
// tasks, no work.
func TestNoStall(t *testing.T) {
	computes := func(lasts time.Duration) {
		for begin := time.Now(); time.Since(begin) < lasts; {
		}
	}
	three := func(t testing.TB, ex *executor.Executor, job executor.Job) {
		var runs []*executor.Run
		for range 3 {
			runs = append(runs, ex.Start(t.Context(), job))
		}
		for _, r := range runs {
			require.NoError(t, r.Wait())
		}
	}
	for name, f := range map[string]func(t testing.TB, ex *executor.Executor, lasts time.Duration){
		"computes": func(t testing.TB, ex *executor.Executor, lasts time.Duration) {
			three(t, ex, work("computes", func() { computes(lasts) }))
		},
		"blocks": func(t testing.TB, ex *executor.Executor, lasts time.Duration) {
			three(t, ex, work("blocks", func() { executor.Blocking(func() { time.Sleep(lasts) }) }))
		},
		"short": func(t testing.TB, ex *executor.Executor, lasts time.Duration) {
			for begin := time.Now(); time.Since(begin) < lasts; {
				require.NoError(t, ex.Run(t.Context(), work("short", func() {})))
			}
		},
		"none": func(_ testing.TB, _ *executor.Executor, lasts time.Duration) { time.Sleep(lasts) },
	} {
		t.Run(name, func(t *testing.T) {
			fits(t, func(t testing.TB, limit time.Duration) {
				ex := newExecutor(t, executor.Config{Workers: 2})
				_, records := start(t, ex, watch.Options{NoProgress: limit, LongTask: -1})
				f(t, ex, 3*limit)
				require.Empty(t, records.messages())
			})
		})
	}
}

// A long task is reported with its stack although its name is not known.
func TestLongTask(t *testing.T) {
	fits(t, func(t testing.TB, limit time.Duration) {
		ex := newExecutor(t, executor.Config{Workers: 1, Name: "long"})
		_, records := start(t, ex, watch.Options{NoProgress: -1, LongTask: limit})
		gate, open := newGate(t)
		r := ex.Start(t.Context(), work("slow", func() { hangsHere(gate) }))
		records.eventually(t, 1)
		a := records.attrs(0)
		require.Equal(t, "task runs for long", records.messages()[0])
		require.EqualValues(t, 0, a["worker"].Int64())
		require.Contains(t, a["stacks"].String(), "watch_test.hangsHere(")
		require.Contains(t, a["dump"].String(), `run of "slow"`)
		require.NotContains(t, a, "task")
		open()
		require.NoError(t, r.Wait())
		records.eventually(t, 2)
		require.Equal(t, "long task has ended", records.messages()[1])
	})
}

// A handler that panics loses the report and nothing else, and one that blocks keeps no task from running. If it panics
// at the panic too, the default logger is told it.
func TestLoggerThatPanicsOrBlocks(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	records := new(records)
	slog.SetDefault(slog.New(records))
	calls, gate := make(chan struct{}, 100), make(chan struct{})
	handler := &hostile{calls: calls, gate: gate}
	ex := newExecutor(t, executor.Config{Workers: 1, Name: "loud"})
	w := watch.Start(ex, watch.Options{NoProgress: soon, LongTask: -1, Logger: slog.New(handler)})
	stuck := make(chan struct{})
	r := ex.Start(t.Context(), work("hangs", func() { <-stuck }))
	records.eventually(t, 1)
	require.Equal(t, "watch: a report panicked", records.messages()[0])
	require.Equal(t, "loud", records.attrs(0)["executor"].String())
	close(stuck)
	require.NoError(t, r.Wait())
	for range 3 {
		<-calls // of the stall, of the panic, and of the end of the stall: the handler blocks
	}
	for range 10 {
		require.NoError(t, ex.Run(t.Context(), work("goes on", func() {})))
	}
	close(gate)
	w.Close()
	require.Len(t, records.messages(), 1)
}

// A hostile handler panics at the first two calls and blocks at the third.
type hostile struct {
	records
	calls, gate chan struct{}
	panics      atomic.Int32
}

func (h *hostile) Handle(context.Context, slog.Record) error {
	h.calls <- struct{}{}
	if h.panics.Add(1) <= 2 {
		panic("the disk is full")
	}
	<-h.gate
	return nil
}

// A fragile handler panics at a record with stacks.
type fragile struct{ *records }

func (h fragile) Handle(ctx context.Context, r slog.Record) error {
	for a := range r.Attrs {
		if a.Key == "stacks" {
			panic("the line is too long")
		}
	}
	return h.records.Handle(ctx, r)
}

// A handler that panics at a report is told so, and the default logger is not.
func TestLoggerIsToldItsPanic(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	own, others := new(records), new(records)
	slog.SetDefault(slog.New(others))
	ex := newExecutor(t, executor.Config{Workers: 1, Name: "loud"})
	w := watch.Start(ex, watch.Options{NoProgress: soon, LongTask: -1, Logger: slog.New(fragile{own})})
	defer w.Close()
	gate, open := newGate(t)
	r := ex.Start(t.Context(), work("hangs", func() { <-gate }))
	own.eventually(t, 1)
	open()
	require.NoError(t, r.Wait())
	require.Equal(t, "watch: a report panicked", own.messages()[0])
	require.Equal(t, "loud", own.attrs(0)["executor"].String())
	require.Equal(t, "the line is too long", own.attrs(0)["panic"].String())
	require.Empty(t, others.messages())
}

// After Close there is no report and no goroutine.
func TestClose(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	before := runtime.NumGoroutine()
	gate := make(chan struct{})
	r := ex.Start(t.Context(), work("hangs", func() { <-gate }))
	for range testkit.Scale(50) {
		w, records := start(t, ex, watch.Options{NoProgress: 4 * time.Millisecond, LongTask: 4 * time.Millisecond})
		records.eventually(t, 2)
		w.Close()
		n := len(records.messages())
		w.Close()
		time.Sleep(5 * time.Millisecond)
		require.Len(t, records.messages(), n)
	}
	testkit.Until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
	close(gate)
	require.NoError(t, r.Wait())
	watch.New(watch.Options{}).Close()
	require.Panics(t, func() { watch.Start(nil, watch.Options{}) })
	w := watch.Start(ex, watch.Options{NoProgress: -1, LongTask: -1})
	w.Close()
}

// A Watcher does not keep its executor open, and outlives it in peace.
func TestExecutorThatIsGone(t *testing.T) {
	log.SetOutput(io.Discard)
	ex, err := executor.New(executor.Config{Workers: 1})
	require.NoError(t, err)
	w, records := start(t, ex, watch.Options{NoProgress: 4 * time.Millisecond})
	gone := make(chan struct{})
	runtime.AddCleanup(ex, func(c chan struct{}) { close(c) }, gone)
	testkit.Until(t, "the executor is gone", func() bool {
		runtime.GC()
		select {
		case <-gone:
			return true
		default:
			return false
		}
	})
	time.Sleep(20 * time.Millisecond)
	require.Empty(t, records.messages())
	w.Close()

	closed := newExecutor(t, executor.Config{Workers: 1})
	_, records = start(t, closed, watch.Options{NoProgress: 4 * time.Millisecond})
	require.NoError(t, closed.Close())
	time.Sleep(20 * time.Millisecond)
	require.Empty(t, records.messages())
}

func ExampleStart() {
	ex, err := executor.New(executor.Config{Workers: 2, Name: "thumbnails"})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	w := watch.Start(ex, watch.Options{
		NoProgress: 10 * time.Second,
		LongTask:   time.Minute,
		Logger:     slog.Default().With("service", "photos"),
	})
	defer w.Close()
	err = ex.Run(context.Background(), executor.NewJob("resize", func(*executor.Scope) error { return nil }))
	fmt.Println("resized:", err)
	// Output: resized: <nil>
}

// A Watcher that is made before its executor observes it, and so knows the names of tasks.
func ExampleWatcher_Observer() {
	w := watch.New(watch.Options{LongTask: time.Minute})
	ex, err := executor.New(executor.Config{Workers: 2, Observers: []*executor.Observer{w.Observer()}})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close() // ends the Watcher too
	err = ex.Run(context.Background(), executor.NewJob("resize", func(*executor.Scope) error { return nil }))
	fmt.Println("resized:", err)
	// Output: resized: <nil>
}
