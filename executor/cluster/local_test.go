package cluster_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/graph"
)

func TestRun(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("arithmetic")
	one := f.one.Call(g)
	two := f.double.Call(g, one)
	three := f.add.Call(g, one, two).Keep()
	five := f.clamp.Call(g, cluster.Value(5), three, cluster.Value(9))
	all := f.sum.Call(g, one, two, three, five, cluster.Value(100))
	text := f.text.Call(g, all)
	none := f.sum.Call(g)

	res := mustRun(t, f.reg, g)
	want(t, res, three, 3)
	want(t, res, text, "111")
	want(t, res, none, 0)
	_, err := five.Result(res)
	require.ErrorIs(t, err, cluster.ErrNotKept)
}

func TestRunOfTwiceTheSameGraph(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("twice")
	end := f.double.Call(g, cluster.Value(4))
	ex := newExecutor(t)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			res, err := cluster.Run(t.Context(), ex, f.reg, g)
			require.NoError(t, err)
			want(t, res, end, 8)
		})
	}
	wait.Wait()
}

func TestAfter(t *testing.T) {
	reg := cluster.NewRegistry()
	var seen []int
	note := cluster.Register(reg, "note", func(_ context.Context, n int) (int, error) {
		seen = append(seen, n) // the race detector checks that the calls are in an order
		return n, nil
	})
	g := cluster.NewGraph("order")
	var last []cluster.AnyCall
	for i := range 100 {
		c := note.Call(g, cluster.Value(i)).After(last...).After(last...)
		last = []cluster.AnyCall{c}
	}
	mustRun(t, reg, g)
	require.Len(t, seen, 100)
	require.IsIncreasing(t, seen)
}

func TestChoose(t *testing.T) {
	for choice := -1; choice <= 2; choice++ {
		f := newFunctions()
		g := cluster.NewGraph("choice")
		which := f.sum.Call(g, cluster.Value(choice))
		zero := f.double.Call(g, cluster.Value(10))
		one := f.double.Call(g, cluster.Value(20))
		cluster.Choose(which, zero, one)
		afterZero := f.text.Call(g, zero)
		afterBoth := f.add.Call(g, zero, one)
		either := f.add.Call(g, zero, one).AnyOf()
		afterEither := f.double.Call(g, either)
		byOrder := f.one.Call(g).After(one)
		free := f.one.Call(g)

		res := mustRun(t, f.reg, g)
		want(t, res, free, 1)
		absent := func(err error) { t.Helper(); require.ErrorIs(t, err, cluster.ErrAbsent) }
		_, err := afterBoth.Result(res)
		absent(err)
		_, err = afterZero.Result(res)
		if choice == 0 {
			require.NoError(t, err)
			want(t, res, afterEither, 40)
		} else {
			absent(err)
		}
		_, err = byOrder.Result(res)
		if choice == 1 {
			require.NoError(t, err)
			want(t, res, afterEither, 80)
		} else {
			absent(err)
		}
		if choice != 0 && choice != 1 {
			_, err = afterEither.Result(res)
			absent(err)
		}
	}
}

// Several calls may choose one call: it runs once if any does.
func TestChooseByTwo(t *testing.T) {
	for a := range 2 {
		for b := range 2 {
			f := newFunctions()
			g := cluster.NewGraph("by two")
			first, second := f.sum.Call(g, cluster.Value(a)), f.sum.Call(g, cluster.Value(b))
			end := f.one.Call(g)
			cluster.Choose(first, end)
			cluster.Choose(second, end)
			_, err := end.Result(mustRun(t, f.reg, g))
			if a == 0 || b == 0 {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, cluster.ErrAbsent)
			}
		}
	}
}

func TestSubCalls(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("fib")
	fib := f.fib.Call(g, cluster.Value(12)).Keep()
	text := f.text.Call(g, fib)
	res := mustRun(t, f.reg, g)
	want(t, res, fib, 144)
	want(t, res, text, "144")
}

