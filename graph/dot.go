package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteDOT writes the graph in the DOT language of Graphviz, for example for dot -Tsvg. Tasks and edges stand in the
// order of [Graph.Tasks] and [Task.Successors], so that equal graphs give equal drawings. A graph with a cycle can be
// drawn too, unless the cycle is in a module: then the error names the module. A module is drawn with its tasks
// unless it is run as a whole, see [Graph.Module]. A condition is a diamond; its edges are dashed and labelled with the
// indices by which it chooses. The outline of a task is bold if its priority is high, and dotted if it is low.
func (g *Graph) WriteDOT(out io.Writer) error {
	return g.WriteDOTWith(out, nil)
}

// WriteDOTWith is WriteDOT with further attributes for the tasks, as names and values. The index of a task is its
// number, as in #3; the tasks of modules come after the graph's own. That is also its index in the TaskSet of which
// observers are told. An attribute that WriteDOT sets too takes its place, but a style is added to the others. Values
// need not be quoted. A name that is no identifier of the DOT language is an error, and then nothing is written.
//
// [Report.Shades] returns attributes that show what has failed and what was skipped for that. Those of the method
// Shades of Times, in package executor/observe, colour the tasks by the time that they have taken.
func (g *Graph) WriteDOTWith(out io.Writer, attributes func(index int) [][2]string) error {
	g.mustBe()
	if out == nil {
		return fmt.Errorf("graph %q: WriteDOT needs a writer, got nil", g.name)
	}
	p, err := g.freeze()
	if p == nil {
		return err
	}
	tasks := make([]dotTask, p.Len())
	for i := range tasks {
		if p.Funcs[i] == nil {
			continue
		}
		t := &tasks[i]
		t.label = quote(g.taskName(uint32(i)))
		if p.Chooses != nil && p.Chooses[i] {
			t.shape = "diamond"
		}
		switch g.layout.priorities[uint32(i)] {
		case High:
			t.style = "bold"
		case Low:
			t.style = "dotted"
		}
		if attributes == nil {
			continue
		}
		if err := t.add(attributes(i)); err != nil {
			return fmt.Errorf("graph %q: task %s: %w", g.name, g.taskName(uint32(i)), err)
		}
	}
	b := bufio.NewWriter(out)
	fmt.Fprintf(b, "digraph %s {\n", quote(g.name))
	for i := range tasks {
		if p.Funcs[i] != nil {
			fmt.Fprintf(b, "\tn%d [%v];\n", i, &tasks[i])
		}
	}
	for i := range p.Len() {
		for n, s := range p.Successors(uint32(i)) {
			fmt.Fprintf(b, "\tn%d -> n%d", i, s)
			if p.Chooses != nil && p.Chooses[i] {
				fmt.Fprintf(b, " [style=dashed label=%d]", n)
			}
			b.WriteString(";\n")
		}
	}
	b.WriteString("}\n")
	return b.Flush()
}

// A dotTask holds the attributes of a task, in the DOT language but for the style.
type dotTask struct {
	label, shape, style string
	more                []string // attributes with their values
}

// add adds attributes that are not quoted yet.
func (t *dotTask) add(attributes [][2]string) error {
	for _, a := range attributes {
		switch name, value := a[0], quote(a[1]); {
		case !isDOTName(name):
			return fmt.Errorf("the attribute %q is not an identifier: give letters, digits and _, a digit not first", name)
		case name == "label":
			t.label = value
		case name == "shape":
			t.shape = value
		case name == "style" && t.style != "":
			t.style += "," + a[1]
		case name == "style":
			t.style = a[1]
		default:
			t.more = append(t.more, name+"="+value)
		}
	}
	return nil
}

// String returns the list of attributes in the DOT language.
func (t *dotTask) String() string {
	list := []string{"label=" + t.label}
	if t.shape != "" {
		list = append(list, "shape="+t.shape)
	}
	switch t.style {
	case "":
	case "bold", "dotted":
		list = append(list, "style="+t.style)
	default:
		list = append(list, "style="+quote(t.style))
	}
	return strings.Join(append(list, t.more...), " ")
}

// isDOTName reports whether s is an identifier of the DOT language that need not be quoted, and no keyword.
func isDOTName(s string) bool {
	for i, c := range s {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "", "node", "edge", "graph", "digraph", "subgraph", "strict":
		return false
	}
	return true
}

// quote quotes a string for DOT, which has no escapes for other characters.
func quote(s string) string {
	return `"` + escapes.Replace(s) + `"`
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
