package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/replay"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pool"
)

// runList is wsbench list.
func (t *tool) runList(_ context.Context, args []string) error {
	fs := newFlags("list")
	others, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return input.Errorf("list takes no arguments, got %q", others[0])
	}
	var b strings.Builder
	section := func(title string) { fmt.Fprintf(&b, "%s\n", title) }
	entry := func(name, about string) { fmt.Fprintf(&b, "  %-20s%s\n", name, about) }
	size := func(what string, n int) { entry("", fmt.Sprintf("n: %s, default %d", what, n)) }

	graphs, programs, lists := t.kinds()
	section("workloads that are graphs (wsbench run NAME…)")
	for _, w := range graphs {
		entry(w.Name, w.About)
		size(w.Size, w.Default)
	}
	section("\nprograms, whose tasks come into being while they run (the same command)")
	for _, w := range programs {
		entry(w.Name, w.About)
		size(w.Size, w.Default)
	}
	section("\nlists of tasks, made in advance, as in document 001 (the same command)")
	for _, w := range lists {
		entry(w.Name, w.About)
		size(w.Size, w.Default)
	}
	section("\nprobes (the same command; on engine magpie only)")
	for _, p := range t.probes {
		entry(p.Name, p.About)
		size(p.Size, p.Default)
	}
	section("\nengines (-engine)")
	for _, e := range t.engines {
		entry(e.Name, e.About)
		entry("", e.Programs)
	}
	section("\npolicies of engine magpie (-policy)")
	for _, p := range executor.Policies() {
		name := p.String()
		for line := range strings.Lines(p.About()) {
			entry(name, strings.TrimSuffix(line, "\n"))
			name = ""
		}
	}
	section("\nkinds of deque (-deque), of engine magpie and for the experiments")
	for _, k := range t.dequeKinds {
		entry(k.Name, k.About)
	}
	section("\nways to fork of engine magpie (-forks), for programs")
	for _, f := range executor.AllForks() {
		entry(f.String(), forksAbout[f])
	}
	section("\nqueues of engine magpie (-queue), for lists of tasks")
	for _, q := range pool.Queues() {
		entry(q.String(), q.About())
	}
	section("\nstealing from queues of their own (-queue perthread+neighbour+half)")
	for _, s := range pool.Stealings()[1:] {
		entry("+"+s.String(), s.About())
	}
	section("\nidling while the last tasks run (-queue perthread+spin)")
	for _, i := range pool.Idles() {
		entry("+"+i.String(), i.About())
	}
	section("\nexperiments with deques alone (wsbench deque NAME…)")
	for _, e := range t.experiments {
		entry(e.Name, e.About)
		if e.Size != "" {
			size(e.Size, e.Default)
		}
	}
	section("\nreplays of what the source documents measured (wsbench replay ID…)")
	for _, e := range replay.Experiments() {
		entry(e.ID, e.About)
	}
	section("\nload beside a measurement (wsbench loop)")
	entry("loop", "threads that compute until they are told to end, outside any executor: LOOP of document 004")
	_, err = fmt.Fprint(t.stdout, b.String())
	return err
}

var forksAbout = map[executor.Forks]string{
	executor.PrivateForks: "a fork is pushed when thieves want work, if the kind of deque allows that; the default",
	executor.PushedForks:  "every fork is pushed at once",
}

func listHelp(*tool) string {
	return "Usage: wsbench list\n\n" +
		"Lists the workloads, probes, engines, policies, deques, ways to fork, queues, experiments and replays.\n"
}

// kinds returns the workloads that are graphs, those that are programs, and those that are lists of tasks.
func (t *tool) kinds() (graphs, programs, lists []*workloads.Workload) {
	for _, w := range t.workloads {
		switch {
		case w.IsProgram():
			programs = append(programs, w)
		case w.IsDivision():
			lists = append(lists, w)
		default:
			graphs = append(graphs, w)
		}
	}
	return graphs, programs, lists
}

// names lists the names of values, separated by commas.
func names[T any](values []T, name func(T) string) string {
	var all []string
	for _, v := range values {
		all = append(all, name(v))
	}
	return strings.Join(all, ", ")
}

// wrapped breaks a list of names into lines of the width of a terminal. Lines but the first begin with indent spaces.
func wrapped(list string, indent int) string {
	var b strings.Builder
	at := indent
	for i, word := range strings.Fields(list) {
		switch {
		case i == 0:
		case at+1+len(word) > lineWidth:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}

// pickNamed returns the values with the names in asked, in the order of known.
func pickNamed[T any](what string, known []T, name func(T) string, asked []string) (picked []T, err error) {
	for _, v := range known {
		if slices.Contains(asked, name(v)) {
			picked = append(picked, v)
		}
	}
	for _, a := range asked {
		if !slices.ContainsFunc(known, func(v T) bool { return name(v) == a }) {
			return nil, input.Errorf("no %s %q: there are %s", what, a, names(known, name))
		}
	}
	return picked, nil
}