// A call is absent if the result that its function has named is.
func TestSubCallThatIsAbsent(t *testing.T) {
	f := newFunctions()
	sub := cluster.RegisterSub(f.reg, "sub", func(_ context.Context, sub *cluster.Graph, n int) (cluster.Arg[int], error) {
		which := f.double.Call(sub, cluster.Value(n))
		result := f.one.Call(sub)
		cluster.Choose(which, result)
		return result, nil
	})
	for n := range 2 {
		g := cluster.NewGraph("g")
		c := sub.Call(g, cluster.Value(n)).Keep()
		text := f.text.Call(g, c)
		for _, run := range []func(
			context.Context, *executor.Executor, *cluster.Registry, *cluster.Graph,
		) (*cluster.Results, error){cluster.Run, cluster.Rehearse} {
			res, err := run(t.Context(), newExecutor(t), f.reg, g)
			require.NoError(t, err)
			if n == 0 {
				want(t, res, text, "1")
				continue
			}
			_, err = c.Result(res)
			require.ErrorIs(t, err, cluster.ErrAbsent)
			_, err = text.Result(res)
			require.ErrorIs(t, err, cluster.ErrAbsent)
		}
	}
}

func TestSubCallsThatFail(t *testing.T) {
	f := newFunctions()
	type arg = cluster.Arg[int]
	cases := map[string]func(sub *cluster.Graph) (arg, error){
		"task fail#0":       func(sub *cluster.Graph) (arg, error) { return f.fail.Call(sub, cluster.Value(1)), nil },
		"boom":              func(*cluster.Graph) (arg, error) { return nil, errBoom },
		"neither a call":    func(*cluster.Graph) (arg, error) { return nil, nil },
		"of another graph":  func(*cluster.Graph) (arg, error) { return f.one.Call(cluster.NewGraph("")), nil },
		"is not registered": func(sub *cluster.Graph) (arg, error) { return newOther().Call(sub), nil },
	}
	for text, fn := range cases {
		sub := cluster.RegisterSub(f.reg, text, func(_ context.Context, sub *cluster.Graph, _ int) (cluster.Arg[int], error) {
			return fn(sub)
		})
		g := cluster.NewGraph("sub")
		f.double.Call(g, sub.Call(g, cluster.Value(1)))
		_, err := cluster.Run(t.Context(), newExecutor(t), f.reg, g)
		require.ErrorContains(t, err, text)
		require.ErrorContains(t, err, `graph "sub": task `+text+"#0")
	}
}

func newOther() cluster.Func0[int] {
	return cluster.Register0(cluster.NewRegistry(), "other", func(context.Context) (int, error) { return 0, nil })
}

func TestErrorsNameTheCall(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("failing")
	f.double.Call(g, f.fail.Call(g, f.one.Call(g)))
	_, err := cluster.Run(t.Context(), newExecutor(t), f.reg, g)
	require.ErrorIs(t, err, errBoom)
	var failed *graph.TaskError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "failing", failed.Graph)
	require.Equal(t, "fail#1", failed.Task)

	g = cluster.NewGraph("failing")
	f.fail.Call(g, f.one.Call(g)).Named("the second")
	_, err = cluster.Run(t.Context(), newExecutor(t), f.reg, g)
	require.ErrorContains(t, err, `graph "failing": task the second (fail): boom`)
}

func TestPanicsAreErrors(t *testing.T) {
	reg := cluster.NewRegistry()
	bad := cluster.Register0(reg, "bad", func(context.Context) (int, error) { panic("ouch") })
	g := cluster.NewGraph("g")
	bad.Call(g)
	_, err := cluster.Run(t.Context(), newExecutor(t), reg, g)
	var panicked *executor.PanicError
	require.ErrorAs(t, err, &panicked)
	require.Equal(t, "ouch", panicked.Value)
	require.ErrorContains(t, err, "bad#0")
}

func TestCancel(t *testing.T) {
	reg := cluster.NewRegistry()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := cluster.Register0(reg, "stop", func(ctx context.Context) (int, error) {
		cancel(errBoom)
		<-ctx.Done()
		return 1, nil
	})
	after := cluster.Register(reg, "after", func(context.Context, int) (int, error) { t.Error("it ran"); return 1, nil })
	g := cluster.NewGraph("g")
	after.Call(g, stop.Call(g))
	_, err := cluster.Run(ctx, newExecutor(t), reg, g)
	require.ErrorIs(t, err, errBoom)
	require.ErrorIs(t, err, context.Canceled)
}

func TestRetries(t *testing.T) {
	var calls atomic.Int32
	var keys sync.Map
	reg := cluster.NewRegistry()
	flaky := cluster.Register(reg, "flaky", func(ctx context.Context, good int) (int, error) {
		keys.Store(cluster.Key(ctx), true)
		if n := int(calls.Add(1)); n < good {
			return 0, errBoom
		}
		return 7, nil
	})
	g := cluster.NewGraph("g")
	c := flaky.Call(g, cluster.Value(3)).Retries(2)
	want(t, mustRun(t, reg, g), c, 7)
	require.EqualValues(t, 3, calls.Load())
	n := 0
	keys.Range(func(any, any) bool { n++; return true })
	require.Equal(t, 1, n, "attempts have one key")

	calls.Store(0)
	g = cluster.NewGraph("g")
	flaky.Call(g, cluster.Value(3)).Retries(1)
	_, err := cluster.Run(t.Context(), newExecutor(t), reg, g)
	require.ErrorIs(t, err, errBoom)
	require.EqualValues(t, 2, calls.Load())
}

