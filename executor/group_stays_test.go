package executor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// callsWithContext gives g functions by Go, GoContext and GoAfter. That of Go must be called, and fails. The result is
// whether the others were.
func callsWithContext(t *testing.T, g *executor.Group) bool {
	var of [3]bool
	g.Go(func() error { of[0] = true; return errors.New("a later failure") })
	g.GoContext(func(context.Context) error { of[1] = true; return nil })
	g.GoAfter(func(context.Context) error { of[2] = true; return nil })
	_ = g.Wait()
	require.True(t, of[0])
	require.Equal(t, of[1], of[2])
	return of[1]
}

// A group's first failure is the error of each Wait from then on, as that of an errgroup.
func TestGroupFailureStays(t *testing.T) {
	one, other := errors.New("one"), errors.New("other")
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		for _, errs := range [][]error{{}, {nil}, {one}, {one, nil}, {one, nil, other}, {nil, one, other, nil}} {
			follows, _ := executor.GroupWithContext(t.Context(), ex)
			for kind, g := range []*executor.Group{executor.NewGroup(ex), follows, {}} {
				var want error
				for i, err := range errs {
					g.Go(func() error { return err })
					if want == nil {
						want = err
					}
					require.Equal(t, want, g.Wait(), "kind %d, %v", kind, errs[:i+1])
					require.Equal(t, want, g.Wait(), "again")
				}
				if want != nil {
					require.False(t, callsWithContext(t, g), "kind %d, %v", kind, errs)
					require.Equal(t, want, g.Wait())
				}
			}
		}
	})
}

// A cancelled group stays so, whenever the Cancel comes. A failure that was before it counts.
func TestGroupCancelStays(t *testing.T) {
	const cancelled, failed = `run of "group": context canceled: enough`, "the test's own"
	enough := errors.New("enough")
	succeeds, fails := func() error { return nil }, func() error { return errTest }
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		for name, c := range map[string]struct {
			cancel func(g *executor.Group)
			want   string
		}{
			"before the first function": {func(g *executor.Group) { g.Cancel(enough); g.Go(succeeds) }, cancelled},
			"among functions": {func(g *executor.Group) {
				g.Go(func() error { g.Cancel(enough); return errTest })
			}, cancelled + "\n" + failed},
			"between": {func(g *executor.Group) {
				g.Go(succeeds)
				require.NoError(t, g.Wait())
				g.Cancel(enough)
				require.NoError(t, g.Wait())
				g.Go(succeeds)
			}, cancelled},
			"twice":           {func(g *executor.Group) { g.Cancel(enough); g.Cancel(errTest); g.Go(succeeds) }, cancelled},
			"after a failure": {func(g *executor.Group) { g.Go(fails); _ = g.Wait(); g.Cancel(enough) }, failed},
		} {
			follows, _ := executor.GroupWithContext(t.Context(), ex)
			for _, g := range []*executor.Group{executor.NewGroup(ex), follows} {
				c.cancel(g)
				require.EqualError(t, g.Wait(), c.want, name)
				require.Equal(t, c.want != failed, errors.Is(g.Wait(), context.Canceled), name)
				for range 2 {
					called := callsWithContext(t, g)
					require.False(t, called, name)
					require.EqualError(t, g.Wait(), c.want, name)
				}
			}
		}
		g := executor.NewGroup(ex)
		g.KeepGoing()
		g.Go(fails)
		require.Equal(t, errTest, g.Wait())
		g.Cancel(enough)
		require.False(t, callsWithContext(t, g))
		require.EqualError(t, g.Wait(), cancelled+"\n"+failed+"\na later failure")
		require.False(t, callsWithContext(t, g))
		require.EqualError(t, g.Wait(), cancelled+"\n"+failed+"\na later failure\na later failure")
	})
}

// The error stays also if the executor is closed, or the caller's context ends, after it.
func TestGroupErrorStaysWhenRefused(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		ex := newExecutor(t, executor.Config{Workers: 1})
		ctx, cancel := context.WithCancel(t.Context())
		failed, _ := executor.GroupWithContext(ctx, ex)
		ended, _ := executor.GroupWithContext(ctx, ex)
		if keeps {
			failed.KeepGoing()
		}
		failed.Go(func() error { return errTest })
		require.Equal(t, errTest, failed.Wait())
		cancel()
		ended.Go(func() error { return errTest })
		want := ended.Wait()
		require.ErrorIs(t, want, context.Canceled)
		require.ErrorIs(t, want, errTest)
		refused := func() {
			for range 2 {
				failed.Go(func() error { t.Error("called"); return nil })
				require.Equal(t, errTest, failed.Wait())
				ended.Go(func() error { t.Error("called"); return nil })
				require.Equal(t, want, ended.Wait())
			}
		}
		refused()
		require.NoError(t, ex.Close())
		refused()
	}
}

// After KeepGoing a group that has failed calls all functions again. Its failure stays.
func TestGroupKeepsGoingAgain(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		g := executor.NewGroup(ex)
		g.Go(func() error { return errTest })
		require.Equal(t, errTest, g.Wait())
		g.KeepGoing()
		require.True(t, callsWithContext(t, g))
		require.EqualError(t, g.Wait(), errTest.Error()+"\na later failure")
	})
}

// A group may be given a function on top of its own end, where an inline executor runs tasks: the end of the group's
// context ends an external task, which gives its permit to the next.
func TestGroupGoInItsOwnEnd(t *testing.T) {
	ex := executor.NewInline(1)
	g := executor.NewGroup(ex)
	permit := graph.NewSemaphore(1)
	called := false
	g.GoContext(func(ctx context.Context) error {
		holds := graph.New("holds")
		holds.External(func(context.Context, func(error)) error { return nil }).Hold(permit)
		ex.Start(ctx, holds)
		return nil
	})
	next := graph.New("next")
	next.Task(func(context.Context) error {
		g.Go(func() error { called = true; return errTest })
		return nil
	}).Hold(permit)
	r := ex.Start(t.Context(), next)
	require.False(t, r.Progress().Over)
	require.NoError(t, g.Wait())
	require.NoError(t, r.Wait())
	require.Equal(t, errTest, g.Wait())
	require.True(t, called)
}
