package cluster_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
)

func newExecutor(t testing.TB) *executor.Executor {
	ex, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ex.Close()) })
	return ex
}

var errBoom = errors.New("boom")

// functions are the functions of most tests.
type functions struct {
	reg    *cluster.Registry
	one    cluster.Func0[int]
	double cluster.Func[int, int]
	add    cluster.Func2[int, int, int]
	clamp  cluster.Func3[int, int, int, int]
	sum    cluster.FuncAll[int, int]
	text   cluster.Func[int, string]
	fail   cluster.Func[int, int]
	fib    cluster.Func[int, int]
}

func newFunctions() *functions {
	reg := cluster.NewRegistry()
	f := &functions{reg: reg}
	f.one = cluster.Register0(reg, "one", func(context.Context) (int, error) { return 1, nil })
	f.double = cluster.Register(reg, "double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	f.add = cluster.Register2(reg, "add", func(_ context.Context, a, b int) (int, error) { return a + b, nil })
	f.clamp = cluster.Register3(reg, "clamp", func(_ context.Context, low, n, high int) (int, error) {
		return min(max(low, n), high), nil
	})
	f.sum = cluster.RegisterAll(reg, "sum", func(_ context.Context, all []int) (sum int, err error) {
		for _, n := range all {
			sum += n
		}
		return sum, nil
	})
	f.text = cluster.Register(reg, "text", func(_ context.Context, n int) (string, error) {
		return strconv.Itoa(n), nil
	})
	f.fail = cluster.Register(reg, "fail", func(context.Context, int) (int, error) { return 0, errBoom })
	f.fib = cluster.RegisterSub(reg, "fib", func(_ context.Context, sub *cluster.Graph, n int) (cluster.Arg[int], error) {
		if n < 2 {
			return cluster.Value(n), nil
		}
		return f.add.Call(sub, f.fib.Call(sub, cluster.Value(n-1)), f.fib.Call(sub, cluster.Value(n-2))), nil
	})
	return f
}

// mustRun runs g and returns the results.
func mustRun(t testing.TB, reg *cluster.Registry, g *cluster.Graph) *cluster.Results {
	res, err := cluster.Run(t.Context(), newExecutor(t), reg, g)
	require.NoError(t, err)
	return res
}

// want requires that a call has a result.
func want[T any](t testing.TB, res *cluster.Results, c cluster.Call[T], value T) {
	t.Helper()
	got, err := c.Result(res)
	require.NoError(t, err)
	require.Equal(t, value, got)
}
