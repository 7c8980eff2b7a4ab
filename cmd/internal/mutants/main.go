package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/internal/module"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, ".", os.Args[1:], os.Stdout, os.Stderr))
}

// Exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1 // a survivor, or a mutant that is of no use
	exitBadInput    = 2
	exitInterrupted = 130 // as for a shell command that SIGINT ended
)

const usage = `usage: go run ./cmd/internal/mutants [-run regexp] [-part K/N] [-list] [-v]

Builds bugs into the concurrent core, one at a time and outside the tree, and demands that the tests fail.

`

// run is the command without the process around it, called in folder dir.
func run(ctx context.Context, dir string, args []string, stdout, stderr io.Writer) int {
	complain := func(status int, err error) int {
		if ctx.Err() != nil {
			status, err = exitInterrupted, errors.New("interrupted")
		}
		fmt.Fprintf(stderr, "mutants: %v\n", err)
		return status
	}
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	pattern := flags.String("run", "", "only mutants whose name matches the `regexp`")
	part := flags.String("part", "0/1", "of these, part `K/N`: number K, K+N, K+2N …, from 0")
	list := flags.Bool("list", false, "list the mutants instead of running them")
	verbose := flags.Bool("v", false, "show each mutant's change, and what the tests print")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitOK
	} else if err != nil {
		return exitBadInput
	}
	if flags.NArg() > 0 {
		return complain(exitBadInput, fmt.Errorf("unexpected argument %q: choose mutants with -run", flags.Arg(0)))
	}
	re, err := regexp.Compile(*pattern)
	if err != nil {
		return complain(exitBadInput, fmt.Errorf("-run: %w", err))
	}
	var k, n int
	if read, err := fmt.Sscanf(*part, "%d/%d", &k, &n); err != nil || read != 2 || k < 0 || k >= n {
		return complain(exitBadInput, fmt.Errorf("-part is %q: give K/N with K from 0 to N-1, as 0/2 and 1/2", *part))
	}
	root, err := module.Root(ctx, dir)
	if err != nil {
		return complain(exitBadInput, err)
	}
	all, err := load(root)
	if err != nil {
		return complain(exitFailed, err)
	}
	all = slices.DeleteFunc(all, func(m *mutant) bool { return !re.MatchString(m.name) })
	if len(all) == 0 {
		return complain(exitBadInput, fmt.Errorf("no mutant's name matches %q: see -list", *pattern))
	}
	if n > 1 {
		known := len(all)
		number := -1
		all = slices.DeleteFunc(all, func(*mutant) bool { number++; return number%n != k })
		fmt.Fprintf(stdout, "part %d/%d: %d of %d mutants\n", k, n, len(all), known)
	}
	if *list {
		for _, m := range all {
			m.describe(stdout)
		}
		return exitOK
	}
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return complain(exitFailed, err)
	}
	defer os.RemoveAll(temp)
	g := &gate{lab: lab{root, temp}, stdout: stdout, verbose: *verbose, margin: 10 * time.Second}
	if err := g.run(ctx, all); err != nil {
		return complain(exitFailed, err)
	}
	return exitOK
}

func (m *mutant) describe(to io.Writer) {
	fmt.Fprintf(to, "%s  (%s)\n    %s\n", m.name, m.file, m.bug)
	if m.seen != "" {
		fmt.Fprintf(to, "    seen: %s\n", m.seen)
	}
	fmt.Fprintf(to, "    %v\n", m.killers)
}

// A gate runs mutants and reports the fate of each.
type gate struct {
	lab     lab
	stdout  io.Writer
	verbose bool
	margin  time.Duration // time for the killers of a mutant beyond five times that without it
	limits  map[killers]time.Duration
}

// A trial is the fate of a mutant.
type trial struct {
	verdict
	output string
	took   time.Duration
	err    error // why the mutant is of no use
}

