package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

const (
	exitFailure  = 1
	exitBadInput = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, progress io.Writer) int {
	if len(args) == 6 && args[0] == "drive" {
		return runDriver(args[1], args[2:], out, progress)
	}
	p, format, err := parse(args, progress)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(progress, "rivals:", err)
		return exitBadInput
	}
	tells := &teller{out: progress, terminal: isTerminal(progress)}
	var all []rival
	if len(p.benches) > 0 {
		var drop func()
		all, drop, err = everyone(ctx, p.rivals, tells)
		defer drop()
	}
	if err == nil {
		var rows []row
		if rows, err = p.measure(ctx, all, tells); err == nil {
			err = write(out, format, rows)
		}
	}
	if err == nil {
		err = p.runLoops(ctx, out, format, tells)
	}
	if err != nil {
		fmt.Fprintln(progress, "rivals:", err)
		return exitFailure
	}
	return 0
}

// runDriver is the driver of rivals in Go.
func runDriver(rival string, args []string, out, errs io.Writer) int {
	var workers, n int
	var seconds float64
	_, err := fmt.Sscan(strings.Join(args[1:], " "), &workers, &n, &seconds)
	var ns float64
	if err == nil {
		ns, err = drive(rival, args[0], workers, n, seconds)
	}
	if err != nil {
		fmt.Fprintln(errs, err)
		return exitFailure
	}
	fmt.Fprintf(out, "%.0f\n", ns)
	return 0
}

func parse(args []string, errs io.Writer) (p plan, format string, err error) {
	flags := flag.NewFlagSet("rivals", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() {
		fmt.Fprintln(errs, "Usage: go run . [flags]\n\nMeasures Magpie beside other libraries for tasks, and in loops.")
		fmt.Fprintln(errs, "\nBenchmarks:")
		for _, b := range benches {
			fmt.Fprintf(errs, "  %-14s%s (-size: %d)\n", b.name, b.doc, b.size)
		}
		fmt.Fprintln(errs, "\nLoops, all of them by the name loops:")
		for _, l := range loops {
			fmt.Fprintf(errs, "  %-16s%s\n", l.name, l.doc)
		}
		fmt.Fprintln(errs, "\nCallers of loops:")
		for _, c := range loopCallers {
			fmt.Fprintf(errs, "  %-16s%s\n", c.name, c.doc)
		}
		fmt.Fprintln(errs, "\nFlags:")
		flags.PrintDefaults()
	}
	names := flags.String("bench", "", "the benchmarks and loops, as `fib,blur`; all benchmarks if it is empty")
	rivals := flags.String("rivals", "", "the rivals of magpie, as `serial,rayon`; all of them if it is empty")
	workers := flags.String("workers", "", "the numbers of workers, as `1,2`, the default; for loops it is that of CPUs")
	ms := flags.String("ms", "", "the sizes of loops, in milliseconds of serial time, as `0.1,1,5,20`, the default")
	callers := flags.String("callers", "", "the callers of loops, as `main,handler8`; all of them if it is empty")
	flags.IntVar(&p.rounds, "rounds", 5, "how often each measurement is done; the table has the medians")
	flags.IntVar(&p.most, "most", 0, "how often a measurement is done whose median may be off by more than 10 %; 0 means "+
		"three times as often as others")
	flags.Float64Var(&p.seconds, "seconds", 0, fmt.Sprintf("how long each measurement lasts; 0 means %v, for loops %v",
		benchSeconds, loopSeconds))
	flags.IntVar(&p.size, "size", 0, "the `size` of every benchmark; 0 means its own")
	flags.StringVar(&format, "format", "text", "text or json, one object a row on a line")
	if err := flags.Parse(args); err != nil {
		return p, format, err
	}
	p.rivals = list(*rivals)
	for _, name := range p.rivals {
		if !slices.Contains(rivalNames(), name) {
			return p, format, fmt.Errorf("no rival %q: there are %s", name, strings.Join(rivalNames(), ", "))
		}
	}
	for _, name := range list(*names) {
		switch b, l := benchNamed(name), loopNamed(name); {
		case b != nil:
			p.benches = append(p.benches, *b)
		case l != nil:
			p.loops = append(p.loops, *l)
		case name == "loops":
			p.loops = append(p.loops, loops...)
		default:
			return p, format, fmt.Errorf("no benchmark %q: -help lists them", name)
		}
	}
	if len(p.benches)+len(p.loops) == 0 {
		p.benches = benches
	}
	if err := p.parseLoops(*ms, *callers); err != nil {
		return p, format, err
	}
	for w := range strings.SplitSeq(*workers, ",") {
		if *workers == "" {
			break
		}
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 || n > 1024 {
			return p, format, fmt.Errorf("-workers %q: give numbers from 1 to 1024, as 1,2", *workers)
		}
		p.workers = append(p.workers, n)
	}
	if p.most == 0 {
		p.most = 3 * p.rounds
	}
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("no arguments are taken, got %q", flags.Args())
	case p.rounds < 1:
		err = fmt.Errorf("-rounds %d: give at least 1", p.rounds)
	case p.most < p.rounds:
		err = fmt.Errorf("-most %d: give at least as many as -rounds, %d", p.most, p.rounds)
	case !(p.seconds >= 0 && p.seconds <= 3600):
		err = fmt.Errorf("-seconds %v: give more than 0 and at most 3600, or 0 for the usual time", p.seconds)
	case p.size < 0 || p.size > 1<<30:
		err = fmt.Errorf("-size %d: give 1 to 2^30, or 0 for each benchmark's own", p.size)
	case format != "text" && format != "json":
		err = fmt.Errorf("-format %q: there are text and json", format)
	}
	return p, format, err
}

func list(s string) []string { return strings.FieldsFunc(s, func(c rune) bool { return c == ',' }) }

// A teller tells how far the command is: in one line that it writes again and again, if the output is a terminal, and
// else in a line for each benchmark.
type teller struct {
	out      io.Writer
	terminal bool
	last     string
}

// tell says that the part of a benchmark, or of the preparation, begins.
func (t *teller) tell(bench, part string) {
	switch {
	case t.terminal:
		fmt.Fprintf(t.out, "\r\x1b[K%s: %s", bench, part)
	case bench != t.last:
		fmt.Fprintln(t.out, bench)
	}
	t.last = bench
}

// done removes the line.
func (t *teller) done() {
	if t.terminal {
		fmt.Fprint(t.out, "\r\x1b[K")
	}
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func write(out io.Writer, format string, rows []row) error {
	if format == "json" {
		e := json.NewEncoder(out)
		for _, r := range rows {
			if err := e.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	loose := false
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, r := range rows {
		if i == 0 || rows[i-1].Bench != r.Bench || rows[i-1].Workers != r.Workers {
			if i > 0 {
				fmt.Fprintln(t)
			}
			fmt.Fprintf(t, "%s, %d workers\tns per %s\tof magpie's\n", r.Bench, r.Workers, r.Unit)
		}
		if r.Missing != "" {
			fmt.Fprintf(t, "  %s\t%s\n", r.Rival, r.Missing)
		} else {
			fmt.Fprintf(t, "  %s\t%.3g\t%.2f%s\n", r.Rival, r.NS, r.Ratio, r.margin())
		}
		loose = loose || r.Loose
	}
	if err := t.Flush(); err != nil || !loose {
		return err
	}
	_, err := fmt.Fprintln(out, "\n"+markNote)
	return err
}
