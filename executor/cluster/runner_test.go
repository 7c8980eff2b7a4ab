package cluster_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/internal/clustertest"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/magpie-go/magpie/internal/testkit"
)

// objects are an object store.
type objects struct {
	mu      sync.Mutex
	content map[string][]byte
	err     error
}

func (o *objects) PutObject(_ context.Context, value []byte) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	sum := sha256.Sum256(value)
	hash := hex.EncodeToString(sum[:])
	if o.content == nil {
		o.content = map[string][]byte{}
	}
	o.content[hash] = slices.Clone(value)
	return hash, o.err
}

func (o *objects) GetObject(_ context.Context, hash string) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	content, ok := o.content[hash]
	if !ok {
		return nil, protocol.ErrMissing
	}
	return content, o.err
}

// runParts runs the partitions of a graph one after the other, as workers do, each with what the others have written.
func runParts(
	t testing.TB, ex *executor.Executor, reg *cluster.Registry, g *cluster.Graph, target time.Duration, limit int,
) (*cluster.Results, *wire.Plan, error) {
	plan, err := cluster.NewPlan(g, target, func([]int32) string { return "any" })
	require.NoError(t, err)
	plan, err = wire.DecodePlan(wire.Encode(plan))
	require.NoError(t, err)
	store := &objects{}
	runner := cluster.NewRunner(ex, reg, store, limit)
	outputs := make([][]byte, len(plan.Parts))
	var all []wire.Output
	for k, part := range plan.Parts {
		var inputs []wire.Output
		for _, pred := range part.Preds {
			in, err := wire.DecodeOutput(outputs[pred], pred)
			require.NoError(t, err)
			inputs = append(inputs, in)
		}
		out, err := runner.Run(t.Context(), "run", plan, k, inputs)
		if err != nil {
			return nil, plan, err
		}
		outputs[k] = wire.Encode(out)
		out, err = wire.DecodeOutput(outputs[k], k)
		require.NoError(t, err)
		all = append(all, out)
	}
	res, err := cluster.NewResults(t.Context(), store, "run", g, all)
	return res, plan, err
}

// Partitions, with all that passes between them written and read, have the results of the whole.
func TestPartitionsAgreeWithTheWhole(t *testing.T) {
	t.Parallel()
	ex := newExecutor(t)
	cut, stored := 0, 0
	for seed := range uint64(300) {
		f := clustertest.NewFunctions()
		var o clustertest.Options
		if seed%20 == 0 {
			o.Flaky = 1 // which pauses
		}
		g := f.Random(seed, o)
		want, err := cluster.Run(t.Context(), ex, f.Registry, g.Graph)
		require.NoError(t, err)
		whole, err := g.Results(want)
		require.NoError(t, err)
		limit := []int{1 << 20, 100, 0}[seed%3]
		target := time.Duration(seed%5) * 5 * time.Millisecond
		res, plan, err := runParts(t, ex, f.Registry, g.Graph, target, limit)
		require.NoError(t, err, "seed %d", seed)
		parts, err := g.Results(res)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, whole, parts, "seed %d", seed)
		if len(plan.Parts) > 1 {
			cut++
		}
		if limit == 0 {
			stored++
		}
	}
	require.Greater(t, cut, 150)
	require.Positive(t, stored)
}

func TestPartitionsThatFail(t *testing.T) {
	ex := newExecutor(t)
	for seed := range uint64(20) {
		f := clustertest.NewFunctions()
		g := f.Random(seed, clustertest.Options{Tasks: 20, Fail: 1, Plain: true})
		_, _, err := runParts(t, ex, f.Registry, g.Graph, 0, 1<<20)
		require.ErrorIs(t, err, clustertest.ErrFail)
		var failed *protocol.TaskError
		require.ErrorAs(t, err, &failed)
		require.Contains(t, failed.Task, "fail")
		require.True(t, failed.Permanent)
	}
}

// planOf returns the plan of a graph cut into single calls.
func planOf(t *testing.T, g *cluster.Graph) *wire.Plan {
	plan, err := cluster.NewPlan(g, 0, func([]int32) string { return "any" })
	require.NoError(t, err)
	return plan
}

