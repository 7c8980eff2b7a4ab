package cluster_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

const aParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// A seen is a list of texts that functions and callbacks append to.
type seen struct {
	mu   sync.Mutex
	list []string
}

func (s *seen) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, text)
}

// all returns the list, sorted.
func (s *seen) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.list))
}

// TestTrace: each call of a run has the trace of the submission, on whichever worker, and without one none. One that is
// malformed is left out and told.
func TestTrace(t *testing.T) {
	s := served.Start(t, embedded.Config{})
	reg := cluster.NewRegistry()
	step := cluster.Register(reg, "step", func(ctx context.Context, all []string) ([]string, error) {
		parent, state := cluster.TraceFrom(ctx)
		mark, _ := ctx.Value(mark{}).(string)
		return append(all, parent+" "+state+mark), nil
	})
	hook := func(ctx context.Context, parent, state string) context.Context {
		return context.WithValue(ctx, mark{}, " "+parent[3:7]+" "+state)
	}
	work(t, s.Conn(), newExecutor(t), reg, cluster.WorkerConfig{Name: "w1", Trace: hook})
	work(t, s.Conn(), newExecutor(t), reg, cluster.WorkerConfig{Name: "w2", Trace: hook})
	var told seen
	client := func(trace func(context.Context) (string, string)) *cluster.Client {
		c, err := cluster.NewClient(within(t), s.Conn(), cluster.ClientConfig{
			Queue: queue, Patient: true, Target: cluster.DefaultTarget, Trace: trace,
			Report: func(err error) { told.add(err.Error()) },
		})
		require.NoError(t, err)
		t.Cleanup(c.Close)
		return c
	}
	plain := client(nil)
	other := client(func(context.Context) (string, string) { return aParent, "of=another" })

	for name, test := range map[string]struct {
		c    *cluster.Client
		ctx  context.Context
		want string
	}{
		"none":      {plain, t.Context(), " "},
		"both":      {plain, cluster.WithTrace(t.Context(), aParent, "a=1"), aParent + " a=1 0af7 a=1"},
		"other":     {other, t.Context(), aParent + " of=another 0af7 of=another"},
		"malformed": {plain, cluster.WithTrace(t.Context(), "hello", "a=1"), " "},
		"state":     {plain, cluster.WithTrace(t.Context(), aParent, "a=\n"), aParent + "  0af7 "},
	} {
		g := cluster.NewGraph(name)
		call := step.Call(g, cluster.Value([]string(nil))).Cost(cluster.DefaultTarget)
		for range 4 {
			call = step.Call(g, call).Cost(cluster.DefaultTarget)
		}
		h, err := test.c.Submit(test.ctx, g, cluster.Submission{})
		require.NoError(t, err)
		res, err := h.Wait(within(t))
		require.NoError(t, err)
		got, err := call.Result(res)
		require.NoError(t, err)
		require.Equal(t, slices.Repeat([]string{test.want}, 5), got, name)
	}
	require.Equal(t, []string{
		`cluster: malformed trace: traceparent "hello"`, `cluster: malformed trace: tracestate "a=\n"`}, told.all())
}

// mark is the key of a value that a hook puts into contexts.
type mark struct{}
