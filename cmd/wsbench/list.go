package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/replay"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/pool"
)

// runList is wsbench list.
func (t *tool) runList(_ context.Context, args []string) error {
	asked, err := parse(newFlags("list"), args)
	if err != nil {
		return err
	}
	sections := t.sections()
	if len(asked) > 0 {
		if sections, err = pickNamed("section", sections, sectionName, asked); err != nil {
			return err
		}
	}
	var b strings.Builder
	for i, s := range sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintln(&b, s.title)
		s.write(func(name, about string) { fmt.Fprintf(&b, "  %-20s%s\n", name, about) })
	}
	_, err = fmt.Fprint(t.stdout, b.String())
	return err
}

// A section of the list has a name for the command line, a title, and entries: names, and what is to be said of them.
type section struct {
	name, title string
	write       func(entry func(name, about string))
}

func sectionName(s section) string { return s.name }

func (t *tool) sections() []section {
	size := func(entry func(name, about string), what string, n int) {
		entry("", fmt.Sprintf("n: %s, default %d", what, n))
	}
	work := func(name, title string, all []*workloads.Workload) section {
		return section{name, title, func(entry func(name, about string)) {
			for _, w := range all {
				entry(w.Name, w.About)
				size(entry, w.Size, w.Default)
			}
		}}
	}
	graphs, programs, lists := t.kinds()
	return []section{
		work("graphs", "workloads that are graphs (wsbench run NAME…)", graphs),
		work("programs", "programs, whose tasks come into being while they run (the same command)", programs),
		work("lists", "lists of tasks, made in advance, as in document 001 (the same command)", lists),
		{"probes", "probes (the same command; on engine magpie only)", func(entry func(name, about string)) {
			for _, p := range t.probes {
				entry(p.Name, p.About)
				size(entry, p.Size, p.Default)
			}
		}},
		{"engines", "engines (-engine)", func(entry func(name, about string)) {
			for _, e := range t.engines {
				entry(e.Name, e.About)
				entry("", e.Programs)
			}
		}},
		{"policies", "policies of engine magpie (-policy)", func(entry func(name, about string)) {
			for _, p := range experiment.Policies() {
				name := p
				for line := range strings.Lines(experiment.About(p)) {
					entry(name, strings.TrimSuffix(line, "\n"))
					name = ""
				}
			}
		}},
		{"deques", "kinds of deque (-deque), of engine magpie and for the experiments",
			func(entry func(name, about string)) {
				for _, k := range t.dequeKinds {
					entry(k.Name, k.About)
				}
			}},
		{"forks", "ways to fork of engine magpie (-forks), for programs", func(entry func(name, about string)) {
			for _, f := range experiment.Forks() {
				entry(f, forksAbout[f])
			}
		}},
		{"queues", "queues of engine magpie (-queue), for lists of tasks", func(entry func(name, about string)) {
			for _, q := range pool.Queues() {
				entry(q.String(), q.About())
			}
		}},
		{"stealing", "stealing from queues of their own (-queue perthread+neighbour+half)",
			func(entry func(name, about string)) {
				for _, s := range pool.Stealings()[1:] {
					entry("+"+s.String(), s.About())
				}
			}},
		{"idling", "idling while the last tasks run (-queue perthread+spin)", func(entry func(name, about string)) {
			for _, i := range pool.Idles() {
				entry("+"+i.String(), i.About())
			}
		}},
		{"experiments", "experiments with deques alone (wsbench deque NAME…)", func(entry func(name, about string)) {
			for _, e := range t.experiments {
				entry(e.Name, e.About)
				if e.Size != "" {
					size(entry, e.Size, e.Default)
				}
			}
		}},
		{"replays", "replays of what the source documents measured (wsbench replay ID…)",
			func(entry func(name, about string)) {
				for _, e := range replay.Experiments() {
					entry(e.ID, e.About)
				}
			}},
		{"loop", "load beside a measurement (wsbench loop)", func(entry func(name, about string)) {
			entry("loop", "threads that compute until they are told to end, outside any executor: LOOP of document 004")
		}},
	}
}

var forksAbout = map[string]string{
	"private": "a fork is pushed when thieves want work, if the kind of deque allows that; the default",
	"pushed":  "every fork is pushed at once",
}

func listHelp(t *tool) string {
	return fmt.Sprintf(`Usage: wsbench list [SECTION…]

Lists everything that there is to measure, or these sections of it:
  %s

Examples:
  wsbench list
  wsbench list graphs policies
`, wrapped(names(t.sections(), sectionName), 2))
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
	return strings.Join(namesOf(values, name), ", ")
}

// namesOf returns the names of values.
func namesOf[T any](values []T, name func(T) string) (all []string) {
	for _, v := range values {
		all = append(all, name(v))
	}
	return all
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
			return nil, input.Unknown(what, a, namesOf(known, name))
		}
	}
	return picked, nil
}
