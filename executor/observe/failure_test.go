package observe_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// A badError has a method that panics, as that of a nil pointer often does.
type badError struct{ text string }

func (e *badError) Error() string { return e.text }

// A trace tells a failure whatever its text is, and goes on.
func TestTraceFailures(t *testing.T) {
	var none *badError
	for name, c := range map[string]struct {
		err  error
		says func(string) bool
	}{
		"nil":     {none, func(s string) bool { return s != "" }},
		"long":    {errors.New(strings.Repeat("é", 1000)), func(s string) bool { return 900 < len(s) && len(s) < 1100 }},
		"no text": {errors.New("\xff\n"), func(s string) bool { return s == "\ufffd\n" }},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			trace := observe.NewTrace(&out, observe.TraceOptions{Wait: true, Sample: -1})
			ex := newExecutor(t, 1, trace.Observer())
			g := graph.New("g")
			g.Task(func(context.Context) error { return c.err })
			good := graph.New("good")
			good.Task(func(context.Context) error { return nil })
			require.Error(t, ex.Run(t.Context(), g))
			require.NoError(t, ex.Run(t.Context(), good))
			require.NoError(t, ex.Close())
			require.NoError(t, trace.Close())
			f := readTrace(t, out.Bytes())
			require.Len(t, f.of("X", "g"), 1)
			said, _ := f.of("X", "g")[0].Args["error"].(string)
			require.True(t, c.says(said), "%q", said)
			require.Len(t, f.of("X", "good"), 1)
			marks := f.of("i", "failure")
			require.Len(t, marks, 1)
			require.Equal(t, "failed", marks[0].Name)
			require.Equal(t, f.of("X", "g")[0].End-1, marks[0].Begin)
		})
	}
}

// A trace tells each task that was skipped, and why. A cancelled one is told as well as one after a failure.
func TestTraceSkips(t *testing.T) {
	var out bytes.Buffer
	trace := observe.NewTrace(&out, observe.TraceOptions{Wait: true, Sample: -1, Edges: true})
	ex := newExecutor(t, 1, trace.Observer())
	nothing := func(context.Context) error { return nil }
	g := graph.New("build")
	compile := g.Task(func(context.Context) error { return errors.New("syntax error") }).Named("compile")
	link, docs := g.Task(nothing).Named("link"), g.Task(nothing).Named("docs")
	install := g.Task(nothing) // without a name
	compile.Precede(link)
	install.Succeed(link, docs)
	nightly := executor.With(graph.KeepGoing(g), executor.RunOptions{Name: "nightly"})
	require.Error(t, ex.Run(t.Context(), nightly))

	ctx, cancel := context.WithCancelCause(t.Context())
	late := graph.New("late")
	late.Task(func(ctx context.Context) error {
		cancel(errors.New(strings.Repeat("x", 5000)))
		<-ctx.Done()
		return nil
	}).Precede(late.Task(nothing).Named("after"))
	require.Error(t, ex.Run(ctx, late))

	group := executor.NewGroup(ex)
	broken := group.GoAfter(func(context.Context) error { return errors.New("broken") })
	group.GoAfter(nothing, broken)
	require.Error(t, group.Wait())
	require.NoError(t, ex.Close())
	require.NoError(t, trace.Close())

	f := readTrace(t, out.Bytes())
	var skipped []map[string]any
	cause := ""
	for _, mark := range f.of("i", "skip") {
		require.Equal(t, "skipped", mark.Name)
		if mark.Args["task"] == "after" {
			cause = mark.Args["cause"].(string)
			delete(mark.Args, "cause")
		}
		skipped = append(skipped, mark.Args)
	}
	failure := `graph "build": task compile: syntax error`
	require.Equal(t, []map[string]any{
		{"task": "link", "job": "build", "run": "nightly", "cause": `run of "nightly": ` + failure},
		{"task": "#3", "job": "build", "run": "nightly", "cause": `run of "nightly": ` + failure},
		{"task": "after", "job": "late"},
		{"task": "#0", "job": "group", "cause": "broken"},
	}, skipped)
	require.Contains(t, cause, "xxx")
	require.Less(t, len(cause), 1100, "cut")
	require.Len(t, f.of("X", "build"), 2, "a skipped task has no slice")
}
