package main

import (
	"flag"
	"io"
	"time"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// A request holds the arguments that all measurements have.
type request struct {
	n, reps        int
	seed           uint64
	format, output string
	notes          func([]bench.Row) []string // lines after its tables; nil for none
}

const (
	defaultReps   = 5
	defaultSettle = 4 * time.Second
	defaultSeed   = 42
)

// parse parses args, which may have flags of a request besides those of fs, and returns the other arguments.
func (r *request) parse(fs *flag.FlagSet, args []string) (others []string, err error) {
	r.reps = defaultReps
	fs.Var((*wholeNumber)(&r.n), "n", "")
	fs.Var((*wholeNumber)(&r.reps), "reps", "")
	fs.Uint64Var(&r.seed, "seed", defaultSeed, "")
	fs.StringVar(&r.format, "format", "text", "")
	fs.StringVar(&r.output, "o", "", "")
	if others, err = parse(fs, args); err != nil {
		return nil, err
	}
	if isSet(fs, "n") && r.n < 1 {
		return nil, input.Errorf("size must be at least 1, not %d", r.n)
	}
	if err := bench.CheckFormat(r.format, bench.Formats()); err != nil {
		return nil, err
	}
	if isSet(fs, "o") && r.output == "" {
		return nil, input.Errorf("-o needs the name of a file")
	}
	return others, nil
}

type (
	// A stepper announces the next measurement, and how long it is to the end of its kind.
	stepper func(what string, expect time.Duration)
	// An emitter receives verified results.
	emitter[R any] func([]R) error
)

// measure calls run to make the measurements, and reports them in the format and to the output of r.
func measure[R bench.Record](t *tool, r *request, run func(stepper, emitter[R]) error) error {
	p := newProgress(t.stderr)
	return t.withOutput(r.output, func(w io.Writer) error {
		defer p.clear()
		report, err := bench.NewReport[R](r.format, w, environment.Read(), r.notes)
		if err != nil {
			return err
		}
		runErr := run(p.step, func(results []R) error {
			p.clear()
			return report.Add(results)
		})
		p.clear()
		// Measurements from before an error are verified, and reported.
		if err := report.Close(); runErr == nil {
			return err
		}
		return runErr
	})
}