func TestRunnerErrors(t *testing.T) {
	f := newFunctions()
	ex := newExecutor(t)
	g := cluster.NewGraph("g")
	f.double.Call(g, f.double.Call(g, cluster.Value(1)))
	require.Len(t, planOf(t, g).Parts, 2)
	var task *protocol.TaskError
	run := func(reg *cluster.Registry, ctx context.Context, inputs ...wire.Output) error {
		_, err := cluster.NewRunner(ex, reg, &objects{}, 1<<20).Run(ctx, "run", planOf(t, g), 1, inputs)
		require.Error(t, err)
		return err
	}
	result := func(v wire.Value) wire.Output { return wire.Output{Part: 0, Values: map[int]wire.Value{0: v}} }
	good := result(wire.Value{Data: json.RawMessage("2")})

	// Errors of a worker, or of the store: another attempt may succeed.
	err := run(cluster.NewRegistry(), t.Context(), good)
	var missing *cluster.MissingError
	require.ErrorAs(t, err, &missing)
	require.False(t, errors.As(err, &task))
	err = run(f.reg, t.Context())
	require.ErrorContains(t, err, "the result of call double#0 is missing")
	require.False(t, errors.As(err, &task))
	err = run(f.reg, t.Context(), result(wire.Value{Object: "none"}))
	require.ErrorIs(t, err, protocol.ErrMissing)
	require.False(t, errors.As(err, &task))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBoom)
	err = run(f.reg, ctx, good)
	require.ErrorIs(t, err, errBoom)
	require.False(t, errors.As(err, &task))

	// Errors that come again.
	err = run(f.reg, t.Context(), result(wire.Value{Data: json.RawMessage(`"two"`)}))
	require.ErrorAs(t, err, &task)
	require.ErrorContains(t, err, "cannot decode a value of type int")

	inputs := []wire.Output{good}
	out, err := cluster.NewRunner(ex, f.reg, &objects{}, 1<<20).Run(t.Context(), "run", planOf(t, g), 1, inputs)
	require.NoError(t, err)
	require.Equal(t, "4", string(out.Values[1].Data))

	// A store that fails.
	_, err = cluster.NewRunner(ex, f.reg, &objects{err: errBoom}, 0).Run(t.Context(), "run", planOf(t, g), 1, inputs)
	require.ErrorIs(t, err, errBoom)
	require.False(t, errors.As(err, &task))
}

// A result that does not encode is the failure of its call.
func TestResultsThatDoNotEncode(t *testing.T) {
	reg := cluster.NewRegistry()
	makes := cluster.Register0(reg, "makes", func(context.Context) (any, error) { return func() {}, nil })
	takes := cluster.Register(reg, "takes", func(_ context.Context, v any) (int, error) { return 1, nil })
	g := cluster.NewGraph("g")
	c := takes.Call(g, makes.Call(g))
	want(t, mustRun(t, reg, g), c, 1) // here it need not be encoded
	_, _, err := runParts(t, newExecutor(t), reg, g, 0, 1<<20)
	var task *protocol.TaskError
	require.ErrorAs(t, err, &task)
	require.Equal(t, "makes#0", task.Task)
	require.ErrorContains(t, err, "cannot encode a value of type interface {}")
}

// Plans come from outside.
func TestBadPlans(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	f.double.Call(g, f.double.Call(g, f.one.Call(g)))
	for i, spoil := range []func(*wire.Plan){
		func(p *wire.Plan) { p.Graph = json.RawMessage(`{}`) },
		func(p *wire.Plan) { p.Graph = nil },
		func(p *wire.Plan) { p.Parts[0].Tasks = nil },
		func(p *wire.Plan) { p.Parts[0].Tasks = []int{0, 0} },
		func(p *wire.Plan) { p.Parts[0].Tasks = []int{0, 1} },
		func(p *wire.Plan) { p.Parts[0].Tasks = []int{-1} },
		func(p *wire.Plan) { p.Parts[0].Tasks = []int{3} },
		func(p *wire.Plan) { p.Parts[1].Preds = nil },
		func(p *wire.Plan) { p.Parts[0].Tasks, p.Parts[1].Tasks = p.Parts[1].Tasks, p.Parts[0].Tasks },
	} {
		plan := planOf(t, g)
		spoil(plan)
		_, err := cluster.NewRunner(newExecutor(t), f.reg, &objects{}, 100).Run(t.Context(), "run", plan, 0, nil)
		var task *protocol.TaskError
		require.ErrorAs(t, err, &task, "plan %d", i)
		require.True(t, task.Permanent)
	}
}

func TestPlans(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	one := f.one.Call(g)
	a, b := f.double.Call(g, one).Colocate("k"), f.text.Call(g, one)
	f.sum.Call(g, a).Colocate("k")
	f.one.Call(g).After(b)
	class := func(functions []int32) string {
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(functions), " ", "-"), "[]")
	}
	plan, err := cluster.NewPlan(g, 0, class)
	require.NoError(t, err)
	require.Equal(t, []wire.PlanPart{
		{Tasks: []int{0}, Succs: []int{1, 2}, Class: "0"},
		{Tasks: []int{1, 3}, Preds: []int{0}, Class: "1-3"},
		{Tasks: []int{2}, Preds: []int{0}, Succs: []int{3}, Class: "2"},
		{Tasks: []int{4}, Preds: []int{2}, Class: "0"},
	}, plan.Parts)

	// Large results are not cut off, orders before results.
	g = cluster.NewGraph("g")
	one = f.one.Call(g)
	f.double.Call(g, one)
	f.one.Call(g).After(one)
	f.double.Call(g, f.one.Call(g).Size(1e6).After(one))
	plan, err = cluster.NewPlan(g, 2*cluster.DefaultCost, class)
	require.NoError(t, err)
	var tasks [][]int
	for _, part := range plan.Parts {
		tasks = append(tasks, part.Tasks)
	}
	require.ElementsMatch(t, [][]int{{0, 1}, {2}, {3, 4}}, tasks)

	plan, err = cluster.NewPlan(g, time.Hour, class)
	require.NoError(t, err)
	require.Len(t, plan.Parts, 1)

	plan, err = cluster.NewPlan(cluster.NewGraph("empty"), time.Hour, func([]int32) string { return "any" })
	require.NoError(t, err)
	_, err = wire.DecodePlan(wire.Encode(plan))
	require.NoError(t, err)
	_, _, err = runParts(t, newExecutor(t), f.reg, cluster.NewGraph("empty"), 0, 0)
	require.NoError(t, err)
}

