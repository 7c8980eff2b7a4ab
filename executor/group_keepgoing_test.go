package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// joined returns the parts of an error that joins several, or err alone.
func joined(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return []error{err}
}

func TestGroupKeepGoing(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		g, ctx := executor.GroupWithContext(context.Background(), ex)
		g.KeepGoing()
		const n = 50
		var called atomic.Int32
		var want []string
		for i := range n {
			if i%5 == 0 {
				want = append(want, fmt.Sprint("failure ", i))
			}
			g.GoContext(func(ctx context.Context) error {
				called.Add(1)
				if i%5 == 0 {
					return fmt.Errorf("failure %d", i)
				}
				return ctx.Err()
			})
		}
		g.Go(func() error { panic("a panic") })
		err := g.Wait()
		require.EqualValues(t, n, called.Load())
		var got []string
		for _, e := range joined(err) {
			if p := (*executor.PanicError)(nil); errors.As(e, &p) {
				require.Equal(t, "a panic", p.Value)
				continue
			}
			got = append(got, e.Error())
		}
		require.ElementsMatch(t, want, got)
		require.Len(t, joined(err), len(want)+1)
		require.Error(t, ctx.Err(), "Wait has returned")

		// The failures stay, and those of the next functions are added.
		g = executor.NewGroup(ex)
		g.KeepGoing()
		one, other := errors.New("one"), errors.New("other")
		g.Go(func() error { return one })
		require.Same(t, one, g.Wait(), "a single failure is returned as it is")
		g.GoContext(func(context.Context) error { return other })
		require.Equal(t, []error{one, other}, joined(g.Wait()))
		g.GoContext(func(ctx context.Context) error { return ctx.Err() })
		require.Equal(t, []error{one, other}, joined(g.Wait()))
	})
}

// TestGroupKeepGoingCancelled: a group that keeps going stops when it is cancelled.
func TestGroupKeepGoingCancelled(t *testing.T) {
	onEach(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		g := executor.NewGroup(ex)
		g.KeepGoing()
		boom, enough := errors.New("boom"), errors.New("enough")
		g.Go(func() error { return boom })
		g.GoAfter(func(context.Context) error { g.Cancel(enough); return nil })
		g.GoAfter(func(context.Context) error { t.Error("called after Cancel"); return nil },
			g.GoAfter(func(ctx context.Context) error {
				executor.Blocking(func() { <-ctx.Done() }) // the only worker may come here first
				return ctx.Err()
			}))
		err := g.Wait()
		require.ErrorIs(t, err, enough)
		require.ErrorIs(t, err, boom)
	})
}

// TestGroupKeepGoingAfter: of functions after one another exactly those are not called that come after a failure.
func TestGroupKeepGoingAfter(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 1))
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Count(t, 30) {
			g := executor.NewGroup(ex)
			g.KeepGoing()
			if r.IntN(2) == 0 {
				g.SetLimit(1 + r.IntN(3))
			}
			n := 1 + r.IntN(30)
			tasks, called := make([]*executor.GroupTask, n), make([]atomic.Int32, n)
			spoilt, failures := make([]bool, n), 0
			for i := range n {
				var after []*executor.GroupTask
				skips := false
				for range r.IntN(3) {
					if i > 0 {
						j := r.IntN(i)
						after = append(after, tasks[j])
						skips = skips || spoilt[j]
					}
				}
				fails := r.IntN(5) == 0
				spoilt[i] = skips || fails
				if fails && !skips {
					failures++
				}
				want := int32(1)
				if skips {
					want = 0
				}
				called[i].Store(-want)
				tasks[i] = g.GoAfter(func(context.Context) error {
					called[i].Add(1)
					if fails {
						return fmt.Errorf("failure %d", i)
					}
					return nil
				}, after...)
			}
			err := g.Wait()
			for i := range n {
				require.Zero(t, called[i].Load(), "function %d", i)
			}
			if failures == 0 {
				require.NoError(t, err)
			} else {
				require.Len(t, joined(err), failures)
			}
			if last := n - 1; spoilt[last] { // a task of before another Wait
				g.GoAfter(func(context.Context) error { t.Error("called after a failure"); return nil }, tasks[last])
				require.Equal(t, joined(err), joined(g.Wait()))
			}
		}
	})
}

func TestGroupKeepGoingMisuse(t *testing.T) {
	onEach(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		g := executor.NewGroup(ex)
		g.Go(func() error { return nil })
		require.PanicsWithValue(t,
			"executor: Group.KeepGoing while functions of the group may run: call it before the first Go or after Wait",
			g.KeepGoing)
		require.NoError(t, g.Wait())
		g.KeepGoing()
		require.PanicsWithValue(t, "executor: a method of a nil Group", (*executor.Group)(nil).KeepGoing)
	})
}

// TestGroupStopsWithoutKeepGoing: a group that does not keep going has one failure, and calls no function of GoAfter
// that comes after it.
func TestGroupStopsWithoutKeepGoing(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		g := executor.NewGroup(ex)
		boom := errors.New("boom")
		failed := g.GoAfter(func(context.Context) error { return boom })
		g.GoAfter(func(context.Context) error { t.Error("called after a failure"); return nil }, failed)
		g.Go(func() error { return nil })
		require.Same(t, boom, g.Wait())
	})
}
