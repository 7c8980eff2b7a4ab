package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/httpdebug"
	"github.com/magpie-go/magpie/executor/service"
	"github.com/magpie-go/magpie/executor/watch"
	"github.com/stretchr/testify/require"
)

// text is a log that may be written and read at the same time.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *text) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(b)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

func job(name string, fn func() error) executor.Job {
	return executor.NewJob(name, func(*executor.Scope) error { return fn() })
}

var errBroken = errors.New("broken")

func TestService(t *testing.T) {
	log := &text{}
	begun := 0
	s, err := service.New(
		executor.Config{Workers: 2, Name: "served", Observers: []*executor.Observer{
			{RunBegin: func(*executor.Event) { begun++ }},
		}},
		service.Options{
			Logger: slog.New(slog.NewTextHandler(log, nil)),
			Watch:  watch.Options{LongTask: 10 * time.Millisecond},
		})
	require.NoError(t, err)
	require.NoError(t, s.Run(t.Context(), job("good", func() error { return nil })))
	require.ErrorIs(t, s.Run(t.Context(), job("bad", func() error { return errBroken })), errBroken)
	require.Error(t, s.Run(t.Context(), job("ugly", func() error { panic(errBroken) })))
	ctx, cancel := context.WithCancel(t.Context())
	require.ErrorIs(t, s.Run(ctx, job("late", func() error { cancel(); return ctx.Err() })), context.Canceled)
	require.Error(t, s.Run(t.Context(), job("timeout", func() error { return context.DeadlineExceeded })))
	require.NoError(t, s.Run(t.Context(), job("slow", func() error {
		for !strings.Contains(log.String(), "slow") { // it is reported while it runs
			time.Sleep(time.Millisecond)
		}
		return nil
	})))
	var times bytes.Buffer
	require.NoError(t, s.Times.WriteTable(&times, 10))
	require.Contains(t, times.String(), "slow")
	require.Contains(t, s.Metrics.String(), "/magpie/tasks:tasks")
	for outcome, n := range map[string]int{"ok": 2, "failed": 2, "panicked": 1, "cancelled": 1} {
		require.Contains(t, s.Latencies.String(), fmt.Sprintf(`"%s":{"count":%d,`, outcome, n))
	}
	for page, says := range map[string]string{
		"": "served", "dump": `executor "served"`, "stats": "/magpie/tasks", "trace?seconds=0.01": `{"traceEvents":[`,
	} {
		w := httptest.NewRecorder()
		s.Pages.ServeHTTP(w, httptest.NewRequest("GET", httpdebug.Path+page, nil))
		require.Equal(t, 200, w.Code, page)
		require.Contains(t, w.Body.String(), says, page)
	}
	require.NoError(t, s.Shutdown(t.Context()))

	said := log.String()
	require.Equal(t, 6, begun)
	require.Equal(t, 1, strings.Count(said, "level=WARN msg=\"executor: a run has failed\" run=bad"))
	require.Equal(t, 1, strings.Count(said, "level=ERROR msg=\"executor: a run has panicked\" run=ugly"))
	require.Contains(t, said, "run=timeout", "it was not cancelled")
	require.Contains(t, said, "service_test.go", "the stack")
	require.NotContains(t, said, "run=late")
	require.NotContains(t, said, "run=good")
}

// A mute is an error whose methods panic.
type mute struct{}

func (mute) Error() string { panic("mute") }
func (mute) Unwrap() error { panic("mute") }

