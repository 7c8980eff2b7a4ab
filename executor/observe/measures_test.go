package observe_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// measured keeps what a Measures records.
type measured struct {
	mu  sync.Mutex
	all []observe.Measure
}

func (m *measured) record(one observe.Measure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, one)
}

// names returns the runs, or the tasks, with their outcomes, in order.
func (m *measured) names() (runs, tasks []string) {
	for _, one := range m.all {
		if one.Task == nil {
			runs = append(runs, fmt.Sprint(one.Run.Name(), " ", one.Outcome))
		} else {
			tasks = append(tasks, fmt.Sprint(one.Task.Name, " ", one.Outcome))
		}
	}
	slices.Sort(runs)
	slices.Sort(tasks)
	return runs, tasks
}

func TestMeasures(t *testing.T) {
	for _, tasks := range []bool{false, true} {
		m := &measured{}
		ex, err := executor.New(executor.Config{
			Workers: 2, Observers: []*executor.Observer{observe.Measures(observe.MeasureOptions{Tasks: tasks}, m.record)},
		})
		require.NoError(t, err)
		broken := errors.New("broken")
		for name, fn := range map[string]func(context.Context) error{
			"good": func(context.Context) error { time.Sleep(2 * time.Millisecond); return nil },
			"bad":  func(context.Context) error { return broken },
			"ugly": func(context.Context) error { panic("ugly") },
		} {
			g := graph.New(name)
			g.Task(fn).Named(name).Precede(g.Task(func(context.Context) error { return nil }).Named("after " + name))
			_ = ex.Run(t.Context(), g)
		}
		ctx, cancel := context.WithCancel(t.Context())
		g := graph.New("late")
		g.Task(func(ctx context.Context) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}).Named("late")
		require.ErrorIs(t, ex.Run(ctx, g), context.Canceled)
		g = graph.New("timeout") // of the task's own
		g.Task(func(context.Context) error { return fmt.Errorf("query: %w", context.DeadlineExceeded) }).Named("timeout")
		require.ErrorIs(t, ex.Run(t.Context(), g), context.DeadlineExceeded)
		require.NoError(t, ex.Close())

		runs, told := m.names()
		require.Subset(t, runs, []string{"bad failed", "good ok", "late cancelled", "timeout failed", "ugly panicked"})
		if !tasks {
			require.Empty(t, told)
		} else {
			require.Subset(t, told, []string{
				"after bad skipped", "after good ok", "after ugly skipped", "bad failed", "good ok", "late cancelled",
				"timeout failed", "ugly panicked",
			})
		}
		for _, one := range m.all {
			require.Equal(t, one.Outcome == observe.OK, one.Err == nil)
			require.LessOrEqual(t, one.Wait, one.Took)
			require.GreaterOrEqual(t, one.Wait, time.Duration(0))
			if one.Outcome == observe.OK && one.Task == nil {
				require.GreaterOrEqual(t, one.Took-one.Wait, 2*time.Millisecond)
			}
		}
	}
	require.Panics(t, func() { observe.Measures(observe.MeasureOptions{}, nil) })
}

// A mute is an error that cannot be looked into.
type mute struct{}

func (mute) Error() string { return "mute" }
func (mute) Unwrap() error { panic("mute") }

// The measures of an error whose methods panic say that the task failed, and others follow.
func TestMeasuresOfMuteErrors(t *testing.T) {
	m := &measured{}
	observer := observe.Measures(observe.MeasureOptions{Tasks: true}, m.record)
	ex, err := executor.New(executor.Config{Workers: 1, Observers: []*executor.Observer{observer}})
	require.NoError(t, err)
	for name, err := range map[string]error{"mute": mute{}, "good": nil} {
		g := graph.New(name)
		g.Task(func(context.Context) error { return err }).Named(name)
		_ = ex.Run(t.Context(), g)
	}
	require.NoError(t, ex.Close())
	runs, tasks := m.names()
	require.Equal(t, []string{"good ok", "mute failed"}, runs)
	require.Equal(t, []string{"good ok", "mute failed"}, tasks)
}

func TestOutcomes(t *testing.T) {
	require.Equal(t, "[ok failed panicked cancelled skipped]", fmt.Sprint([]observe.Outcome{
		observe.OK, observe.Failed, observe.Panicked, observe.Cancelled, observe.Skipped,
	}))
	require.Equal(t, "Outcome(9)", observe.Outcome(9).String())
}

// How each run has ended, and what it took.
func ExampleMeasures() {
	record := func(m observe.Measure) { fmt.Println(m.Run.Name(), m.Outcome, m.Err, m.Wait <= m.Took) }
	ex, err := executor.New(executor.Config{
		Workers: 2, Observers: []*executor.Observer{observe.Measures(observe.MeasureOptions{}, record)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	job := executor.NewJob("import", func(*executor.Scope) error { return errors.New("no space") })
	_ = ex.Run(context.Background(), job)
	_ = ex.Close()
	// Output: import failed no space true
}
