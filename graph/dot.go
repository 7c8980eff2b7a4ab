package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteDOT writes the graph in the DOT language of Graphviz, for example for dot -Tsvg. Tasks and edges stand in the
// order in which they were added, so that equal graphs give equal drawings. A graph with a cycle can be drawn too,
// unless the cycle is in a module: then the error names the module. A module is drawn with its tasks. A condition is a
// diamond; its edges are dashed and labelled with the indices by which it chooses. The outline of a task is bold if its
// priority is high, and dotted if its priority is low.
func (g *Graph) WriteDOT(out io.Writer) error {
	p, err := g.freeze()
	if p == nil {
		return err
	}
	b := bufio.NewWriter(out)
	fmt.Fprintf(b, "digraph %s {\n", quote(g.name))
	for i := range p.Len() {
		looks := ""
		if p.Chooses != nil && p.Chooses[i] {
			looks = " shape=diamond"
		}
		switch g.layout.priorities[uint32(i)] {
		case High:
			looks += " style=bold"
		case Low:
			looks += " style=dotted"
		}
		fmt.Fprintf(b, "\tn%d [label=%s%s];\n", i, quote(g.taskName(uint32(i))), looks)
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

// quote quotes a string for DOT, which has no escapes for other characters.
func quote(s string) string {
	return `"` + escapes.Replace(s) + `"`
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