func TestCost(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	f.one.Call(g)
	f.one.Call(g).Cost(time.Second)
	require.Equal(t, time.Second+cluster.DefaultCost, cluster.CostOf(g))
	f.one.Call(g).Cost(math.MaxInt64)
	f.one.Call(g).Cost(math.MaxInt64)
	require.Equal(t, time.Duration(math.MaxInt64), cluster.CostOf(g))
}

// Partitions run at the same time, and a plan is read once, has no bytes of the graph then, and is kept no longer than
// its user keeps it.
func TestPartitionsAtTheSameTime(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	var ends []cluster.Call[int]
	one := f.one.Call(g)
	for range 200 {
		ends = append(ends, f.double.Call(g, one))
	}
	store := &objects{}
	runner := cluster.NewRunner(newExecutor(t), f.reg, store, 1<<20)
	func() {
		plan := planOf(t, g)
		require.Len(t, plan.Parts, 201)
		outputs := make([]wire.Output, 201)
		var err error
		outputs[0], err = runner.Run(t.Context(), "run", plan, 0, nil)
		require.NoError(t, err)
		var wait sync.WaitGroup
		errs := make([]error, 201)
		for k := 1; k <= 200; k++ {
			wait.Go(func() { outputs[k], errs[k] = runner.Run(t.Context(), "run", plan, k, outputs[:1]) })
		}
		wait.Wait()
		require.NoError(t, errors.Join(errs...))
		require.Equal(t, 1, runner.Plans())
		require.Empty(t, plan.Graph)
		res, err := cluster.NewResults(t.Context(), store, "run", g, outputs)
		require.NoError(t, err)
		for _, end := range ends {
			want(t, res, end, 2)
		}
		_, err = cluster.NewResults(t.Context(), store, "run", g, outputs[:200])
		require.NoError(t, err)
	}()
	testkit.Within(t, testkit.Patience, func() {
		for runner.Plans() > 0 {
			runtime.GC()
			runtime.Gosched()
		}
	})
}

// Calls that hold a semaphore are together, and so are a call that chooses and those that it chooses from.
func TestTogether(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	sem := g.Semaphore("s", 1)
	f.one.Call(g).Hold(sem)
	which := f.one.Call(g)
	arm := f.one.Call(g)
	cluster.Choose(which, arm)
	f.one.Call(g).Hold(sem)
	var tasks [][]int
	for _, part := range planOf(t, g).Parts {
		tasks = append(tasks, part.Tasks)
	}
	require.ElementsMatch(t, [][]int{{0, 3}, {1, 2}}, tasks)
}

// A call that is in no partition would never run.
func TestPlanWithoutACall(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	f.one.Call(g)
	f.one.Call(g)
	plan := planOf(t, g)
	plan.Parts = plan.Parts[:1]
	_, err := cluster.NewRunner(newExecutor(t), f.reg, &objects{}, 0).Run(t.Context(), "run", plan, 0, nil)
	require.ErrorContains(t, err, "a task is in no partition")
}

// Only the largest results become objects, and only outputs of a partition give the results of its calls.
func TestObjects(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	small := f.text.Call(g, cluster.Value(1))
	large := f.text.Call(g, cluster.Value(1_000_000_000))
	plan, err := cluster.NewPlan(g, time.Hour, func([]int32) string { return "any" })
	require.NoError(t, err)
	store := &objects{}
	out, err := cluster.NewRunner(newExecutor(t), f.reg, store, 8).Run(t.Context(), "run", plan, 0, nil)
	require.NoError(t, err)
	require.Empty(t, out.Values[0].Object)
	require.NotEmpty(t, out.Values[1].Object)
	require.Len(t, store.content, 1)
	res, err := cluster.NewResults(t.Context(), store, "run", g, []wire.Output{out})
	require.NoError(t, err)
	want(t, res, small, "1")
	want(t, res, large, "1000000000")

	g = cluster.NewGraph("g")
	f.double.Call(g, f.one.Call(g))
	forged := wire.Output{Part: 1, Values: map[int]wire.Value{0: {Data: json.RawMessage("1")}}}
	_, err = cluster.NewRunner(newExecutor(t), f.reg, store, 8).Run(t.Context(), "run", planOf(t, g), 1,
		[]wire.Output{forged})
	require.ErrorContains(t, err, "the result of call one#0 is missing")
}
