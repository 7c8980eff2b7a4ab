package graph_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// Values go from task to task, in runs one after the other and at once, in a graph and in two copies of it.
func TestValue(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: workers})
			type key struct{}
			var mu sync.Mutex
			got := map[string]int{}
			sub := graph.New("sub")
			word := graph.Source(sub,
				func(ctx context.Context) (string, error) { return ctx.Value(key{}).(string), nil }).Named("word")
			size := graph.Map(word, func(_ context.Context, s string) (int, error) { return len(s), nil })
			twice := graph.Map2(word, size,
				func(_ context.Context, s string, n int) (string, error) { return strings.Repeat(s, n), nil })
			all := graph.MapAll([]graph.Value[string]{word, twice, word},
				func(_ context.Context, all []string) (string, error) { return strings.Join(all, " "), nil })
			graph.Sink2(all, size, func(_ context.Context, s string, n int) error {
				mu.Lock()
				defer mu.Unlock()
				got[fmt.Sprint(s, n)]++
				return nil
			})
			nothingAtAll := graph.Source(sub, func(context.Context) (error, error) { return nil, nil })
			graph.Sink(nothingAtAll, func(_ context.Context, err error) error { return err })
			g := graph.New("g")
			g.Module(sub).Precede(g.Module(sub))

			within(t, ex, func() {
				var wg sync.WaitGroup
				for i := range 4 {
					wg.Go(func() {
						ctx := context.WithValue(t.Context(), key{}, strings.Repeat("x", i))
						for range testkit.Scale(100) {
							if err := ex.Run(ctx, sub); err != nil {
								t.Error(err)
							}
							if err := ex.Run(ctx, g); err != nil {
								t.Error(err)
							}
						}
					})
				}
				wg.Wait()
			})
			want := map[string]int{}
			for i := range 4 {
				s := strings.Repeat("x", i)
				want[fmt.Sprint(s, " ", strings.Repeat(s, i), " ", s, i)] = 3 * testkit.Scale(100)
			}
			require.Equal(t, want, got)
		})
	}
}

// Three values keep their order and their types.
func TestValueOfThree(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	word := graph.Source(g, func(context.Context) (string, error) { return "word", nil })
	size := graph.Map(word, func(_ context.Context, s string) (int, error) { return len(s), nil })
	half := graph.Map(size, func(_ context.Context, n int) (float64, error) { return float64(n) / 2, nil })
	said := graph.Map3(word, size, half, func(_ context.Context, s string, n int, f float64) (string, error) {
		return fmt.Sprint(s, n, f), nil
	})
	got := ""
	graph.Sink3(half, said, size, func(_ context.Context, f float64, s string, n int) error {
		got = fmt.Sprint(f, s, n)
		return nil
	})
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, "2word4 24", got)
}

func TestValueErrors(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	bad := graph.Source(g, func(context.Context) (int, error) { return 1, errTask }).Named("bad")
	graph.Sink(bad, func(context.Context, int) error { t.Error("not skipped"); return nil })
	var failed *graph.TaskError
	require.ErrorAs(t, run(t, ex, t.Context(), g), &failed)
	require.Equal(t, graph.TaskError{Run: "g", Graph: "g", Task: "bad", Err: errTask}, *failed)

	other := graph.Source(graph.New("other"), func(context.Context) (int, error) { return 1, nil })
	from2 := func(context.Context, int, int) (int, error) { return 0, nil }
	from3 := func(context.Context, int, int, int) (int, error) { return 0, nil }
	fromAll := func(context.Context, []int) (int, error) { return 0, nil }
	for name, f := range map[string]func(){
		"Map2":   func() { graph.Map2(bad, other, from2) },
		"Map3":   func() { graph.Map3(bad, bad, other, from3) },
		"MapAll": func() { graph.MapAll([]graph.Value[int]{bad, other}, fromAll) },
		"Sink2":  func() { graph.Sink2(bad, other, func(context.Context, int, int) error { return nil }) },
		"Sink3":  func() { graph.Sink3(bad, bad, other, func(context.Context, int, int, int) error { return nil }) },
	} {
		require.PanicsWithValue(t,
			`graph "g": a task takes the value of a task of another graph: values stay within a graph`, f, name)
	}
	require.Panics(t, func() { graph.Source[int](g, nil) })
	require.Panics(t, func() { graph.Map[int, int](bad, nil) })
	require.Panics(t, func() { graph.Map2[int, int, int](bad, bad, nil) })
	require.Panics(t, func() { graph.Map3[int, int, int, int](bad, bad, bad, nil) })
	require.Panics(t, func() { graph.Sink3[int, int, int](bad, bad, bad, nil) })
	require.Panics(t, func() { graph.MapAll[int, int](nil, nil) })
	require.Panics(t, func() { graph.Sink(bad, nil) })
	require.Panics(t, func() { graph.Sink(graph.Value[int]{}, func(context.Context, int) error { return nil }) })
	require.Equal(t, 2, g.Len(), "mistakes add nothing")
	before := g.Task(nothing)
	bad.Task().Succeed(before)
	require.ErrorAs(t, run(t, ex, t.Context(), g), &failed)
}