func TestHold(t *testing.T) {
	var inside, most atomic.Int32
	reg := cluster.NewRegistry()
	work := cluster.Register(reg, "work", func(_ context.Context, n int) (int, error) {
		now := inside.Add(1)
		defer inside.Add(-1)
		for {
			old := most.Load()
			if now <= old || most.CompareAndSwap(old, now) {
				break
			}
		}
		time.Sleep(50 * time.Microsecond)
		return n, nil
	})
	ex, err := executor.New(executor.Config{Workers: 8})
	require.NoError(t, err)
	defer ex.Close()
	g := cluster.NewGraph("g")
	db := g.Semaphore("db", 2)
	for i := range 200 {
		work.Call(g, cluster.Value(i)).Hold(db, db)
	}
	_, err = cluster.Run(t.Context(), ex, reg, g)
	require.NoError(t, err)
	require.LessOrEqual(t, most.Load(), int32(2))
	require.Positive(t, most.Load())
}

func TestInfo(t *testing.T) {
	reg := cluster.NewRegistry()
	info := cluster.Register(reg, "info", func(ctx context.Context, _ int) (cluster.Info, error) {
		i, ok := cluster.InfoFrom(context.WithValue(ctx, 1, 2))
		if !ok {
			return i, errors.New("no info")
		}
		return i, nil
	})
	inner := cluster.RegisterSub(reg, "inner",
		func(ctx context.Context, sub *cluster.Graph, n int) (cluster.Arg[cluster.Info], error) {
			return info.Call(sub, cluster.Value(n)), nil
		})
	g := cluster.NewGraph("g")
	a := info.Call(g, cluster.Value(0))
	b := info.Call(g, cluster.Value(0)).Named("b")
	c := inner.Call(g, cluster.Value(0))
	res := mustRun(t, reg, g)
	run := res.Run()
	want(t, res, a, cluster.Info{Run: run, Graph: "g", Call: "info#0", Function: "info", Key: run + "/0"})
	want(t, res, b, cluster.Info{Run: run, Graph: "g", Call: "b (info)", Function: "info", Key: run + "/1"})
	want(t, res, c, cluster.Info{Run: run, Graph: "inner#2", Call: "info#0", Function: "info", Key: run + "/2/0"})
	require.NotEqual(t, run, mustRun(t, reg, g).Run())

	_, ok := cluster.InfoFrom(t.Context())
	require.False(t, ok)
	require.Empty(t, cluster.Key(t.Context()))
}

// Values that pass from call to call are the same value, and each Value is one for each call that takes it.
func TestSharing(t *testing.T) {
	reg := cluster.NewRegistry()
	type box struct{ N *int }
	same := cluster.Register(reg, "same", func(_ context.Context, b box) (box, error) { return b, nil })
	g := cluster.NewGraph("g")
	n := 5
	value := cluster.Value(box{&n})
	a, b := same.Call(g, value).Keep(), same.Call(g, value)
	c := same.Call(g, a)
	n = 6 // the graph has the value as it was
	res := mustRun(t, reg, g)
	first, err := a.Result(res)
	require.NoError(t, err)
	second, err := b.Result(res)
	require.NoError(t, err)
	third, err := c.Result(res)
	require.NoError(t, err)
	require.Equal(t, 5, *first.N)
	require.Equal(t, 5, *second.N)
	require.Same(t, first.N, third.N)
	require.NotSame(t, first.N, second.N)
}

func TestInterfaceValues(t *testing.T) {
	reg := cluster.NewRegistry()
	id := cluster.Register(reg, "id", func(_ context.Context, v any) (any, error) { return v, nil })
	g := cluster.NewGraph("g")
	c := id.Call(g, id.Call(g, cluster.Value[any](nil)))
	want(t, mustRun(t, reg, g), c, nil)
}

