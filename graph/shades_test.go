package graph_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestShades: a drawing by a report shows what has failed and what was skipped for it, in modules too.
func TestShades(t *testing.T) {
	ex := inlineExecutor(t, testkit.Seed(t))
	boom := func(context.Context) error { return errors.New("boom") }
	tests := graph.New("tests")
	tests.Task(boom).Named("unit").Precede(tests.Task(nothing).Named("all"))
	g := graph.New("mk")
	a, docs := g.Task(boom).Named("a.o"), g.Task(nothing).Named("docs")
	a.Precede(g.Task(nothing).Named("link").Priority(graph.High))
	docs.Precede(g.Module(tests))

	var report *graph.Report
	require.ErrorAs(t, ex.Run(t.Context(), graph.KeepGoing(g)), &report)
	var out bytes.Buffer
	require.NoError(t, g.WriteDOTWith(&out, report.Shades()))
	for _, line := range []string{
		`n0 [label="a.o" style="filled" fillcolor="tomato" tooltip="graph \"mk\": task a.o: boom"];`,
		`n1 [label="docs"];`,
		`n2 [label="link" style="bold,filled" fillcolor="lightgrey" tooltip="skipped: graph \"mk\": task a.o: boom"];`,
		`label="tests#3/unit" style="filled" fillcolor="tomato" tooltip="graph \"mk\": task tests#3: ` +
			`graph \"tests\": task unit: boom"];`,
		`label="tests#3/all" style="filled" fillcolor="lightgrey" tooltip="skipped: graph \"mk\": task tests#3: `,
	} {
		require.Contains(t, out.String(), line)
	}
}

// TestShadesOfRepeatedFailures: a task that fails several times tells each, and without a report nothing is coloured.
func TestShadesOfRepeatedFailures(t *testing.T) {
	failure := func(text string) *graph.TaskError {
		return &graph.TaskError{Run: "mk", Graph: "mk", Task: "a", Err: errors.New(text)}
	}
	twice := &graph.Report{Failed: []graph.TaskReport{{Cause: failure("one")}, {Cause: failure("two")}}}
	tooltip := twice.Shades()(0)[2]
	require.Equal(t, [2]string{"tooltip", "graph \"mk\": task a: one\ngraph \"mk\": task a: two"}, tooltip)
	require.Nil(t, twice.Shades()(1))

	var none *graph.Report
	require.False(t, errors.As(errors.Join(executor.ErrClosed), &none))
	require.Nil(t, none.Shades()(0))
	require.NotPanics(t, func() { (&graph.Report{Failed: make([]graph.TaskReport, 1)}).Shades()(0) })
}
