package observe_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A slowWriter lets one Write through when it is told to.
type slowWriter struct {
	bytes.Buffer
	gate chan struct{}
}

func (w *slowWriter) Write(b []byte) (int, error) {
	<-w.gate
	return w.Buffer.Write(b)
}

// While the writer blocks, events are dropped and tasks go on. Memory does not grow.
func TestTraceDrops(t *testing.T) {
	out := &slowWriter{gate: make(chan struct{})}
	trace := observe.NewTrace(out, observe.TraceOptions{Buffer: 64, Sample: -1})
	s, run := set("job", []string{"a"}), newRun(t, t.Context(), "job")
	p := player{trace.Observer(), run}
	n := 0
	for range 100000 { // more than the text of one write and the buffer hold
		p.task(0, s, 0)
		n++
	}
	for range 100 {
		p.o.RunBegin(&executor.Event{Run: run})
		p.o.RunEnd(&executor.Event{Run: run})
		n++
	}
	close(out.gate)
	err := trace.Close()
	var dropped *observe.DroppedError
	require.ErrorAs(t, err, &dropped)
	require.ErrorContains(t, err, "lacks")
	require.Equal(t, err, trace.Close())
	f := readTrace(t, out.Bytes())
	require.Equal(t, uint64(n), dropped.Events+uint64(len(f.of("X", "job"))+len(f.of("b", "run"))))
	require.Positive(t, dropped.Events)
}

// A part of a trace is whole events: if the program ends without Close, only the brackets are missing.
func TestTraceCutOff(t *testing.T) {
	parts := make(chan string, 100)
	out := writerFunc(func(b []byte) (int, error) {
		parts <- string(b)
		return len(b), nil
	})
	trace := observe.NewTrace(out, observe.TraceOptions{Sample: -1})
	s, run := set("job", []string{"a"}), newRun(t, t.Context(), "job")
	p := player{trace.Observer(), run}
	p.task(0, s, 0)
	so := ""
	for !strings.Contains(so, `"X"`) {
		so += <-parts // within a tenth of a second, and before Close
	}
	require.Len(t, readTrace(t, []byte(so+"]}")).of("X", "job"), 1)
	p.task(0, s, 0)
	require.NoError(t, trace.Close())
	close(parts)
	for part := range parts {
		so += part
	}
	require.Len(t, readTrace(t, []byte(so)).of("X", "job"), 2)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

var errDisk = errors.New("no space left")

// A writer that is nil, fails, panics or calls Goexit ends the trace and no task.
func TestTraceWriters(t *testing.T) {
	for name, c := range map[string]struct {
		out  io.Writer
		says string
	}{
		"nil": {nil, "observe: NewTrace needs a writer, got nil"},
		"fails": {
			writerFunc(func([]byte) (int, error) { return 0, errDisk }),
			"observe: writing the trace: no space left",
		},
		"short":  {writerFunc(func(b []byte) (int, error) { return len(b) / 2, nil }), "short write"},
		"panics": {writerFunc(func([]byte) (int, error) { panic("oh") }), "observe: the trace's writer panicked: oh"},
		"exits": {
			writerFunc(func([]byte) (int, error) { runtime.Goexit(); return 0, nil }),
			"observe: the trace's writer called runtime.Goexit",
		},
	} {
		for _, wait := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s wait=%v", name, wait), func(t *testing.T) {
				trace := observe.NewTrace(c.out, observe.TraceOptions{Buffer: 64, Wait: wait})
				p := player{trace.Observer(), newRun(t, t.Context(), "job")}
				s := set("job", []string{"a"})
				for range 20000 {
					p.task(0, s, 0)
				}
				err := trace.Close()
				require.ErrorContains(t, err, c.says)
				require.Equal(t, err, trace.Close())
				if name == "fails" {
					require.ErrorIs(t, err, errDisk)
				}
			})
		}
	}
}

// A lateError calls a function when it is asked for its text.
type lateError func()

func (e lateError) Error() string {
	e()
	return "late"
}

// A run that ends while its trace is closed is in the trace, once, with its end or without.
func TestTraceRunThatEndsDuringClose(t *testing.T) {
	run := newRun(t, t.Context(), "job")
	t.Run("before the rest is written", func(t *testing.T) {
		var out bytes.Buffer
		writing, gate := make(chan struct{}, 10), make(chan struct{})
		trace := observe.NewTrace(writerFunc(func(b []byte) (int, error) {
			writing <- struct{}{}
			<-gate
			return out.Write(b)
		}), observe.TraceOptions{Sample: -1})
		o := trace.Observer()
		o.RunBegin(&executor.Event{Run: run})
		<-writing
		closed := make(chan error)
		go func() { closed <- trace.Close() }()
		testkit.Until(t, "the trace is being closed", trace.IsOff)
		o.RunEnd(&executor.Event{Run: run})
		close(gate)
		require.NoError(t, <-closed)
		require.Len(t, readTrace(t, out.Bytes()).of("b", "run"), 1)
	})
	t.Run("while its end is noted", func(t *testing.T) {
		var out bytes.Buffer
		trace := observe.NewTrace(&out, observe.TraceOptions{Sample: -1})
		o := trace.Observer()
		o.RunBegin(&executor.Event{Run: run})
		o.RunEnd(&executor.Event{Run: run, Err: lateError(func() { require.NoError(t, trace.Close()) })})
		require.Len(t, readTrace(t, out.Bytes()).of("b", "run"), 1)
	})
}

// The numbers of workers and items are noted as often as Sample says, also if that is less often than the trace is
// written.
func TestTraceSample(t *testing.T) {
	var out bytes.Buffer
	written := make(chan struct{}, 10)
	trace := observe.NewTrace(writerFunc(func(b []byte) (int, error) {
		written <- struct{}{}
		return out.Write(b)
	}), observe.TraceOptions{Sample: time.Hour})
	ex := executor.NewInline(1)
	trace.Observer().Attach(ex)
	<-written
	require.NoError(t, trace.Close())
	require.NoError(t, ex.Close())
	require.Empty(t, readTrace(t, out.Bytes()).of("C", ""))
}

// A trace without events has an empty list of them.
func TestTraceEmpty(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, observe.NewTrace(&out, observe.TraceOptions{}).Close())
	require.Empty(t, readTrace(t, out.Bytes()).events)
}
