package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/replay"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/service"
)

// serviceOptions holds the arguments of wsbench service.
type serviceOptions struct {
	session             service.Session
	format, output, svg string
	drawer              replay.Drawer
}

// runService is wsbench service.
func (t *tool) runService(ctx context.Context, args []string) error {
	o, err := parseService(args)
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	o.session.Command = []string{exe}
	env := environment.Read()
	p := newProgress(t.stderr)
	defer p.clear()
	if note := busyNote(env.Load, env.Cores); note != "" {
		fmt.Fprintf(t.stderr, "wsbench: %s\n", note)
	}
	o.session.Step = p.step
	return t.withOutput(o.output, func(w io.Writer) error {
		cases, err := o.session.Run(ctx)
		p.clear()
		if err != nil {
			return err
		}
		if o.svg != "" {
			if err := drawCases(ctx, o.drawer, o.svg, cases); err != nil {
				return err
			}
		}
		if o.format == "json" {
			return service.WriteJSON(w, cases)
		}
		return service.WriteText(w, env, cases)
	})
}

func parseService(args []string) (*serviceOptions, error) {
	var (
		fs          = newFlags("service")
		o           = &serviceOptions{session: service.Session{Seed: defaultSeed}}
		s           = &o.session
		backgrounds list
		loads       = list{"allocating"}
		tasks       = list{"50ms"}
	)
	fs.Var(&backgrounds, "background", "")
	fs.Var(&loads, "load", "")
	fs.Var(&tasks, "task", "")
	fs.Float64Var(&s.Rate, "rate", 500, "")
	seconds := fs.Float64("seconds", 5, "")
	fs.IntVar(&s.Rounds, "rounds", 5, "")
	fs.Uint64Var(&s.Seed, "seed", defaultSeed, "")
	fs.Float64Var(&s.Quota, "quota", 0, "")
	fs.StringVar(&o.format, "format", "text", "")
	fs.StringVar(&o.output, "o", "", "")
	fs.StringVar(&o.svg, "svg", "", "")
	others, err := parse(fs, args)
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		return nil, input.Errorf("service takes no arguments, got %q: -background chooses rows of the table", others[0])
	}
	if err := bench.CheckFormat(o.format, []string{"text", "json"}); err != nil {
		return nil, err
	}
	if isSet(fs, "o") && o.output == "" {
		return nil, input.Errorf("-o needs the name of a file")
	}
	known := service.Backgrounds()
	if len(backgrounds) == 0 {
		for _, b := range known {
			if b.Usable() && !b.Extra {
				backgrounds = append(backgrounds, b.Name)
			}
		}
	}
	if s.Backgrounds, err = pickNamed("background", known, backgroundName, backgrounds); err != nil {
		return nil, err
	}
	if s.Loads, err = pickNamed("load", service.Loads(), loadName, loads); err != nil {
		return nil, err
	}
	for _, text := range tasks {
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, input.Errorf("-task %s: choose a time, as 50ms or 100us", text)
		}
		s.Tasks = append(s.Tasks, d)
	}
	// Validate refuses such a time too. But a number that time.Duration cannot hold must not get that far.
	least, most := service.LeastTime.Seconds(), service.MostTime.Seconds()
	if !(*seconds >= least && *seconds <= most) {
		return nil, input.Errorf("-seconds %v: choose %v to %v", *seconds, least, most)
	}
	s.Measure = time.Duration(*seconds * float64(time.Second))
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return o, o.findDrawer(isSet(fs, "svg"))
}

// findDrawer checks that the figure can be drawn.
func (o *serviceOptions) findDrawer(wanted bool) error {
	switch {
	case !wanted:
		return nil
	case !strings.HasSuffix(o.svg, svgExtension):
		return input.Errorf("-svg %s: give a file whose name ends in %s", o.svg, svgExtension)
	}
	if info, err := os.Stat(filepath.Dir(o.svg)); err != nil || !info.IsDir() {
		return input.Errorf("-svg %s: there is no directory %s", o.svg, filepath.Dir(o.svg))
	}
	if o.drawer = replay.FindDrawer(); o.drawer == nil {
		return input.Errorf("-svg needs the command wsfigures: " +
			"go install github.com/magpie-go/magpie/cmd/wsfigures@latest")
	}
	return nil
}