// A failure that cannot be asked is logged, and so are those after it.
func TestServiceLogsMuteErrors(t *testing.T) {
	log := &text{}
	s, err := service.New(executor.Config{Workers: 1}, service.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	require.NoError(t, err)
	require.Error(t, s.Run(t.Context(), job("quiet", func() error { return mute{} })))
	require.ErrorIs(t, s.Run(t.Context(), job("bad", func() error { return errBroken })), errBroken)
	require.NoError(t, s.Shutdown(t.Context()))
	require.Contains(t, log.String(), "run=quiet")
	require.Contains(t, log.String(), "run=bad")
}

// TestServiceAsync: a function of an Async that fails or panics is reported, unless it was cancelled.
func TestServiceAsync(t *testing.T) {
	type key struct{}
	// all returns what is reported of six functions: by the names in their contexts, and in the log.
	all := func(o service.Options, hook bool) (names []any, logged string, counted string) {
		log := &text{}
		o.Logger = slog.New(slog.NewTextHandler(log, nil))
		if hook {
			o.FailedAsync = func(ctx context.Context, err error) { names = append(names, ctx.Value(key{})) }
		}
		s, err := service.New(executor.Config{Workers: 1}, o)
		require.NoError(t, err)
		for name, fn := range map[string]func(cancel func()) error{
			"good":  func(func()) error { return nil },
			"bad":   func(func()) error { return errBroken },
			"ugly":  func(func()) error { panic(errBroken) },
			"late":  func(cancel func()) error { cancel(); return fmt.Errorf("late: %w", context.Canceled) },
			"quiet": func(cancel func()) error { cancel(); return mute{} },
			"fatal": func(cancel func()) error { cancel(); panic(context.Canceled) },
		} {
			ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, name))
			defer cancel()
			f := executor.Async(ctx, s.Executor, func(context.Context) (int, error) { return 0, fn(cancel) })
			_, err := f.Wait()
			require.Equal(t, name == "good", err == nil, name)
		}
		require.ErrorIs(t, s.Run(t.Context(), job("run", func() error { return errBroken })), errBroken)
		require.NoError(t, s.Shutdown(t.Context()))
		return names, log.String(), s.Latencies.String()
	}

	names, logged, counted := all(service.Options{}, true)
	require.ElementsMatch(t, []any{"bad", "ugly", "quiet", "fatal"}, names)
	require.NotContains(t, logged, "an Async")
	_, counted, _ = strings.Cut(counted, `"asyncs":`)
	for outcome, n := range map[string]int{"ok": 1, "failed": 2, "panicked": 2, "cancelled": 1} {
		require.Contains(t, counted, fmt.Sprintf(`"%s":{"count":%d,`, outcome, n))
	}

	_, logged, _ = all(service.Options{}, false)
	require.Equal(t, 2, strings.Count(logged, `level=WARN msg="executor: an Async has failed" error=`), logged)
	require.Equal(t, 2, strings.Count(logged, `level=ERROR msg="executor: an Async has panicked" error=`), logged)
	require.Contains(t, logged, "service_test.go", "the stack")
	require.NotContains(t, logged, "late: ")

	names, _, counted = all(service.Options{NoAsync: true}, true)
	require.Empty(t, names)
	require.NotContains(t, counted, `"asyncs"`)
}

// TestServiceCancelledByPanic: the panic of a task is reported once, and not for what it has stopped.
func TestServiceCancelledByPanic(t *testing.T) {
	log := &text{}
	s, err := service.New(executor.Config{Workers: 2}, service.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	require.NoError(t, err)
	require.Error(t, s.Run(t.Context(), executor.NewJob("outer", func(scope *executor.Scope) error {
		var begun sync.WaitGroup
		begun.Add(2)
		for _, why := range []func(context.Context) error{context.Context.Err, context.Cause} {
			scope.Go(func(ctx context.Context) error {
				_, err := executor.Async(ctx, s.Executor, func(ctx context.Context) (int, error) {
					begun.Done()
					executor.Blocking(func() { <-ctx.Done() })
					return 0, fmt.Errorf("fetch: %w", why(ctx))
				}).Wait()
				return err
			})
		}
		scope.Go(func(context.Context) error {
			executor.Blocking(begun.Wait)
			panic("here")
		})
		return scope.Wait()
	})))
	require.NoError(t, s.Shutdown(t.Context()))
	require.NotContains(t, log.String(), "an Async")
	require.Equal(t, 1, strings.Count(log.String(), "has panicked"), log.String())
	require.Contains(t, log.String(), "run=outer")
}

// TestServiceParts: what is left out is not there, and Failed takes the place of the log.
func TestServiceParts(t *testing.T) {
	log := &text{}
	failed := map[string]error{}
	s, err := service.New(executor.Config{Workers: 1}, service.Options{
		Logger: slog.New(slog.NewTextHandler(log, nil)), NoLabels: true, NoTimes: true, NoWatch: true, NoTraces: true,
		NoLatencies: true,
		Failed:      func(run *executor.Run, err error) { failed[run.Name()] = err },
	})
	require.NoError(t, err)
	require.Error(t, s.Run(t.Context(), job("bad", func() error { return errBroken })))
	require.Nil(t, s.Times)
	require.Nil(t, s.Latencies)
	require.Nil(t, s.Pages.Trace)
	require.NoError(t, s.Close())
	require.Len(t, failed, 1)
	require.ErrorIs(t, failed["bad"], errBroken)
	require.Empty(t, log.String())

	_, err = service.New(executor.Config{Workers: -1}, service.Options{})
	require.ErrorContains(t, err, "Config.Workers is -1")
}

// An executor for a service. A run that fails is logged, here by a function of the service.
func ExampleNew() {
	s, err := service.New(executor.Config{Name: "imports", MaxRuns: 100}, service.Options{
		Failed: func(run *executor.Run, err error) { fmt.Println(run.Name(), "has failed:", err) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = s.Run(context.Background(), job("import", func() error { return errors.New("no space") }))
	fmt.Println(s.Shutdown(context.Background()))
	// Output:
	// import has failed: no space
	// <nil>
}