// run returns an error if a mutant survives or is of no use.
func (g *gate) run(ctx context.Context, all []*mutant) error {
	start := time.Now()
	if err := g.baseline(ctx, all); err != nil {
		return err
	}
	var survivors []*mutant
	var useless []error
	i, hung := 0, 0
	for m, t := range inOrder(all, func(m *mutant) trial { return g.try(ctx, m) }) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		i++
		fmt.Fprintf(g.stdout, "%*d/%d %s: ", len(fmt.Sprint(len(all))), i, len(all), m.name)
		took := t.took.Seconds()
		switch {
		case t.err != nil:
			fmt.Fprintln(g.stdout, "ERROR")
			useless = append(useless, t.err)
		case t.failed == "":
			fmt.Fprintf(g.stdout, "SURVIVED %d tests (%.1f s)\n", t.passed, took)
			survivors = append(survivors, m)
		case t.hung:
			fmt.Fprintf(g.stdout, "killed by %s, which hangs: %s (%.1f s)\n", t.failed, shorten(t.how), took)
			hung++
		default:
			fmt.Fprintf(g.stdout, "killed by %s: %s (%.1f s)\n", t.failed, shorten(t.how), took)
		}
		if g.verbose {
			m.show(g.stdout)
			fmt.Fprintln(g.stdout, t.output)
		}
	}
	killed := len(all) - len(survivors) - len(useless)
	fmt.Fprintf(g.stdout, "%d of %d mutants killed, %d of them by a time limit, in %.0f s\n",
		killed, len(all), hung, time.Since(start).Seconds())
	if killed == len(all) {
		fmt.Fprintf(g.stdout, "proved: %d mutants killed\n", killed)
	}
	return verdictOf(survivors, useless)
}

// verdictOf returns an error that says what to do about mutants that were not killed.
func verdictOf(survivors []*mutant, useless []error) error {
	errs := slices.Clone(useless)
	if len(useless) > 0 {
		errs = append(errs, fmt.Errorf("mend these mutants (%d): "+
			"a mutant changes lines that are there, builds, and fails a test in time", len(useless)))
	}
	for _, m := range survivors {
		errs = append(errs, fmt.Errorf("%s survived: %v passes although %s", m.name, m.killers, m.bug))
	}
	if len(survivors) > 0 {
		errs = append(errs, fmt.Errorf("write a test or model program that fails with the mutant and name it there, "+
			"or widen its run field;\nonly if no caller can tell the difference, remove the mutant. "+
			"To look at one: go run ./cmd/internal/mutants -v -run '^%s$'", survivors[0].name))
	}
	return errors.Join(errs...)
}

// baseline requires that all killers pass on the code as it is, and sets their time limits.
func (g *gate) baseline(ctx context.Context, all []*mutant) error {
	fmt.Fprintln(g.stdout, "without mutants:")
	var binaries, tests []killers
	for _, m := range all {
		if k := m.killers; !slices.Contains(tests, k) {
			tests = append(tests, k)
		}
		if b := m.killers.binary(); !slices.Contains(binaries, b) {
			binaries = append(binaries, b)
		}
	}
	built := make(map[killers]string)
	for k, b := range inOrder(binaries, func(k killers) build { return g.lab.build(ctx, k, nil) }) {
		if b.err != nil {
			return fmt.Errorf("the tests of %s do not build: %w", k.pkg, b.err)
		}
		built[k] = b.path
	}
	const enough = 10 * time.Minute
	g.limits = make(map[killers]time.Duration)
	for k, t := range inOrder(tests, func(k killers) trial { return g.lab.test(ctx, built[k.binary()], k, enough) }) {
		if t.err != nil {
			return t.err
		}
		if t.failed != "" {
			return fmt.Errorf("%v fails without any mutant: %s: %s\n%s", k, t.failed, t.how, tail(t.output))
		}
		g.limits[k] = g.margin + 5*t.took.Round(time.Second)
		fmt.Fprintf(g.stdout, "  %v: %d passed (%.1f s)\n", k, t.passed, t.took.Seconds())
	}
	return nil
}

// try runs the killers with the mutant.
func (g *gate) try(ctx context.Context, m *mutant) trial {
	start := time.Now()
	b := g.lab.buildMutant(ctx, m)
	if b.err != nil {
		return trial{err: b.err}
	}
	defer os.RemoveAll(filepath.Dir(b.path))
	t := g.lab.test(ctx, b.path, m.killers, g.limits[m.killers])
	t.took = time.Since(start)
	if t.err == nil && t.hung && m.hangs == "" {
		t.err = fmt.Errorf("%s: %s hangs: %s; "+
			"this may be a survivor on a slow machine: name a test that fails instead, or say hangs: yes",
			m.name, t.failed, shorten(t.how))
	}
	return t
}

// show prints the mutant's edits.
func (m *mutant) show(to io.Writer) {
	m.describe(to)
	for _, e := range m.edits {
		for _, line := range e.old {
			fmt.Fprintf(to, "    -%s\n", line)
		}
		for _, line := range e.new {
			fmt.Fprintf(to, "    +%s\n", line)
		}
	}
}

// shorten cuts a message so that it fits the rest of a line.
func shorten(s string) string {
	const most = 120
	if r := []rune(strings.TrimSpace(s)); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return strings.TrimSpace(s)
}
