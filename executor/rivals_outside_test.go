package executor_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// What the test suites and issues of other libraries try with work that ends elsewhere.

// device answers requests with numbers from 0, but only when it has n of them, and the last one first. So a request
// must not hold a worker.
func device(n int) (requests chan<- func(answer int)) {
	c := make(chan func(int))
	go func() {
		var all []func(int)
		for range n {
			all = append(all, <-c)
		}
		for i, answer := range slices.Backward(all) {
			answer(i)
		}
	}()
	return c
}

// oneTBB, test_async_node: tasks of a graph hand requests to a device, and the task after all of them has the answers.
func TestRivalsAsyncNode(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		requests := device(100)
		g := graph.New("device")
		var answers []graph.Value[int]
		for range 100 {
			answers = append(answers, graph.SourceExternal(g, func(_ context.Context, done func(int, error)) error {
				requests <- func(answer int) { done(answer, nil) }
				return nil
			}))
		}
		var seen []int
		graph.MapAll(answers, func(_ context.Context, all []int) (bool, error) {
			seen = slices.Sorted(slices.Values(all))
			return true, nil
		})
		require.NoError(t, ex.Run(t.Context(), g))
		require.Len(t, slices.Compact(seen), 100)
		require.Equal(t, []int{0, 99}, []int{seen[0], seen[99]})
	})
}

// oneTBB, test_resumable_tasks: what comes behind the suspension is a future after the answer.
func TestRivalsSuspend(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		requests := device(100)
		var all []*executor.Future[int]
		require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
			for range 100 {
				answer := executor.NewPromise[int](t.Context(), ex)
				requests <- func(a int) { answer.Resolve(a) }
				all = append(all, executor.Async(t.Context(), ex, func(context.Context) (int, error) {
					a, err := answer.Future().Wait() // it has ended
					return 2 * a, err
				}, answer.Future()))
			}
			return nil
		})))
		for i, f := range all {
			answer, err := f.Wait()
			require.NoError(t, err)
			require.Equal(t, 2*i, answer)
		}
	})
}

// taskflow#535: a hundred tasks come each after a timer, and one worker is enough.
func TestRivalsTimers(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		var late []*executor.Future[time.Duration]
		for i := range 100 {
			start, pause := time.Now(), time.Duration(i%10)*time.Millisecond
			timer := executor.Timer(t.Context(), ex, pause)
			late = append(late, executor.Async(t.Context(), ex, func(context.Context) (time.Duration, error) {
				return time.Since(start) - pause, nil
			}, timer))
		}
		for _, f := range late {
			by, err := f.Wait()
			require.NoError(t, err)
			require.GreaterOrEqual(t, by, time.Duration(0))
		}
	})
}

// oneTBB, test_resumable_tasks, and taskflow#535: a timer ends the wait for a reply that does not come in time.
func TestRivalsReplyInTime(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		ask := func(within time.Duration) *executor.Promise[string] {
			reply := executor.NewPromise[string](t.Context(), ex)
			executor.Timer(reply.Context(), ex, within).OnEnd(func(time.Time, error) {
				reply.Reject(context.DeadlineExceeded)
			})
			return reply
		}
		never, soon := ask(time.Millisecond), ask(time.Hour)
		soon.Resolve("here")
		text, err := soon.Future().Wait()
		require.NoError(t, err)
		require.Equal(t, "here", text)
		_, err = never.Future().Wait()
		require.Equal(t, context.DeadlineExceeded, err)
	})
}

// taskflow#535, the run of another executor as a predecessor: a task ends with it, and no worker waits for another.
func TestRivalsRunElsewhere(t *testing.T) {
	other := newExecutor(t, executor.Config{Workers: 1})
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		n := 0
		add := func(k int) func(context.Context) error {
			return func(context.Context) error { n = 10*n + k; return nil }
		}
		g := graph.New("here")
		there := g.External(func(ctx context.Context, done func(error)) error {
			other.Start(ctx, one(add(2))).OnEnd(done)
			return nil
		})
		g.Task(add(1)).Precede(there)
		there.Precede(g.Task(add(3)))
		require.NoError(t, ex.Run(t.Context(), g))
		require.Equal(t, 123, n)
	})
}
