package executor_test

import (
	"bytes"
	"context"
	"log"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A journal is what package log has written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) count(s string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.text.String(), s)
}

func newJournal(t *testing.T) *journal {
	j := &journal{}
	log.SetOutput(j)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	return j
}

// collected collects garbage until the condition holds.
func collected(t *testing.T, condition func() bool) {
	t.Helper()
	testkit.Within(t, testkit.Patience, func() {
		eventually(func() bool {
			runtime.GC()
			return condition()
		})
	})
}

// Executors that are unreachable and were not closed are closed, whatever they have done, and the log says so.
// Their threads end and their Ps are given back.
func TestAbandoned(t *testing.T) {
	ps := runtime.GOMAXPROCS(0)
	goroutines := runtime.NumGoroutine()
	j := newJournal(t)
	ways := map[string]func(ex *executor.Executor) error{
		"nothing": func(*executor.Executor) error { return nil },
		"graph":   func(ex *executor.Executor) error { return ex.Run(t.Context(), fan(20, nothing)) },
		"nested": func(ex *executor.Executor) error {
			return ex.Run(t.Context(), one(func(ctx context.Context) error { return ex.Run(ctx, fan(5, nothing)) }))
		},
		"fork": func(ex *executor.Executor) error {
			_, err := executor.Call(t.Context(), ex, func(s *executor.Scope, n int) int {
				return executor.Fork(s, func(_ *executor.Scope, n int) int { return n }, n).Join(s)
			}, 1)
			return err
		},
		"loop": func(ex *executor.Executor) error {
			return parallel.For(t.Context(), parallel.Options{Executor: ex}, 0, 1000, func(int) {})
		},
		"future": func(ex *executor.Executor) error {
			_, err := async(t.Context(), ex, func(context.Context) {}).Wait()
			return err
		},
		"blocking": func(ex *executor.Executor) error {
			return ex.Run(t.Context(), fan(5, func(context.Context) error {
				executor.Blocking(runtime.Gosched)
				return nil
			}))
		},
		"goexit": func(ex *executor.Executor) error { <-ex.Start(t.Context(), one(goexit)).Done(); return nil },
		"cancelled": func(ex *executor.Executor) error {
			ctx, cancel := context.WithCancel(t.Context())
			r := ex.Start(ctx, one(func(ctx context.Context) error { <-ctx.Done(); return nil }))
			cancel()
			_ = r.Wait()
			return nil
		},
	}
	for name, use := range ways {
		func() {
			ex, err := executor.New(executor.Config{Workers: 2, Name: name})
			require.NoError(t, err)
			within(t, ex, func() { err = use(ex) })
			require.NoError(t, err)
		}()
	}
	for name := range ways {
		said := `executor "` + name + `" was not closed`
		collected(t, func() bool { return j.count(said) == 1 })
	}
	collected(t, func() bool { return runtime.GOMAXPROCS(0) == ps })
	goroutines++ // the test's own
	collected(t, func() bool { return runtime.NumGoroutine() <= goroutines })
}

// An executor with an observer is closed, whichever functions the observer has.
func TestAbandonedWithObserver(t *testing.T) {
	j := newJournal(t)
	ignore := func(*executor.Event) {}
	skips := graph.New("skips")
	skips.Task(func(context.Context) error { return errTest }).Precede(skips.Task(nothing))
	observers := map[string]executor.Observer{
		"RunBegin":  {RunBegin: ignore},
		"RunEnd":    {RunEnd: ignore},
		"TaskBegin": {TaskBegin: ignore},
		"TaskEnd":   {TaskEnd: ignore},
		"TaskSkip":  {TaskSkip: ignore},
	}
	for name, o := range observers {
		func() {
			ex, err := executor.New(executor.Config{Workers: 1, Name: name, Observers: []*executor.Observer{&o}})
			require.NoError(t, err)
			require.ErrorIs(t, ex.Run(t.Context(), skips), errTest)
			require.NoError(t, ex.Run(t.Context(), one(nothing)))
		}()
	}
	for name := range observers {
		said := `executor "` + name + `" was not closed`
		collected(t, func() bool { return j.count(said) == 1 })
	}
}

// An executor in use is not closed: not while a run or a future is in progress, even if it is unreachable, nor while
// the program holds one that has ended.
func TestNotAbandoned(t *testing.T) {
	j := newJournal(t)
	gate := make(chan struct{})
	var held *executor.Run
	func() {
		hang := func(context.Context) error { <-gate; return nil }
		for name, start := range map[string]func(ex *executor.Executor){
			"a run in progress": func(ex *executor.Executor) { ex.Start(context.Background(), one(hang)) },
			"a future in progress": func(ex *executor.Executor) {
				async(context.Background(), ex, func(ctx context.Context) { _ = hang(ctx) })
			},
			"a future that waits": func(ex *executor.Executor) {
				first := async(context.Background(), ex, func(ctx context.Context) { _ = hang(ctx) })
				executor.Async(context.Background(), ex, func(context.Context) (int, error) { return 0, nil }, first)
			},
			"a run that is held": func(ex *executor.Executor) { held = ex.Start(context.Background(), one(nothing)) },
		} {
			ex, err := executor.New(executor.Config{Workers: 1, Name: name})
			require.NoError(t, err)
			start(ex)
		}
	}()
	for range 5 {
		runtime.GC()
	}
	require.Zero(t, j.count("was not closed"))
	close(gate)
	collected(t, func() bool { return j.count("progress") == 2 && j.count("that waits") == 1 })
	require.Zero(t, j.count("held"))
	require.NoError(t, held.Wait())
	held = nil
	collected(t, func() bool { return j.count("held") == 1 })
}

// The log says nothing of executors that were closed.
func TestNotAbandonedAfterClose(t *testing.T) {
	j := newJournal(t)
	for range 5 {
		func() {
			ex, err := executor.New(executor.Config{Workers: 1})
			require.NoError(t, err)
			require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error { runtime.GC(); return nil })))
			require.NoError(t, ex.Close())
		}()
		runtime.GC()
	}
	require.Zero(t, j.count("executor"))
}
