package bench

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// A Tree is the tree of experiment tree: a spine of complete trees. The root of each is also the first child of the
// root before. It is pushed before the other children, so a thief takes the rest of the spine, and its victim keeps the
// complete tree.
type Tree struct {
	Name   string
	Fanout int // children of a node of a complete tree
	Depth  int // of a complete tree: 0 is a leaf
	Spine  int // the number of complete trees
}

// Trees lists the trees that have names. A traversal of one takes some tens of milliseconds: on a machine with other
// work, threads wait for a core that long now and then.
func Trees() []Tree {
	return []Tree{
		{"fat", 512, 2, 1},    // first the queue of the worker with the root fills, then all queues
		{"thin", 2, 3, 16384}, // a handful of items at any time, in all queues together
	}
}

// shortTrees are smaller trees, for a quick look.
func shortTrees() []Tree { return []Tree{{"fat", 160, 2, 1}, {"thin", 2, 3, 2048}} }

// ParseTree returns the tree of that name, or with that fanout, depth and length of the spine: 64:3 or 2:3:1000.
func ParseTree(s string) (Tree, error) {
	for _, t := range Trees() {
		if t.Name == s {
			return t, nil
		}
	}
	t := Tree{Name: s, Spine: 1}
	fields := strings.Split(s, ":")
	into := []*int{&t.Fanout, &t.Depth, &t.Spine}
	ok := len(fields) == 2 || len(fields) == 3
	for i := 0; ok && i < len(fields); i++ {
		n, err := strconv.Atoi(fields[i])
		*into[i], ok = n, err == nil
	}
	if !ok {
		return t, input.Errorf("no tree %q: "+
			"there are fat, thin, and FANOUT:DEPTH or FANOUT:DEPTH:SPINE as in 64:3 or 2:3:1000", s)
	}
	if t.Fanout < 1 || t.Depth < 0 || t.Spine < 1 {
		return t, input.Errorf("tree %s: fanout and spine must be at least 1, and the depth not negative", s)
	}
	if t.size() > mostTreeNodes {
		return t, input.Errorf("tree %s has more than %d nodes: choose a smaller one", s, mostTreeNodes)
	}
	return t, nil
}

// mostTreeNodes bounds the memory.
const mostTreeNodes = 1 << 28

// size returns the number of nodes.
func (t Tree) size() float64 { return t.completeSize() * float64(t.Spine) }

// completeSize returns the number of nodes of one complete tree.
func (t Tree) completeSize() float64 {
	if t.Fanout == 1 {
		return float64(t.Depth) + 1
	}
	return workloads.TreeNodes(t.Fanout, t.Depth)
}

func (t Tree) String() string {
	return fmt.Sprintf("%s: %d children, depth %d, spine of %d: %.0f nodes",
		t.Name, t.Fanout, t.Depth, t.Spine, t.size())
}