func TestMissingFunctions(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	f.double.Call(g, f.one.Call(g))
	_, err := cluster.Run(t.Context(), newExecutor(t), cluster.NewRegistry(), g)
	var missing *cluster.MissingError
	require.ErrorAs(t, err, &missing)
	require.ErrorContains(t, err, `function "one"`)
	require.ErrorContains(t, err, `function "double"`)
	require.Contains(t, err.Error(), string(f.double.Signature()))

	other := cluster.NewRegistry()
	cluster.Register0(other, "one", func(context.Context) (int, error) { return 1, nil })
	cluster.Register(other, "double", func(_ context.Context, n string) (int, error) { return 0, nil })
	_, err = cluster.Run(t.Context(), newExecutor(t), other, g)
	require.ErrorAs(t, err, &missing)
	require.Equal(t, "double", missing.Function)
	require.Equal(t, f.double.Signature(), missing.Want)
	require.NotEmpty(t, missing.Have)

	_, err = cluster.Run(t.Context(), newExecutor(t), nil, g)
	require.ErrorContains(t, err, "registry is nil")
	_, err = cluster.Run(t.Context(), newExecutor(t), f.reg, nil)
	require.ErrorContains(t, err, "graph is nil")
}

// Functions with the same signature and other types of Go take each other's results.
func TestOtherTypesOfTheSameStructure(t *testing.T) {
	type theirs struct{ N int }
	type ours struct{ N int }
	built := cluster.NewRegistry()
	makes := cluster.Register0(built, "make", func(context.Context) (theirs, error) { return theirs{1}, nil })
	takes := cluster.Register(built, "take", func(_ context.Context, v theirs) (theirs, error) {
		return theirs{v.N + 1}, nil
	})
	g := cluster.NewGraph("g")
	c := takes.Call(g, makes.Call(g))

	ran := cluster.NewRegistry()
	cluster.Register0(ran, "make", func(context.Context) (ours, error) { return ours{10}, nil })
	cluster.Register(ran, "take", func(_ context.Context, v theirs) (ours, error) { return ours{v.N + 1}, nil })
	want(t, mustRun(t, ran, g), c, theirs{11})
}

// A worker's type for the index may be another than the submitter's.
func TestChoiceByAnotherInt(t *testing.T) {
	type index int
	f := newFunctions()
	built := cluster.NewRegistry()
	which := cluster.Register(built, "which", func(_ context.Context, n int) (int, error) { return n, nil })
	g := cluster.NewGraph("g")
	c := which.Call(g, cluster.Value(0))
	arm := f.one.Call(g)
	cluster.Choose(c, arm)
	other := which.Call(g, cluster.Value(0)) // c does not choose it
	cluster.Choose(c, other)
	none := f.one.Call(g)
	cluster.Choose(other, none)
	cluster.Register(f.reg, "which", func(_ context.Context, n int) (index, error) { return index(n), nil })
	res := mustRun(t, f.reg, g)
	want(t, res, arm, 1)
	_, err := none.Result(res)
	require.ErrorIs(t, err, cluster.ErrAbsent)
}

// The graph of a function of RegisterSub is called like the call, and that may be longer than a name.
func TestLongNames(t *testing.T) {
	f := newFunctions()
	long := strings.Repeat("long", 50)
	sub := cluster.RegisterSub(f.reg, long, func(context.Context, *cluster.Graph, int) (cluster.Arg[int], error) {
		return cluster.Value(1), nil
	})
	g := cluster.NewGraph(long)
	c := sub.Call(g, cluster.Value(1)).Named(long)
	want(t, mustRun(t, f.reg, g), c, 1)
}

// Only a graph that was read can have such a call.
func TestChoiceByText(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	which := f.one.Call(g)
	cluster.Choose(which, f.one.Call(g))
	f.text.Call(g, cluster.Value(1))
	data, err := g.MarshalJSON()
	require.NoError(t, err)
	changed := strings.Replace(string(data), `{"f":0},{"f":1,"in":[-1]}]`, `{"f":1,"in":[-1],"choose":[2]},{"f":0}]`, 1)
	changed = strings.Replace(changed, `{"f":0,"choose":[1]}`, `{"f":0}`, 1)
	var read cluster.Graph
	require.NoError(t, read.UnmarshalJSON([]byte(changed)))
	_, err = cluster.Run(t.Context(), newExecutor(t), f.reg, &read)
	require.ErrorContains(t, err, "call text#1 chooses, and does not return an int")
}

func TestEmptyGraph(t *testing.T) {
	mustRun(t, cluster.NewRegistry(), cluster.NewGraph(""))
	mustRun(t, cluster.NewRegistry(), new(cluster.Graph))
}
