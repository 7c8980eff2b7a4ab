package graph_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the drawings in testdata/dot anew")

func TestDOT(t *testing.T) {
	for name, build := range map[string]func() *graph.Graph{
		"empty": func() *graph.Graph { return graph.New("") },
		"etl": func() *graph.Graph {
			g := graph.New("etl")
			load, clean, count := g.Task(nothing).Named("load"), g.Task(nothing), g.Task(nothing)
			report := g.Task(nothing).Named("report")
			report.Succeed(clean, count)
			load.Precede(clean, count)
			load.Precede(report)
			load.Precede(count) // said twice, drawn twice
			return g
		},
		"cycle": func() *graph.Graph {
			g := graph.New("cycle")
			a, b, c := g.Task(nothing).Named("a"), g.Task(nothing).Named("b"), g.Task(nothing).Named("c")
			a.Precede(b)
			b.Precede(c)
			c.Precede(b, c)
			return g
		},
		"names": func() *graph.Graph {
			g := graph.New(`the "quoted" graph`)
			for _, name := range specialNames {
				g.Task(nothing).Named(name)
			}
			return g
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := build()
			var out bytes.Buffer
			require.NoError(t, g.WriteDOT(&out))
			golden := filepath.Join("testdata", "dot", name+".dot")
			if *update {
				require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o666))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), out.String())

			var again bytes.Buffer
			require.NoError(t, g.WriteDOT(&again))
			require.Equal(t, out.String(), again.String(), "the same graph gives the same drawing")
		})
	}
}

// Attributes from outside stand after those of WriteDOT or take their place; a style is added.
func TestDOTWith(t *testing.T) {
	g := graph.New("shop")
	a, b := g.Task(nothing).Named("a").Priority(graph.High), g.Task(nothing).Named("b")
	a.Precede(b)
	var out bytes.Buffer
	require.NoError(t, g.WriteDOTWith(&out, func(i int) [][2]string {
		if i == 1 {
			return [][2]string{{"label", `say "b"`}, {"shape", "box"}, {"style", "filled"}, {"fillcolor", "0.1 0.2 1.0"}}
		}
		return [][2]string{{"style", `filled"`}, {"style", "rounded"}, {"tooltip", "1ms; ] }"}}
	}))
	require.Equal(t, `digraph "shop" {
	n0 [label="a" style="bold,filled\",rounded" tooltip="1ms; ] }"];
	n1 [label="say \"b\"" shape="box" style="filled" fillcolor="0.1 0.2 1.0"];
	n0 -> n1;
}
`, out.String())

	var plain, none bytes.Buffer
	require.NoError(t, g.WriteDOT(&plain))
	require.NoError(t, g.WriteDOTWith(&none, func(int) [][2]string { return nil }))
	require.Equal(t, plain.String(), none.String())

	for _, name := range []string{"", "2x", "a b", "a=b", "node", "Edge", "é", "x]"} {
		out.Reset()
		err := g.WriteDOTWith(&out, func(int) [][2]string { return [][2]string{{name, "1"}} })
		require.ErrorContains(t, err, `graph "shop": task a: the attribute `, name)
		require.Empty(t, out.String())
	}
}

// specialNames are names that a quoted string could garble.
var specialNames = []string{
	" ",
	"plain",
	"#7",
	`say "hello"`,
	`C:\new\graph`,
	`ends in \`,
	`\"`,
	`\N \G \l`,
	"two\nlines",
	"a\tb",
	"naïve → 最終 ✓",
	"no\u00a0break",
	"\U0001F469\u200d\U0001F52C", // one sign, of two that are joined
	"; } digraph {",
	"<b>html</b>",
}

// TestDOTNames reads the labels as Graphviz would and finds the names again.
func TestDOTNames(t *testing.T) {
	for _, name := range specialNames {
		g := graph.New("g")
		g.Task(nothing).Named(name)
		var out bytes.Buffer
		require.NoError(t, g.WriteDOT(&out))
		label := regexp.MustCompile(`(?s)\[label=(".*")\];\n`).FindStringSubmatch(out.String())
		require.NotNil(t, label, "%s", out.String())
		require.Equal(t, name, shown(t, label[1]), "drawn as %s", label[1])
	}
}

// shown is what Graphviz draws for a quoted string as a label. The string ends at the first quote that is not escaped;
// of the escapes in a label, \n ends a line, \N and \G and others name things, and any other backslash only
// makes the next character stand for itself.
func shown(t *testing.T, quoted string) string {
	var b strings.Builder
	inside := quoted[1:]
	for i := 0; i < len(inside); i++ {
		switch c := inside[i]; {
		case c == '"':
			require.Equal(t, len(inside)-1, i, "the string ends early: %s", quoted)
			return b.String()
		case c != '\\':
			b.WriteByte(c)
		default:
			i++
			switch e := inside[i]; e {
			case 'n':
				b.WriteByte('\n')
			case 'N', 'G', 'E', 'T', 'H', 'L', 'l', 'r':
				require.FailNow(t, "an escape that Graphviz replaces", `\%c in %s`, e, quoted)
			default:
				b.WriteByte(e)
			}
		}
	}
	require.FailNow(t, "the string does not end", "%s", quoted)
	return ""
}

func TestDOTAroundRuns(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	draw := func(g *graph.Graph) string {
		var out bytes.Buffer
		require.NoError(t, g.WriteDOT(&out))
		return out.String()
	}
	g := graph.New("g")
	a, b := g.Task(nothing), g.Task(nothing)
	b.Precede(a)
	fresh := draw(g)
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, fresh, draw(g))
	a.Named("late")
	require.Equal(t, strings.Replace(fresh, "#0", "late", 1), draw(g))
}

// A brokenPipe takes some bytes and then fails.
type brokenPipe struct{ left int }

var errPipe = errors.New("broken pipe")

func (p *brokenPipe) Write(b []byte) (int, error) {
	if len(b) > p.left {
		return p.left, errPipe
	}
	p.left -= len(b)
	return len(b), nil
}

func TestDOTWriteError(t *testing.T) {
	g := graph.New("g")
	for range 1000 {
		g.Task(nothing)
	}
	for _, room := range []int{0, 100, 10_000} {
		require.ErrorIs(t, g.WriteDOT(&brokenPipe{room}), errPipe)
	}
}
