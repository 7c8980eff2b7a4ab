package observe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// All functions of the observer that is put in are called, and of no other; nil functions are left out.
func TestSwitch(t *testing.T) {
	var log []string
	note := func(s string) { log = append(log, s) }
	recorder := func(name string) *executor.Observer {
		return &executor.Observer{
			Attach:    func(*executor.Executor) { note(name + " attach") },
			Detach:    func() { note(name + " detach") },
			RunBegin:  func(*executor.Event) { note(name + " run") },
			RunEnd:    func(*executor.Event) { note(name + " end") },
			TaskBegin: func(*executor.Event) { note(name + " task") },
			TaskEnd:   func(*executor.Event) { note(name + " task end") },
			Steal:     func(*executor.Event) { note(name + " steal") },
			Park:      func(*executor.Event) { note(name + " park") },
			Unpark:    func(*executor.Event) { note(name + " unpark") },
			Relabel:   func(*executor.Event) { note(name + " relabel") },
		}
	}
	want := func(all ...string) {
		t.Helper()
		require.Equal(t, all, log)
		log = nil
	}
	sw := observe.NewSwitch()
	o := sw.Observer()
	s := set("job", []string{"a"})
	events := func() {
		o.RunBegin(&executor.Event{})
		o.RunEnd(&executor.Event{})
		o.TaskBegin(&executor.Event{Task: &s.Tasks[0]})
		o.TaskEnd(&executor.Event{Task: &s.Tasks[0]})
		o.Steal(&executor.Event{Worker: 0, Victim: 0, Items: 0})
		o.Park(&executor.Event{Worker: 0})
		o.Unpark(&executor.Event{Worker: 0})
		o.Relabel(&executor.Event{Worker: 0})
	}
	events()
	want()
	sw.Set(recorder("a"))
	ex := executor.NewInline(1)
	o.Attach(ex)
	want("a attach")
	events()
	want("a run", "a end", "a task", "a task end", "a steal", "a park", "a unpark", "a relabel")
	sw.Set(recorder("b"))
	want("b attach", "a detach")
	sw.Set(&executor.Observer{})
	want("b detach")
	events()
	sw.Set(nil)
	events()
	want()
	sw.Set(recorder("c"))
	o.Detach()
	want("c attach", "c detach")
	sw.Set(nil)
	require.NoError(t, ex.Close())
	want()
}

// Observers are put in and out while tasks run, some of them in others. What is traced nests, and no task is harmed.
func TestSwitchWhileRunning(t *testing.T) {
	sw := observe.NewSwitch()
	ex := newExecutor(t, 2, sw.Observer())
	inner := graph.New("inner")
	for range 20 {
		inner.Task(func(context.Context) error { return nil })
	}
	var stop atomic.Bool
	outer := executor.NewJob("outer", func(s *executor.Scope) error {
		for !stop.Load() {
			if err := ex.Run(s.Context(), inner); err != nil {
				return err
			}
		}
		return nil
	})
	run := ex.Start(t.Context(), outer)
	for i := range max(5, testkit.Scale(12)) {
		switch i % 4 {
		case 0:
			sw.Set(observe.Labels())
		case 1:
			times := observe.NewTimes()
			sw.Set(times.Observer())
			for len(times.Snapshot()) == 0 { // it runs
				time.Sleep(time.Millisecond)
			}
			for task := range times.All() {
				require.Equal(t, "inner", task.Task.Set.Job, "the outer task was begun before")
			}
		case 2:
			sw.Set(observe.RuntimeTrace())
		default:
			var out bytes.Buffer
			trace := observe.NewTrace(&out, observe.TraceOptions{Edges: true, Parks: true})
			sw.Set(trace.Observer())
			for range 10 {
				require.NoError(t, ex.Run(t.Context(), inner))
			}
			sw.Set(nil)
			err := trace.Close()
			f := readTrace(t, out.Bytes())
			require.Empty(t, f.of("X", "outer"))
			if err == nil {
				require.NotEmpty(t, f.of("X", "inner"), fmt.Sprint(err))
			}
		}
	}
	stop.Store(true)
	require.NoError(t, run.Wait())
}

// Record traces until its context ends. It leaves alone what somebody else has put in.
func TestSwitchRecord(t *testing.T) {
	sw := observe.NewSwitch()
	ex := newExecutor(t, 2, sw.Observer())
	g := graph.New("g")
	g.Task(func(context.Context) error { return nil })
	run := func() { require.NoError(t, ex.Run(t.Context(), g)) }
	done, cancel := context.WithCancel(t.Context())
	cancel()
	record := func(out *bytes.Buffer) (stop func() error) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			for {
				err := sw.Record(ctx, out, observe.TraceOptions{})
				if !errors.Is(err, observe.ErrSwitched) {
					ended <- err
					return
				}
			}
		}()
		for !errors.Is(sw.Record(done, io.Discard, observe.TraceOptions{}), observe.ErrSwitched) {
			time.Sleep(time.Millisecond)
		}
		return func() error { cancel(); return <-ended }
	}
	for range 2 {
		var out bytes.Buffer
		stop := record(&out)
		run()
		require.NoError(t, stop())
		require.Len(t, readTrace(t, out.Bytes()).of("X", "g"), 1)
		run()
	}
	times := observe.NewTimes()
	sw.Set(times.Observer())
	var nothing bytes.Buffer
	require.ErrorIs(t, sw.Record(t.Context(), &nothing, observe.TraceOptions{}), observe.ErrSwitched)
	require.Empty(t, nothing.String())
	require.ErrorContains(t, observe.NewSwitch().Record(done, nil, observe.TraceOptions{}), "got nil")
	run()
	require.Len(t, times.Snapshot(), 1)
	sw.Set(nil)

	var out bytes.Buffer
	ended := make(chan error)
	go func() { ended <- sw.Record(t.Context(), &out, observe.TraceOptions{}) }()
	testkit.Until(t, "the trace has begun", sw.IsIn)
	sw.Set(&executor.Observer{RunBegin: func(*executor.Event) { times = nil }})
	require.ErrorIs(t, <-ended, observe.ErrSwitched)
	readTrace(t, out.Bytes())
	run()
	require.Nil(t, times, "it stays in")
}

