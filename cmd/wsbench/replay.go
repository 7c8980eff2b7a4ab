package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/replay"
)

// runReplay is wsbench replay.
func (t *tool) runReplay(ctx context.Context, args []string) error {
	fs := newFlags("replay")
	r := replay.Replay{Options: replay.Options{Seed: defaultSeed}}
	o := &r.Options
	fs.BoolVar(&o.Full, "full", false, "")
	fs.IntVar(&o.Reps, "reps", 0, "")
	fs.Uint64Var(&o.Seed, "seed", defaultSeed, "")
	fs.DurationVar(&o.Unit, "unit", 0, "")
	dryRun := fs.Bool("dry-run", false, "")
	resume := fs.String("resume", "", "")
	report := fs.String("report", "", "")
	fs.StringVar(&r.Dir, "o", "", "")
	ids, err := parse(fs, args)
	if err != nil {
		return err
	}
	kept := "" // the flag that names a directory with a replay
	for _, name := range []string{"resume", "report"} {
		if isSet(fs, name) {
			kept = name
		}
	}
	switch {
	case kept != "" && (len(ids) > 0 || len(given(fs)) > 1):
		return input.Errorf("-%s takes the experiments and the options from its directory: leave out all others",
			kept)
	case kept != "" && *resume+*report == "":
		return input.Errorf("-%s needs the directory of a replay", kept)
	case kept != "":
	case len(ids) == 0:
		return input.Errorf("replay needs experiments, or all: wsbench replay list has them")
	case len(ids) == 1 && ids[0] == "list":
		return t.listExperiments(*o)
	case isSet(fs, "reps") && o.Reps < 1:
		return input.Errorf("repetitions must be at least 1, not %d", o.Reps)
	case isSet(fs, "unit") && (o.Unit <= 0 || o.Unit > time.Second):
		return input.Errorf("the unit must be more than 0, and at most 1s, not %v", o.Unit)
	default:
		if r.Experiments, err = replay.Pick(ids); err != nil {
			return err
		}
	}
	if *dryRun {
		return replay.DryRun(t.stdout, r.Experiments, *o)
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	r.Command = []string{exe}
	r.Drawer = replay.FindDrawer()
	line := newProgress(t.stderr)
	defer line.clear()
	env := environment.Read()
	var notes []string
	if r.Drawer == nil {
		notes = append(notes, "there is no wsfigures, so the report will have no figures: "+
			"go install github.com/magpie-go/magpie/cmd/wsfigures@latest")
	}
	if note := busyNote(env.Load, env.Cores); note != "" {
		notes = append(notes, note)
	}
	r.Step = func(p replay.Progress) {
		for _, note := range notes {
			fmt.Fprintf(t.stderr, "wsbench: %s\n", note)
		}
		notes = nil
		line.say(fmt.Sprintf("%d of %d, %v left: %s", p.Done+1, p.Total, p.Left.Round(time.Second), p.What))
	}
	run := r.Begin
	switch {
	case kept == "resume":
		r.Dir, run = *resume, r.Resume
	case kept == "report":
		r.Dir, run = *report, r.Report
	case r.Dir == "":
		r.Dir = "replay"
	}
	err = run(ctx)
	line.clear()
	var bad *input.Error
	switch {
	case err == nil:
		fmt.Fprintf(t.stdout, "%s%s\n", r.Summary(), filepath.Join(r.Dir, replay.ReportFile))
	case !errors.As(err, &bad):
		fmt.Fprintf(t.stderr, "wsbench: what was measured is kept: go on with wsbench replay -resume %s\n", r.Dir)
	}
	return err
}

// busyNote returns a warning if the load average of the last minute says that other work takes the machine's cores.
func busyNote(load string, cores int) string {
	minute, _, _ := strings.Cut(load, " ")
	if l, err := strconv.ParseFloat(minute, 64); err != nil || l <= 0.5*float64(cores) {
		return ""
	}
	return fmt.Sprintf("the load average is %s on %d cores: other work disturbs the measurements", minute, cores)
}

// listExperiments writes the experiments.
func (t *tool) listExperiments(o replay.Options) error {
	var b strings.Builder
	writeExperiments(&b, o)
	_, err := fmt.Fprint(t.stdout, b.String())
	return err
}

func writeExperiments(b *strings.Builder, o replay.Options) {
	for _, e := range replay.Experiments() {
		fmt.Fprintf(b, "  %-20s%s\n", e.ID, e.About)
		fmt.Fprintf(b, "  %-20s%s; about %v\n", "", e.Place, e.Expect(o).Round(time.Second))
	}
}

func replayHelp(*tool) string {
	var experiments strings.Builder
	writeExperiments(&experiments, replay.Options{Seed: defaultSeed})
	return fmt.Sprintf(`Usage: wsbench replay EXPERIMENT… [flags]

Repeats what the source documents measured, judges each of their claims by it, says
what decided each verdict, and writes a report: one HTML file that opens offline, with the
verdicts as JSON, the figures as SVG, all repetitions as CSV, in the Go benchmark format and as
JSON lines beside it. An experiment is an ID of the list below,
the number of a document for all of that document, or all.

%s
Durations are those of a machine with two cores; experiments that share measurements make them
once. Each measurement runs in a process of its own. Ctrl-C loses the one in progress.

Flags:
  -o DIR        the directory of the results and the report, which must be new or empty
                (default replay)
  -resume DIR   go on with an interrupted replay, or make the report of a complete one again
  -report DIR   make the report of what has been measured again, on any machine
  -full         the sizes of the documents; without it, sizes for a small machine
  -reps N       repetitions of each setting (default: each experiment's own)
  -seed S       seed of random graphs and data (default %d)
  -unit D       the unit of the sleeps of document 001, there 1s (default: 1ms or less; with
                1s an experiment takes hours)
  -dry-run      print the commands that would be run, and how long they take

Examples:
  wsbench replay list
  wsbench replay 000/fig2 -o fig2
  wsbench replay all
  wsbench replay -resume replay
`, experiments.String(), defaultSeed)
}
