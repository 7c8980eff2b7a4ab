package executor_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/internal/fixture"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// A hookLog records the calls of the hooks of one executor.
type hookLog struct {
	mu     sync.Mutex
	begun  map[int64]int // thread → worker
	ended  map[int64]int
	errors []string
}

func newHookLog() *hookLog { return &hookLog{begun: map[int64]int{}, ended: map[int64]int{}} }

func (l *hookLog) config(cfg executor.Config) executor.Config {
	cfg.Threads.Start = func(worker int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.begun[executor.Thread()] = worker
		delete(l.ended, executor.Thread()) // the system may give a number again
	}
	cfg.Threads.End = func(worker int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if w, ok := l.begun[executor.Thread()]; !ok || w != worker {
			l.errors = append(l.errors, "End without its Start")
		}
		l.ended[executor.Thread()] = worker
	}
	return cfg
}

// counts returns how many threads have begun and have ended.
func (l *hookLog) counts() (begun, ended int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.begun), len(l.ended)
}

// The hooks are called once on each thread: Start before New returns, End before Close does.
func TestThreadHooks(t *testing.T) {
	for _, n := range fewWorkers {
		l := newHookLog()
		ex, err := executor.New(l.config(executor.Config{Workers: n, Callers: executor.IdleCallers}))
		require.NoError(t, err)
		begun, ended := l.counts()
		require.Equal(t, n, begun)
		require.Zero(t, ended)
		all := barrier{n: int64(n)}
		require.NoError(t, ex.Run(t.Context(), fan(n, func(context.Context) error {
			all.meet() // a task on each worker
			if l.begun[executor.Thread()] != ex.WorkerIndex() {
				return errors.New("not begun")
			}
			return nil
		})))
		require.NoError(t, ex.Close())
		begun, ended = l.counts()
		require.Equal(t, n, begun)
		require.Equal(t, n, ended)
		require.Empty(t, l.errors)
	}
}

// Spares, and the threads that take the place of those that Goexit ends, have the hooks too.
func TestThreadHooksOfLaterThreads(t *testing.T) {
	guests.None(t)
	l := newHookLog()
	ex, err := fixture.New(t, l.config(executor.Config{Workers: 1, Spares: 1}))
	require.NoError(t, err)
	within(t, ex, func() {
		require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
			f := executor.Async(ctx, ex, func(context.Context) (int, error) { return ex.WorkerIndex(), nil })
			executor.Blocking(func() { <-f.Done() })
			spare, err := f.Wait()
			require.Equal(t, 1, spare)
			return err
		})))
		err := ex.Run(t.Context(), one(func(context.Context) error { runtime.Goexit(); return nil }))
		require.ErrorIs(t, err, executor.ErrGoexit)
		require.NoError(t, ex.Run(t.Context(), one(nothing)))
	})
	begun, _ := l.counts()
	require.GreaterOrEqual(t, begun, 2)
	require.NoError(t, ex.Close())
	begun, ended := l.counts()
	require.Equal(t, begun, ended)
	require.Empty(t, l.errors)
}

// A hook may use what its thread's tasks have left in a PerWorker.
func TestThreadEndWithPerWorker(t *testing.T) {
	var p *executor.PerWorker[int]
	var mu sync.Mutex
	freed := map[int]int{}
	ex, err := executor.New(executor.Config{Workers: 2, Threads: host.Threads{End: func(worker int) {
		mu.Lock()
		defer mu.Unlock()
		freed[worker] = *p.Local()
	}}})
	require.NoError(t, err)
	p = executor.NewPerWorker(ex, func() int { return 100 + ex.WorkerIndex() })
	require.NoError(t, ex.Close())
	require.Equal(t, map[int]int{0: 100, 1: 101}, freed)
}

