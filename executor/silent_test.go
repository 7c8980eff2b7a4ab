package executor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// Programs whose functions wait for each other, or for something outside, and say nothing. They are written for
// goroutines. n is how many functions wait at a time.
var silentPrograms = []struct {
	name string
	run  func(t *testing.T, ex *executor.Executor, n int)
}{
	{"consumers before the producer", func(t *testing.T, ex *executor.Executor, n int) {
		g := executor.NewGroup(ex)
		queue := make(chan int)
		var sum atomic.Int64
		for range n {
			g.Go(func() error {
				for v := range queue {
					sum.Add(int64(v))
				}
				return nil
			})
		}
		g.Go(func() error {
			defer close(queue)
			for i := range 3 * n {
				queue <- i
			}
			return nil
		})
		require.NoError(t, g.Wait())
		require.EqualValues(t, 3*n*(3*n-1)/2, sum.Load())
	}},
	{"futures that are each other's barrier", func(t *testing.T, ex *executor.Executor, n int) {
		var met sync.WaitGroup
		met.Add(n)
		futures := make([]*executor.Future[int], n)
		for i := range futures {
			futures[i] = executor.Async(t.Context(), ex, func(context.Context) (int, error) {
				met.Done()
				met.Wait()
				return i, nil
			})
		}
		for i, f := range futures {
			v, err := f.Wait()
			require.NoError(t, err)
			require.Equal(t, i, v)
		}
	}},
	{"children at a sync.Cond", func(t *testing.T, ex *executor.Executor, n int) {
		var mu sync.Mutex
		cond, here := sync.NewCond(&mu), 0
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("silent", func(s *executor.Scope) error {
			for range n {
				s.Go(func(context.Context) error {
					mu.Lock()
					defer mu.Unlock()
					here++
					cond.Broadcast()
					for here < n {
						cond.Wait()
					}
					return nil
				})
			}
			return s.Wait()
		})))
	}},
	{"a queue with room for one, in stages", func(t *testing.T, ex *executor.Executor, n int) {
		g := executor.NewGroup(ex)
		first := make(chan int, 1)
		last := first
		for range n {
			in, out := last, make(chan int, 1)
			g.Go(func() error {
				defer close(out)
				for v := range in {
					out <- v + 1
				}
				return nil
			})
			last = out
		}
		g.Go(func() error {
			defer close(first)
			for i := range 5 {
				first <- i
			}
			return nil
		})
		for i := range 5 {
			require.Equal(t, i+n, <-last)
		}
		require.NoError(t, g.Wait())
	}},
	{"requests to a server whose handlers run here", func(t *testing.T, ex *executor.Executor, n int) {
		server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
			f := executor.Async(in.Context(), ex, func(context.Context) (string, error) { return in.URL.Path, nil })
			path, err := f.Wait()
			if err != nil {
				http.Error(out, err.Error(), http.StatusInternalServerError)
				return
			}
			fmt.Fprint(out, path)
		}))
		defer server.Close()
		g := executor.NewGroup(ex)
		for i := range min(n, 16) {
			g.Go(func() error {
				resp, err := server.Client().Get(fmt.Sprintf("%s/%d", server.URL, i))
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				if want := fmt.Sprintf("/%d", i); string(body) != want {
					return errors.Join(err, fmt.Errorf("got %q, want %q", body, want))
				}
				return err
			})
		}
		require.NoError(t, g.Wait())
	}},
	{"processes that wait for the end of their input", func(t *testing.T, ex *executor.Executor, n int) {
		g := executor.NewGroup(ex)
		n = min(n, 8)
		inputs := make(chan io.Closer, n)
		for range n {
			g.Go(func() error {
				cat := exec.Command("cat")
				in, err := cat.StdinPipe()
				if err == nil {
					err = cat.Start()
				}
				if err != nil {
					return err
				}
				inputs <- in
				return cat.Wait()
			})
		}
		g.Go(func() error {
			for range n {
				if err := (<-inputs).Close(); err != nil {
					return err
				}
			}
			return nil
		})
		require.NoError(t, g.Wait())
	}},
	{"a convoy at a mutex", func(t *testing.T, ex *executor.Executor, n int) {
		var mu sync.Mutex
		g, calls := executor.NewGroup(ex), 0
		mu.Lock()
		for range n {
			g.Go(func() error {
				mu.Lock()
				defer mu.Unlock()
				calls++
				return nil
			})
		}
		g.Go(func() error { mu.Unlock(); return nil })
		require.NoError(t, g.Wait())
		require.Equal(t, n, calls)
	}},
	{"sleepers, and one that they sleep for", func(t *testing.T, ex *executor.Executor, n int) {
		var stop atomic.Bool
		g := executor.NewGroup(ex)
		for range n {
			g.Go(func() error {
				for !stop.Load() {
					time.Sleep(time.Second / 10)
				}
				return nil
			})
		}
		g.Go(func() error { stop.Store(true); return nil })
		require.NoError(t, g.Wait())
	}},
	{"tasks that look every millisecond", func(t *testing.T, ex *executor.Executor, n int) {
		var stop atomic.Bool
		g := executor.NewGroup(ex)
		for range min(n, 5) { // more need a processor where no thread can tell that they sleep
			g.Go(func() error {
				for !stop.Load() {
					time.Sleep(time.Millisecond)
				}
				return nil
			})
		}
		g.Go(func() error { stop.Store(true); return nil })
		require.NoError(t, g.Wait())
	}},
	{"a nested run of which one waits for another", func(t *testing.T, ex *executor.Executor, n int) {
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("silent", func(s *executor.Scope) error {
			var met sync.WaitGroup
			met.Add(n)
			g, _ := executor.GroupWithContext(s.Context(), nil)
			for range n {
				g.Go(func() error { met.Done(); met.Wait(); return nil })
			}
			return g.Wait()
		})))
	}},
	{"a future that is waited for, and needs another", func(t *testing.T, ex *executor.Executor, n int) {
		g, queue := executor.NewGroup(ex), make(chan int)
		g.Go(func() error {
			f := executor.Async(t.Context(), ex, func(context.Context) (int, error) { return <-queue, nil })
			executor.Blocking(func() { time.Sleep(time.Millisecond) }) // a spare begins it
			v, err := f.Wait()
			if v != n {
				return errors.Join(err, fmt.Errorf("got %d", v))
			}
			return err
		})
		g.Go(func() error { time.Sleep(2 * time.Millisecond); queue <- n; return nil })
		require.NoError(t, g.Wait())
	}},
	{"tasks of a graph, on two workers or more", func(t *testing.T, ex *executor.Executor, n int) {
		if ex.Workers() == 1 {
			return // see Config.Threads.OnlyBlocking
		}
		var met sync.WaitGroup
		met.Add(n)
		g := graph.New("barrier")
		for range n {
			g.Task(func(context.Context) error { met.Done(); met.Wait(); return nil })
		}
		require.NoError(t, ex.Run(t.Context(), g))
	}},
}

// TestSilentConsumers: functions of a group wait for one that comes last. There is one worker, and no other work.
func TestSilentConsumers(t *testing.T) {
	t.Parallel() // it waits most of the time
	for _, p := range silentPrograms {
		if p.name == "consumers before the producer" {
			ex := newWatched(t, executor.Config{Workers: 1})
			within(t, ex, func() { p.run(t, ex, 5) })
		}
	}
}

// Functions that wait outside Blocking end as on goroutines, however many there are.
func TestSilentPrograms(t *testing.T) {
	t.Parallel() // it waits most of the time
	numbers := testkit.Part(t, []int{2, 5, 17, 40})
	if !testkit.Quick() {
		numbers = testkit.Some(t, []int{2, 5, 17, 40, 100, 200})
	}
	for _, p := range silentPrograms {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, workers := range testkit.Draw(t, []int{1, 2, 4}, 0, 1) {
				for _, n := range numbers {
					t.Run(fmt.Sprintf("W=%d/n=%d", workers, n), func(t *testing.T) {
						ex := newWatched(t, executor.Config{Workers: workers})
						within(t, ex, func() { p.run(t, ex, n) })
					})
				}
			}
		})
	}
}
