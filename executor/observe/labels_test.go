package observe_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// labelsNow are the profiler labels of the calling goroutine, as a goroutine profile tells them. One goroutine at a
// time: two in it would have one record.
func labelsNow() string {
	labelsMu.Lock()
	defer labelsMu.Unlock()
	return labelsLocked()
}

var labelsMu sync.Mutex

//go:noinline
func labelsLocked() string {
	var b bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
	for record := range strings.SplitSeq(b.String(), "\n\n") {
		if strings.Contains(record, "observe_test.labelsLocked") {
			_, labels, _ := strings.Cut(record, "# labels: ")
			labels, _, _ = strings.Cut(labels, "\n")
			return labels
		}
	}
	return "no record"
}

// A task has the labels of its job, itself and the context of its run, also after it has waited.
func TestLabels(t *testing.T) {
	ex := newExecutor(t, 1, observe.Labels())
	var seen []string
	see := func() { seen = append(seen, labelsNow()) }
	inner := graph.New("inner")
	leaf := inner.Task(func(context.Context) error { see(); return nil })
	inner.Task(func(context.Context) error { see(); return nil }).Named("second").Succeed(leaf)
	outer := graph.New("outer")
	outer.Task(func(ctx context.Context) error {
		see()
		defer see()
		return ex.Run(ctx, inner)
	}).Named("waits")
	want := func(labels ...string) {
		t.Helper()
		require.Equal(t, labels, seen)
		seen = nil
	}

	require.NoError(t, ex.Run(t.Context(), outer))
	want(`{"job":"outer", "task":"waits"}`, `{"job":"inner", "task":"#0"}`, `{"job":"inner", "task":"second"}`,
		`{"job":"outer", "task":"waits"}`)

	for _, tenant := range []string{"a", "b"} {
		pprof.Do(t.Context(), pprof.Labels("tenant", tenant), func(ctx context.Context) {
			require.NoError(t, ex.Run(ctx, outer))
		})
		rest := fmt.Sprintf("%q:%q}", "tenant", tenant)
		want(`{"job":"outer", "task":"waits", `+rest, `{"job":"inner", "task":"#0", `+rest,
			`{"job":"inner", "task":"second", `+rest, `{"job":"outer", "task":"waits", `+rest)
	}

	async := func(ctx context.Context) {
		_, err := executor.Async(ctx, ex, func(context.Context) (int, error) { see(); return 0, nil }).Wait()
		require.NoError(t, err)
	}
	require.NoError(t, ex.Run(t.Context(), executor.NewJob("func", func(s *executor.Scope) error {
		s.Go(func(context.Context) error { see(); return nil })
		if err := s.Wait(); err != nil {
			return err
		}
		see()
		async(s.Context())
		see()
		return nil
	})))
	require.Len(t, seen, 4)
	require.Equal(t, `{"job":"func", "task":"child"}`, seen[0])
	require.Equal(t, `{"job":"func", "task":"root"}`, seen[1])
	require.Contains(t, seen[2], `"job":`)
	require.Equal(t, `{"job":"func", "task":"root"}`, seen[3])
	require.NotContains(t, labelsNow(), "job", "the caller's")
	seen = nil
	pprof.Do(t.Context(), pprof.Labels("tenant", "a"), async)
	require.Len(t, seen, 1)
	require.Contains(t, seen[0], `"job":`)
	require.NotContains(t, seen[0], "tenant", "those of an Async are lost")
}

// Random graphs in each other with random labels, on several workers: each task has its own labels at its begin and
// after each nested run.
func TestLabelsRandom(t *testing.T) {
	seed := testkit.Seed(t)
	for workers := 1; workers <= 3; workers++ {
		ex := newExecutor(t, workers, observe.Labels())
		var mu sync.Mutex
		rng := rand.New(rand.NewPCG(seed, uint64(workers)))
		draw := func(n int) int { mu.Lock(); defer mu.Unlock(); return rng.IntN(n) }
		var node func(depth int, tenant string) *graph.Graph
		node = func(depth int, tenant string) *graph.Graph {
			job := fmt.Sprint("depth ", depth)
			g := graph.New(job)
			for i := range 1 + draw(3) {
				name := fmt.Sprint("t", i)
				check := func() {
					now := labelsNow()
					for _, label := range []string{
						fmt.Sprintf("%q:%q", "job", job), fmt.Sprintf("%q:%q", "task", name), tenant,
					} {
						if !strings.Contains(now, label) {
							t.Errorf("labels %s lack %s", now, label)
						}
					}
				}
				g.Task(func(ctx context.Context) error {
					check()
					for range draw(3) {
						if depth == 0 {
							break
						}
						var err error
						if draw(2) == 0 {
							err = ex.Run(ctx, node(depth-1, tenant))
						} else {
							r := ex.Start(ctx, node(depth-1, tenant))
							err = r.Wait()
						}
						check()
						if err != nil {
							return err
						}
					}
					return nil
				}).Named(name)
			}
			return g
		}
		for i := range 5 {
			value := fmt.Sprint("tenant ", i)
			pprof.Do(t.Context(), pprof.Labels("tenant", value), func(ctx context.Context) {
				require.NoError(t, ex.Run(ctx, node(2, fmt.Sprintf("%q:%q", "tenant", value))))
			})
			require.NoError(t, ex.Run(t.Context(), node(2, "")))
		}
	}
}
