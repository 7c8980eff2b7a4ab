package circuit

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// writeBench writes c in the ISCAS format .bench. [ReadBench] makes an equal circuit of it. It returns an error, and
// has written a part, if a name has characters that the format keeps for itself.
func writeBench(w io.Writer, c *Circuit) error {
	for _, name := range c.names {
		if name == "" || strings.ContainsAny(name, separators) {
			return fmt.Errorf("circuit %s: net %q: names in a .bench file have no blanks and none of (),=#: rename it",
				c.Name, name)
		}
	}
	b := bufio.NewWriter(w) // its first error is that of Flush
	for n := range Net(c.inputs) {
		fmt.Fprintf(b, "INPUT(%s)\n", c.names[n])
	}
	for _, n := range c.outputs {
		fmt.Fprintf(b, "OUTPUT(%s)\n", c.names[n])
	}
	for n := Net(c.inputs); int(n) < c.Len(); n++ {
		fmt.Fprintf(b, "%s = %v(", c.names[n], c.kinds[n])
		for i, from := range c.Fanin(n) {
			if i > 0 {
				_, _ = b.WriteString(", ")
			}
			_, _ = b.WriteString(c.names[from])
		}
		_, _ = b.WriteString(")\n")
	}
	return b.Flush()
}
