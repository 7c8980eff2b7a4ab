package metrics_test

import (
	"context"
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"log"
	"testing"
	"testing/synctest"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/metrics"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

type histogram struct {
	Count   uint64
	Seconds float64
	Counts  []uint64
}

// shown are the values of a Latencies.
type shown struct {
	Bounds []float64
	Runs   map[string]histogram
	Wait   histogram
	Tasks  map[string]histogram
	Asyncs map[string]histogram
}

// show returns the values of l, each with as many durations in buckets as it has counted.
func show(t *testing.T, l *metrics.Latencies) (s shown) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(l.String()), &s))
	require.Len(t, s.Bounds, 13)
	for _, all := range []map[string]histogram{s.Runs, s.Tasks, s.Asyncs, {"": s.Wait}} {
		for outcome, h := range all {
			require.Len(t, h.Counts, 14)
			sum := uint64(0)
			for _, n := range h.Counts {
				sum += n
			}
			require.Equal(t, h.Count, sum, outcome)
		}
	}
	return s
}

// counts returns the numbers of values by outcome.
func counts(all map[string]histogram) map[string]uint64 {
	numbers := map[string]uint64{}
	for outcome, h := range all {
		numbers[outcome] = h.Count
	}
	return numbers
}

// Runs and tasks are counted by how they end.
func TestLatencies(t *testing.T) {
	l := metrics.NewLatencies(metrics.LatencyOptions{Tasks: true})
	require.Equal(t, map[string]uint64{"ok": 0, "failed": 0, "panicked": 0, "cancelled": 0}, counts(show(t, l).Runs))
	for range 2 { // one executor after the other
		ex, err := executor.New(executor.Config{Workers: 2, Observers: []*executor.Observer{l.Observer()}})
		require.NoError(t, err)
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("good", func(*executor.Scope) error { return nil })))
		require.Error(t, ex.Run(t.Context(), executor.NewJob("ugly", func(*executor.Scope) error { panic("ugly") })))
		g := graph.New("g")
		bad := g.Task(func(context.Context) error { return errors.New("broken") })
		bad.Precede(g.Task(func(context.Context) error { return nil }))
		require.Error(t, ex.Run(t.Context(), g))
		ctx, cancel := context.WithCancel(t.Context())
		cancelled := executor.NewJob("cancelled", func(*executor.Scope) error { cancel(); return ctx.Err() })
		require.Error(t, ex.Run(ctx, cancelled))
		failed := func(context.Context) (int, error) { return 0, errors.New("broken") }
		_, err = executor.Async(t.Context(), ex, failed).Wait() // no run
		require.Error(t, err)
		require.NoError(t, ex.Close())
	}
	s := show(t, l)
	require.Equal(t, map[string]uint64{"ok": 2, "failed": 2, "panicked": 2, "cancelled": 2}, counts(s.Runs))
	require.EqualValues(t, 8, s.Wait.Count)
	require.Equal(t, map[string]uint64{
		"ok": 2, "failed": 4, "panicked": 2, "cancelled": 2, "skipped": 2,
	}, counts(s.Tasks))
	require.Nil(t, show(t, metrics.NewLatencies(metrics.LatencyOptions{})).Tasks)
}

// TestLatenciesOfAsyncs: Asyncs are counted by how they end, with other tasks and without.
func TestLatenciesOfAsyncs(t *testing.T) {
	for _, tasks := range []bool{false, true} {
		l := metrics.NewLatencies(metrics.LatencyOptions{Asyncs: true, Tasks: tasks})
		ex := executor.NewInline(1, l.Observer())
		for _, fn := range []func() error{
			func() error { return nil }, func() error { return errors.New("broken") }, func() error { panic("ugly") },
		} {
			_, _ = executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 0, fn() }).Wait()
		}
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("good", func(*executor.Scope) error { return nil })))
		require.NoError(t, ex.Close())
		s := show(t, l)
		require.Equal(t, map[string]uint64{"ok": 1, "failed": 1, "panicked": 1, "cancelled": 0}, counts(s.Asyncs))
		require.EqualValues(t, 1, s.Wait.Count)
		if tasks {
			require.EqualValues(t, 2, s.Tasks["ok"].Count)
		} else {
			require.Nil(t, s.Tasks)
		}
	}
	require.Nil(t, show(t, metrics.NewLatencies(metrics.LatencyOptions{})).Asyncs)
}

// A duration is in the bucket of the least bound that it does not exceed.
func TestLatencyBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for took, bucket := range map[time.Duration]int{
			time.Microsecond: 0, 10 * time.Microsecond: 0, 11 * time.Microsecond: 1, time.Millisecond: 4, time.Hour: 13,
		} {
			l := metrics.NewLatencies(metrics.LatencyOptions{})
			ex := executor.NewInline(1, l.Observer())
			sleeps := executor.NewJob("sleeps", func(*executor.Scope) error { time.Sleep(took); return nil })
			require.NoError(t, ex.Run(t.Context(), sleeps))
			require.NoError(t, ex.Close())
			ok := show(t, l).Runs["ok"]
			require.InDelta(t, took.Seconds(), ok.Seconds, 1e-9)
			require.EqualValues(t, 1, ok.Counts[bucket], took)
		}
	})
}

// The failed runs of an executor, for expvar.
func ExampleLatencies() {
	l := metrics.NewLatencies(metrics.LatencyOptions{})
	ex, err := executor.New(executor.Config{Observers: []*executor.Observer{l.Observer()}})
	if err != nil {
		log.Fatal(err)
	}
	expvar.Publish("imports", l)
	_ = ex.Run(context.Background(), executor.NewJob("import", func(*executor.Scope) error {
		return errors.New("no space")
	}))
	_ = ex.Close()
	var values struct {
		Runs map[string]struct{ Count int }
	}
	if err := json.Unmarshal([]byte(expvar.Get("imports").String()), &values); err != nil {
		log.Fatal(err)
	}
	fmt.Println(values.Runs["failed"].Count, values.Runs["ok"].Count)
	// Output: 1 0
}
