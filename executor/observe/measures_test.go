package observe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
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

// TestMeasuresOfAsyncs: with Asyncs, and only with it or Tasks, an Async is measured, and no other task without Tasks.
func TestMeasuresOfAsyncs(t *testing.T) {
	for _, choice := range []observe.MeasureOptions{{}, {Asyncs: true}, {Tasks: true}, {Asyncs: true, Tasks: true}} {
		m := &measured{}
		ex := newExecutor(t, 1, observe.Measures(choice, m.record))
		async := func(fn func(cancel func()) error) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err := executor.Async(ctx, ex, func(context.Context) (int, error) { return 0, fn(cancel) }).Wait()
			return err
		}
		// A task around an Async, and an Async around a run.
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("job", func(*executor.Scope) error {
			return async(func(func()) error {
				time.Sleep(time.Millisecond)
				return ex.Run(t.Context(), executor.NewJob("inner", func(*executor.Scope) error { return nil }))
			})
		})))
		require.Error(t, async(func(func()) error { return errors.New("broken") }))
		require.Error(t, async(func(func()) error { panic("ugly") }))
		require.Error(t, async(func(cancel func()) error { cancel(); return context.Canceled }))
		require.NoError(t, ex.Close())

		var outcomes []observe.Outcome
		others := 0
		for _, one := range m.all {
			switch {
			case one.Task == nil:
			case one.Run != nil:
				others++
			default:
				outcomes = append(outcomes, one.Outcome)
				require.Equal(t, one.Outcome == observe.OK, one.Err == nil)
				require.Zero(t, one.Wait)
				require.True(t, one.Outcome != observe.OK || one.Took >= time.Millisecond, one.Took)
			}
		}
		var want []observe.Outcome
		if choice.Asyncs || choice.Tasks {
			want = []observe.Outcome{observe.OK, observe.Failed, observe.Panicked, observe.Cancelled}
		}
		require.Equal(t, want, outcomes)
		require.Equal(t, map[bool]int{true: 2}[choice.Tasks], others)
	}
}

// TestMeasuresCostsNoTask: nothing is called at the end of tasks unless it is asked for.
func TestMeasuresCostsNoTask(t *testing.T) {
	record := func(observe.Measure) {}
	plain := observe.Measures(observe.MeasureOptions{}, record)
	require.Nil(t, plain.TaskEnd)
	require.Nil(t, plain.TaskSkip)
	require.Nil(t, observe.Measures(observe.MeasureOptions{Asyncs: true}, record).TaskSkip)
}

// TestMeasuresLeavesOutTheWaitForRoom: a run begins when it has room.
func TestMeasuresLeavesOutTheWaitForRoom(t *testing.T) {
	m := &measured{}
	observer := observe.Measures(observe.MeasureOptions{}, m.record)
	ex, err := executor.New(executor.Config{Workers: 1, MaxRuns: 1, Observers: []*executor.Observer{observer}})
	require.NoError(t, err)
	gate := make(chan struct{})
	first := ex.Start(t.Context(), executor.NewJob("first", func(*executor.Scope) error { <-gate; return nil }))
	second := make(chan error)
	go func() {
		second <- ex.Run(t.Context(), executor.NewJob("second", func(*executor.Scope) error { return nil }))
	}()
	testkit.Until(t, "the second run waits for room", func() bool { return ex.Stats().Gauges.Entering == 1 })
	time.Sleep(20 * time.Millisecond)
	opened := time.Now()
	close(gate)
	require.NoError(t, first.Wait())
	require.NoError(t, <-second)
	require.NoError(t, ex.Close())
	require.Len(t, m.all, 2)
	for _, one := range m.all { // in either order
		if one.Run.Name() == "second" {
			require.LessOrEqual(t, one.Took, time.Since(opened))
		}
	}
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

// TestOutcomeOf: a panic that stopped others is no panic of theirs, and one that meets the end of a context is one.
func TestOutcomeOf(t *testing.T) {
	elsewhere := &executor.PanicError{Value: "elsewhere"}
	stopped, stop := context.WithCancelCause(t.Context())
	stop(elsewhere)
	ended, end := context.WithCancel(t.Context())
	end()
	run, task := new(executor.Run), &executor.TaskInfo{}
	for name, tt := range map[string]struct {
		e    executor.Event
		want observe.Outcome
	}{
		"good":                   {executor.Event{Run: run, Context: ended}, observe.OK},
		"run failed":             {executor.Event{Run: run, Context: ended, Err: io.EOF}, observe.Failed},
		"run failed with an end": {executor.Event{Run: run, Context: ended, Err: context.Canceled}, observe.Failed},
		"run panicked": {
			executor.Event{Run: run, Context: ended, Err: fmt.Errorf("a task: %w", elsewhere)}, observe.Panicked,
		},
		"run cancelled": {
			executor.Event{Run: run, Context: stopped, Cancelled: true, Err: fmt.Errorf("a run: %w", elsewhere)},
			observe.Cancelled,
		},
		"task failed":      {executor.Event{Task: task, Context: stopped, Err: io.EOF}, observe.Failed},
		"task cancelled":   {executor.Event{Task: task, Context: ended, Err: context.Canceled}, observe.Cancelled},
		"task's own cause": {executor.Event{Task: task, Context: stopped, Err: elsewhere}, observe.Cancelled},
		"task wraps the cause": {
			executor.Event{Task: task, Context: stopped, Err: fmt.Errorf("fetch: %w", elsewhere)}, observe.Cancelled,
		},
		"task panicked": {
			executor.Event{Task: task, Context: stopped, Err: &executor.PanicError{Value: "here"}}, observe.Panicked,
		},
		"task panicked with the end": {
			executor.Event{Task: task, Context: ended, Err: &executor.PanicError{Value: ended.Err()}}, observe.Panicked,
		},
		"task mute": {executor.Event{Task: task, Context: ended, Err: mute{}}, observe.Failed},
	} {
		require.Equal(t, tt.want, observe.OutcomeOf(&tt.e), name)
	}
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
