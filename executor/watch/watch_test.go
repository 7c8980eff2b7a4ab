package watch_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"runtime"
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
func (r *records) eventually(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.messages()) >= n }, time.Minute, time.Millisecond)
}

func newExecutor(t *testing.T, cfg executor.Config) *executor.Executor {
	ex, err := executor.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ex.Close()) })
	return ex
}

// start starts a Watcher with short times.
func start(t *testing.T, ex *executor.Executor, opts watch.Options) (*watch.Watcher, *records) {
	r := new(records)
	opts.Logger = slog.New(r)
	w := watch.Start(ex, opts)
	t.Cleanup(w.Close)
	return w, r
}

const soon = 40 * time.Millisecond

func work(name string, f func()) executor.Job {
	return executor.Func(name, func(*executor.Scope) error { f(); return nil })
}

//go:noinline
func hangsHere(gate chan struct{}) { <-gate }

// A stall is reported once, with the place where tasks hang and the dump, and once more when it is over.
func TestStall(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Name: "hung"})
	_, records := start(t, ex, watch.Options{NoProgress: soon, LongTask: -1})
	gate := make(chan struct{})
	var runs []*executor.Run
	for range 5 {
		runs = append(runs, ex.Start(t.Context(), work("hangs", func() { hangsHere(gate) })))
	}
	records.eventually(t, 1)
	time.Sleep(5 * soon)
	require.Equal(t, []string{"executor makes no progress"}, records.messages())
	a := records.attrs(0)
	require.Equal(t, "hung", a["executor"].String())
	require.EqualValues(t, 3, a["queued"].Int64())
	require.EqualValues(t, 5, a["runs"].Int64())
	require.EqualValues(t, 2, a["active"].Int64())
	require.GreaterOrEqual(t, a["for"].Duration(), soon)
	require.Equal(t, 2, strings.Count(a["stacks"].String(), "watch_test.hangsHere("))
	require.Contains(t, a["dump"].String(), `run of "hangs"`)
	require.NotContains(t, a, "tasks", "the Watcher does not observe")
	close(gate)
	for _, r := range runs {
		require.NoError(t, r.Wait())
	}
	records.eventually(t, 2)
	require.Equal(t, "executor makes progress again", records.messages()[1])
	require.GreaterOrEqual(t, records.attrs(1)["for"].Duration(), 5*soon)
	time.Sleep(5 * soon)
	require.Len(t, records.messages(), 2, "an executor without work does not stall")
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
			ex := newExecutor(t, executor.Config{Workers: 1, Spares: 1})
			_, records := start(t, ex, watch.Options{NoProgress: soon, LongTask: -1})
			gate := make(chan struct{})
			open := sync.OnceFunc(func() { close(gate) })
			t.Cleanup(open)
			var runs []*executor.Run
			for _, job := range jobs(gate) {
				runs = append(runs, ex.Start(t.Context(), job))
			}
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
	}
}

// The caller of Run may have the place of a worker. Its stall is reported, too, with its stack.
func TestStallOfACaller(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	_, records := start(t, ex, watch.Options{NoProgress: soon, LongTask: -1})
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	defer open()
	result := make(chan error, 1)
	go func() { result <- ex.Run(t.Context(), work("hangs", func() { hangsHere(gate) })) }()
	records.eventually(t, 1)
	require.Equal(t, []string{"executor makes no progress"}, records.messages())
	require.Contains(t, records.attrs(0)["stacks"].String(), "watch_test.hangsHere(")
	open()
	require.NoError(t, <-result)
	records.eventually(t, 2)
}

// Tasks that wait for each other are a stall although nothing is queued.
func TestStallOfTasksThatWaitForEachOther(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	_, records := start(t, ex, watch.Options{NoProgress: soon, LongTask: -1})
	var a, b sync.Mutex // the tasks would lock both, in different orders
	a.Lock()
	b.Lock()
	one := ex.Start(t.Context(), work("ab", func() { b.Lock() }))
	two := ex.Start(t.Context(), work("ba", func() { a.Lock() }))
	records.eventually(t, 1)
	require.EqualValues(t, 0, records.attrs(0)["queued"].Int64())
	require.Contains(t, records.attrs(0)["dump"].String(), `run of "ab"`)
	require.Contains(t, records.attrs(0)["stacks"].String(), "sync.(*Mutex).Lock(")
	a.Unlock()
	b.Unlock()
	require.NoError(t, one.Wait())
	require.NoError(t, two.Wait())
}