// TestSwitchContains: an observer that panics is not called again, and the next one works, as does the next executor.
func TestSwitchContains(t *testing.T) {
	quiet(t)
	g := graph.New("g")
	g.Task(func(context.Context) error { return nil })
	sw := observe.NewSwitch()
	record := func(ex *executor.Executor) []traceEvent {
		var out bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- sw.Record(ctx, &out, observe.TraceOptions{}) }()
		testkit.Until(t, "the trace has begun", sw.IsIn)
		require.NoError(t, ex.Run(t.Context(), g))
		cancel()
		require.NoError(t, <-ended)
		return readTrace(t, out.Bytes()).of("X", "g")
	}
	for range 2 {
		ex := newExecutor(t, 2, sw.Observer())
		for i, o := range []*executor.Observer{
			{RunBegin: func(*executor.Event) { panic("once") }},
			{RunEnd: func(*executor.Event) { panic("once") }},
			{TaskBegin: func(*executor.Event) { panic("once") }},
			{TaskEnd: func(*executor.Event) { panic("once") }},
			{Park: func(*executor.Event) { panic("once") }, Unpark: func(*executor.Event) { panic("once") }},
			{Steal: func(*executor.Event) { panic("once") }},
			{Detach: func() { panic("once") }},
		} {
			sw.Set(o)
			require.NoError(t, ex.Run(t.Context(), g))
			sw.Set(nil)
			require.Len(t, record(ex), 1, "after observer %d", i)
		}
		bad := &executor.Observer{Attach: func(*executor.Executor) { panic("once") }}
		require.PanicsWithValue(t, "once", func() { sw.Set(bad) })
		require.Len(t, record(ex), 1)
		require.NoError(t, ex.Close())
	}
}

// TestSwitchDetach: the Detach of an observer that has panicked is not called. One whose Attach has failed because it
// is another executor's does not take it from that one.
func TestSwitchDetach(t *testing.T) {
	quiet(t)
	sw := observe.NewSwitch()
	o := sw.Observer()
	ex, other := executor.NewInline(1), executor.NewInline(1)
	defer func() { require.NoError(t, errors.Join(ex.Close(), other.Close())) }()
	times := observe.NewTimes().Observer()
	times.Attach(other)
	sw.Set(times)
	o.Attach(ex)
	detached := 0
	sw.Set(&executor.Observer{RunBegin: func(*executor.Event) { panic("boom") }, Detach: func() { detached++ }})
	require.Panics(t, func() { times.Attach(ex) }, "other has it")
	o.RunBegin(&executor.Event{})
	sw.Set(nil)
	require.Zero(t, detached)
}

// TestSwitchRecordErrors: Record says that it has recorded nothing.
func TestSwitchRecordErrors(t *testing.T) {
	quiet(t)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	sw := observe.NewSwitch()
	var nothing bytes.Buffer
	require.ErrorIs(t, sw.Record(done, &nothing, observe.TraceOptions{}), observe.ErrNoExecutor)
	while, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond) // a trace is written each tenth of a second
	defer cancel()
	require.ErrorIs(t, sw.Record(while, &nothing, observe.TraceOptions{}), observe.ErrNoExecutor)
	require.Empty(t, nothing.String())
	ex := newExecutor(t, 2, sw.Observer())
	require.NoError(t, sw.Record(done, io.Discard, observe.TraceOptions{}))

	forever := context.Background()
	require.ErrorContains(t, sw.Record(forever, nil, observe.TraceOptions{}), "got nil")
	full := errors.New("full")
	require.ErrorIs(t, sw.Record(forever, failing{full}, observe.TraceOptions{}), full)
	ended := make(chan error)
	go func() { ended <- sw.Record(forever, io.Discard, observe.TraceOptions{}) }()
	testkit.Until(t, "the trace has begun", sw.IsIn)
	sw.Set(nil)
	require.ErrorIs(t, <-ended, observe.ErrSwitched)

	// An executor that does not call the Switch any more does not call its Detach either.
	sw = observe.NewSwitch()
	o := sw.Observer()
	inline := executor.NewInline(1)
	defer func() { require.NoError(t, inline.Close()) }()
	o.Attach(inline)
	require.Panics(t, func() { o.Attach(ex) }, "for one executor at a time")
	sw.Set(&executor.Observer{Park: func(*executor.Event) { runtime.Goexit() }})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		o.Park(&executor.Event{Worker: 0})
	}()
	<-gone
	sw.Set(nil)
	require.ErrorContains(t, sw.Record(done, io.Discard, observe.TraceOptions{}), "called runtime.Goexit")
	o.Attach(ex)
	require.NoError(t, sw.Record(done, io.Discard, observe.TraceOptions{}))
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