const svgExtension = ".svg"

// drawCases draws the distributions. With several loads or tasks each has a file of its own, beside the one named.
func drawCases(ctx context.Context, drawer replay.Drawer, name string, cases []*service.Case) error {
	dir, err := os.MkdirTemp("", "wsbench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	figures := service.Figures("figure", cases)
	if err := drawer.Draw(ctx, dir, figures); err != nil {
		return err
	}
	for _, f := range figures {
		drawn, err := os.ReadFile(filepath.Join(dir, f.File+svgExtension))
		if err != nil {
			return err
		}
		to := strings.TrimSuffix(name, svgExtension) + strings.TrimPrefix(f.File, "figure") + svgExtension
		if err := os.WriteFile(to, drawn, 0o666); err != nil {
			return err
		}
	}
	return nil
}

func backgroundName(b *service.Background) string { return b.Name }
func loadName(l *service.Load) string             { return l.Name }

func serviceHelp(*tool) string {
	var backgrounds, loads strings.Builder
	for _, b := range service.Backgrounds() {
		name := b.Name
		if b.Extra {
			name += "*"
		}
		fmt.Fprintf(&backgrounds, "  %-23s %s\n", name, wrapped(b.About, 26))
	}
	for _, l := range service.Loads() {
		fmt.Fprintf(&loads, "  %-23s %s\n", l.Name, wrapped(l.About, 26))
	}
	return fmt.Sprintf(`Usage: wsbench service [flags]

Measures how long an HTTP service takes to answer while it has work in the background, and how
much of that work gets done, for several ways to run it. A server process answers cheap
requests and runs the background. A load process sends requests over the loopback at times
that are fixed in advance, and takes each latency from the time at which the request was due.
It runs in real time (SCHED_FIFO) if it may, as clients on other machines do not wait for cores
of this one. Its own delays count as latency, and are reported. All answers and all units of
background work are verified. Measurements take turns, so that a machine that drifts favours
none.

  -background LIST
                  ways to run the work, one row each (default: those of the list below without a *,
                  as far as this system has them)
  -load LIST      kinds of work (default allocating)
  -task LIST      about how long a task takes alone, as 50ms or 100us (default 50ms)
  -rate N         requests a second (default 500)
  -seconds N      how long each measurement lasts, after up to a second to warm up (default 5)
  -rounds N       measurements of each row; figures are their medians (default 5)
  -quota CPUS     run the server in a control group with this CPU quota, as a container has; it needs
                  the right to make one, which usually only root has
  -seed S         seed of the requests and the times at which they are due (default %d)
  -format FORMAT  text: a table; json: one object a row on a line (default text)
  -o FILE         write to FILE, which is replaced only if the command succeeds
  -svg FILE       draw the distributions of the latencies with the command wsfigures; with
                  several loads or tasks each has a file, as FILE-pure-50ms.svg

Backgrounds:
%s
Loads:
%s
Columns: p50 to max, the latencies in ms; max is that of all rounds. p99 vs none, compared
with the row none. units/s, units of background work a second; a unit is the same in all rows
of a load. GC/s and GC pause, the cycles of the garbage collector in the server, and for how
long it stopped all goroutines. throttled/s, periods a second in which the kernel has stopped the
server because its CPU quota was used up. late p99, how late the load process itself was, which
is part of the latencies.

Examples:
  wsbench service
  wsbench service -load pure,allocating,gc -background none,errgroup,magpie -svg service.svg
  wsbench service -task 100us -seconds 20 -format json -o fine.json
  wsbench service -quota 1.5 -background none,errgroup,magpie,magpie-hostshare
`, defaultSeed, backgrounds.String(), loads.String())
}