// What is no stall: tasks that compute for long, tasks in Blocking while a spare takes what is queued, many short
// tasks, no work.
func TestNoStall(t *testing.T) {
	testkit.Fits(t, func() (wrong string) { // a machine that gives a worker no core for a period looks like a stall
		const period = 2 * soon
		ex := newExecutor(t, executor.Config{Workers: 2})
		_, records := start(t, ex, watch.Options{NoProgress: period, LongTask: -1})
		const lasts = 3 * period
		var sum atomic.Int64
		for name, f := range map[string]func(){
			"computes": func() {
				for begin := time.Now(); time.Since(begin) < lasts; {
					sum.Add(1)
				}
			},
			"blocks": func() { executor.Blocking(func() { time.Sleep(lasts) }) },
		} {
			r := ex.Start(t.Context(), work(name, f))
			queued := ex.Start(t.Context(), work(name, f))
			third := ex.Start(t.Context(), work(name, f))
			for _, r := range []*executor.Run{r, queued, third} {
				require.NoError(t, r.Wait())
			}
		}
		for begin := time.Now(); time.Since(begin) < lasts; {
			require.NoError(t, ex.Run(t.Context(), work("short", func() {})))
		}
		time.Sleep(lasts)
		return strings.Join(records.messages(), "; ")
	})
}

// A long task is reported with its stack although its name is not known.
func TestLongTask(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Name: "long"})
	_, records := start(t, ex, watch.Options{NoProgress: -1, LongTask: soon})
	gate := make(chan struct{})
	r := ex.Start(t.Context(), work("slow", func() { hangsHere(gate) }))
	records.eventually(t, 1)
	a := records.attrs(0)
	require.Equal(t, "task runs for long", records.messages()[0])
	require.EqualValues(t, 0, a["worker"].Int64())
	require.Contains(t, a["stacks"].String(), "watch_test.hangsHere(")
	require.Contains(t, a["dump"].String(), `run of "slow"`)
	require.NotContains(t, a, "task")
	close(gate)
	require.NoError(t, r.Wait())
	records.eventually(t, 2)
	require.Equal(t, "long task has ended", records.messages()[1])
}

// A handler that panics loses the report and nothing else, and one that blocks keeps no task from running.
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
	<-calls
	<-calls // the stall is over: the handler blocks
	for range 10 {
		require.NoError(t, ex.Run(t.Context(), work("goes on", func() {})))
	}
	close(gate)
	w.Close()
	require.Len(t, records.messages(), 1)
}

// A hostile handler panics at the first call and blocks at the second.
type hostile struct {
	records
	calls, gate chan struct{}
	once        sync.Once
}

func (h *hostile) Handle(context.Context, slog.Record) error {
	h.calls <- struct{}{}
	h.once.Do(func() { panic("the disk is full") })
	<-h.gate
	return nil
}

// After Close there is no report and no goroutine.
func TestClose(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	before := runtime.NumGoroutine()
	gate := make(chan struct{})
	r := ex.Start(t.Context(), work("hangs", func() { <-gate }))
	for range 20 {
		w, records := start(t, ex, watch.Options{NoProgress: 4 * time.Millisecond, LongTask: 4 * time.Millisecond})
		records.eventually(t, 2)
		w.Close()
		n := len(records.messages())
		w.Close()
		time.Sleep(5 * time.Millisecond)
		require.Len(t, records.messages(), n)
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
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
	require.Eventually(t, func() bool {
		runtime.GC()
		select {
		case <-gone:
			return true
		default:
			return false
		}
	}, time.Minute, time.Millisecond)
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
	err = ex.Run(context.Background(), executor.Func("resize", func(*executor.Scope) error { return nil }))
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
	err = ex.Run(context.Background(), executor.Func("resize", func(*executor.Scope) error { return nil }))
	fmt.Println("resized:", err)
	// Output: resized: <nil>
}