// New reports a Start that fails, ends all threads, and has called End on those that have begun.
func TestThreadStartFails(t *testing.T) {
	guests.None(t)
	for name, fail := range map[string]func(){
		"panic":  func() { panic(errTest) },
		"Goexit": runtime.Goexit,
	} {
		for _, failing := range [][]int{{0}, {2}, {0, 1, 2}} {
			l := newHookLog()
			cfg := l.config(executor.Config{Workers: 3})
			start := cfg.Threads.Start
			cfg.Threads.Start = func(worker int) {
				for _, f := range failing {
					if f == worker {
						fail()
					}
				}
				start(worker)
			}
			ps := runtime.GOMAXPROCS(0)
			ex, err := fixture.New(t, cfg)
			require.Nil(t, ex)
			require.ErrorContains(t, err, "Config.Threads.Start on the thread of worker")
			if name == "panic" {
				require.ErrorIs(t, err, errTest)
			} else {
				require.ErrorIs(t, err, executor.ErrGoexit)
			}
			begun, ended := l.counts()
			require.Equal(t, 3-len(failing), begun)
			require.Equal(t, begun, ended)
			require.Equal(t, ps, runtime.GOMAXPROCS(0))
		}
	}
}

// A task that calls New waits as in Blocking while the threads of an executor that could not be started end.
func TestThreadStartFailsInTask(t *testing.T) {
	outer := newExecutor(t, executor.Config{Workers: 1, Threads: host.Threads{OnlyBlocking: true}})
	ended := false
	within(t, outer, func() {
		require.NoError(t, outer.Run(t.Context(), one(func(context.Context) error {
			_, err := executor.New(executor.Config{
				Workers: 2,
				Threads: host.Threads{Start: func(worker int) {
					if worker == 1 {
						panic(errTest)
					}
				}, End: func(int) {
					ended = outer.Run(context.Background(), one(nothing)) == nil
				}},
			})
			require.ErrorIs(t, err, errTest)
			return nil
		})))
	})
	require.True(t, ended)
}

// A spare whose Start fails is left out, and Dump and Close say why. The executor goes on without it.
func TestThreadStartFailsOnSpare(t *testing.T) {
	guests.None(t)
	for name, fail := range map[string]func(){
		"panic":  func() { panic(errTest) },
		"Goexit": runtime.Goexit,
	} {
		ex, err := fixture.New(t, executor.Config{Workers: 1, Spares: 1, Threads: host.Threads{Start: func(worker int) {
			if worker == 1 {
				fail()
			}
		}}})
		require.NoError(t, err)
		within(t, ex, func() {
			for range 3 {
				require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
					executor.Blocking(func() { time.Sleep(time.Millisecond) })
					return nil
				})))
			}
			eventually(func() bool { return ex.Serving() == 0 })
			require.Contains(t, dump(ex), "Config.Threads.Start on the thread of worker 1")
			err = ex.Close()
		})
		require.ErrorContains(t, err, "Config.Threads.Start on the thread of worker 1", name)
	}
}

// An End that fails keeps no thread, and Close and Shutdown report it.
func TestThreadEndFails(t *testing.T) {
	guests.None(t)
	for name, fail := range map[string]func(){
		"panic":  func() { panic(errTest) },
		"Goexit": runtime.Goexit,
	} {
		for _, shutdown := range []bool{false, true} {
			ex, err := fixture.New(t, executor.Config{Workers: 2, Threads: host.Threads{End: func(int) { fail() }}})
			require.NoError(t, err)
			within(t, ex, func() {
				if shutdown {
					err = ex.Shutdown(t.Context())
				} else {
					err = ex.Close()
				}
			})
			require.ErrorContains(t, err, "Config.Threads.End on the thread of worker", name)
			require.Equal(t, err, ex.Close())
		}
	}
}

// In a hook the executor refuses work, with a message, and Close.
func TestThreadHookMisuse(t *testing.T) {
	var ex *executor.Executor
	misuse := map[string]func(){
		"Run":   func() { _ = ex.Run(context.Background(), one(nothing)) },
		"Start": func() { ex.Start(context.Background(), one(nothing)) },
		"Async": func() {
			executor.Async(context.Background(), ex, func(context.Context) (int, error) { return 0, nil })
		},
		"Group": func() { executor.NewGroup(ex).Go(func() error { return nil }) },
	}
	for name, use := range misuse {
		var told error
		var err error
		ex, err = executor.New(executor.Config{Workers: 1, Threads: host.Threads{End: func(int) {
			told = mustPanic(use, "Threads.Start, Threads.End or an Observer starts, or waits for, work")
			if err := ex.Close(); !errors.Is(err, executor.ErrInTask) {
				told = errors.Join(told, errors.New("Close does not refuse"))
			}
		}}})
		require.NoError(t, err)
		require.NoError(t, ex.Close())
		require.NoError(t, told, name)
	}
}
