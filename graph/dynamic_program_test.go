package graph_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/graph"
)

// A program is nested graphs of all kinds of tasks. Which tasks run, and how often, does not depend on timing.
type program struct {
	vertices []*vertex
	blocks   []*block
	root     *block
	permits  []int // of each semaphore
	routes   int
	overlaps bool            // a task may begin again before it has ended
	expected map[*vertex]int // how often each runs
	tasks    int             // in all
}

// A block describes one graph, or several equal ones.
type block struct {
	name     string
	level    int  // the first semaphore that its tasks may need
	chooses  bool // there are choices in it
	vertices []*vertex
	sources  []*vertex
	sinks    []*vertex
}

// A vertex is a task of a block.
type vertex struct {
	id       int // in the program
	index    int // in the block
	block    *block
	does     work
	name     string    // may be empty
	succ     []*vertex // in the order in which they were named
	joins    int       // edges into it that count
	takes    []*vertex // of a maker: whose values
	value    uint64    // and its own
	child    *block    // of a flow or a module
	after    *vertex   // of a plain one: the flow or module that it alone comes after
	route    *route    // of a choice: who decides; nil if picks are all that is chosen
	picks    []int
	limits   []int // the semaphores, once for each permit
	often    int   // how often it runs in one run of the block
	priority graph.Priority
}

// work is the kind of a vertex.
type work uint8

const (
	plain work = iota
	makes
	chooses
	choosesMany
	flows
	stands // for a module
)

func (w work) String() string {
	return [...]string{"plain", "makes", "chooses", "chooses many", "flow", "module"}[w]
}

// A route goes through choices, one at a time. After a number of steps it leads to the exit, or to no successor if
// there is no exit.
type route struct {
	id, steps int
	exit      *vertex
}

// pick returns the index of the successor of v that the nth decision chooses.
func (r *route) pick(v *vertex, n int) int {
	if n%(r.steps+1) == r.steps {
		if r.exit == nil {
			return len(v.succ) + n%2
		}
		return slices.Index(v.succ, r.exit)
	}
	i := int(mix(uint64(r.id), uint64(v.id), uint64(n)) % uint64(len(v.succ)))
	for v.succ[i] == r.exit {
		i = (i + 1) % len(v.succ)
	}
	return i
}

// mix hashes numbers.
func mix(all ...uint64) (h uint64) {
	for _, n := range all {
		h = (h ^ n) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	return h
}

// label returns the name of the vertex in errors.
func (v *vertex) label() string {
	switch {
	case v.does == stands:
		return v.child.name
	case v.name != "":
		return v.name
	}
	return fmt.Sprintf("#%d", v.index)
}

// chosen returns the distinct successors with these indices.
func (v *vertex) chosen(numbers []int) (all []*vertex) {
	for _, n := range numbers {
		if 0 <= n && n < len(v.succ) && !slices.Contains(all, v.succ[n]) {
			all = append(all, v.succ[n])
		}
	}
	return all
}

// count sets how often each vertex runs if the block is run that many times, and returns the number of tasks in all.
func (p *program) count(b *block, times int) (tasks int) {
	if times == 0 {
		return 0
	}
	for _, v := range b.vertices {
		n := times * v.often
		tasks += n
		p.expected[v] += n
		if v.child == nil {
			continue
		}
		tasks += p.count(v.child, n)
		if v.isCopied() && len(v.child.sinks) != 1 {
			tasks += n // what a copy ends with
		}
	}
	return tasks
}

// isCopied reports whether v is a module that becomes a part of the plan.
func (v *vertex) isCopied() bool { return v.does == stands && !v.child.chooses && v.limits == nil }

func (p *program) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "permits %v", p.permits)
	for _, b := range p.blocks {
		fmt.Fprintf(&s, "\n%s, level %d, sources", b.name, b.level)
		for _, v := range b.sources {
			fmt.Fprintf(&s, " %d", v.id)
		}
		if b == p.root {
			s.WriteString(": the whole")
		}
		for _, v := range b.vertices {
			fmt.Fprintf(&s, "\n  %d %s: %v", v.id, v.label(), v.does)
			if v.child != nil {
				fmt.Fprintf(&s, " %s", v.child.name)
			}
			if v.route != nil {
				fmt.Fprintf(&s, " route %d of %d steps", v.route.id, v.route.steps)
			} else if v.picks != nil {
				fmt.Fprintf(&s, " %v", v.picks)
			}
			if v.priority != graph.Normal {
				fmt.Fprintf(&s, " priority %v", v.priority)
			}
			if v.limits != nil {
				fmt.Fprintf(&s, " limits %v", v.limits)
			}
			for _, t := range v.takes {
				fmt.Fprintf(&s, " takes %d", t.id)
			}
			s.WriteString(" →")
			for _, t := range v.succ {
				fmt.Fprintf(&s, " %d", t.id)
			}
		}
	}
	return s.String()
}
