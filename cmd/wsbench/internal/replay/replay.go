package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// A Replay makes the measurements of experiments, and the report on them.
type Replay struct {
	Dir         string // of the results and the report
	Experiments []*Experiment
	Options     Options

	Command []string // wsbench, as a command
	Env     []string // of the command, besides this process's
	Drawer  Drawer

	// Step, if not nil, is called before each measurement.
	Step func(Progress)

	total tally // of the report
}

// Progress is what a replay is about to do.
type Progress struct {
	What        string
	Done, Total int           // measurements
	Left        time.Duration // to the end, as far as is known
}

// Begin begins a replay in a directory that is new or empty.
func (r *Replay) Begin(ctx context.Context) error {
	m := manifest{
		Full: r.Options.Full, Reps: r.Options.Reps, Seed: r.Options.Seed, Unit: r.Options.Unit,
		Env: environment.Read(), Begun: time.Now().UTC().Round(time.Second),
	}
	m.Cores = m.Env.Cores
	if r.Options.Cores != 0 {
		m.Cores = r.Options.Cores
	}
	r.Options.Cores = m.Cores
	for _, e := range r.Experiments {
		m.Experiments = append(m.Experiments, e.ID)
	}
	s, err := createStore(r.Dir, m)
	if err != nil {
		return err
	}
	return r.run(ctx, s)
}

// Resume goes on with the replay in r.Dir. It takes the experiments and options from there.
func (r *Replay) Resume(ctx context.Context) error {
	s, err := r.open(environment.Read())
	if err != nil {
		return err
	}
	return r.run(ctx, s)
}

// Report makes the report of the replay in r.Dir again, of what has been measured, on any machine.
func (r *Replay) Report(ctx context.Context) error {
	s, err := r.open(nil)
	if err != nil {
		return err
	}
	return errors.Join(r.report(ctx, s), s.close())
}

// open opens the store in r.Dir, and takes the experiments and options from there. If here is not nil, the store must
// be of that machine.
func (r *Replay) open(here *environment.Environment) (*store, error) {
	s, err := openStore(r.Dir)
	if err != nil {
		return nil, err
	}
	m := s.manifest
	if here != nil && !sameMachine(here, m.Env) {
		err := input.Errorf("%s has measurements of another machine, %s, and this one is %s: "+
			"figures of both cannot be compared", r.Dir, m.Env.Summary(), here.Summary())
		return nil, errors.Join(err, s.close())
	}
	if r.Experiments, err = Pick(m.Experiments); err != nil {
		return nil, errors.Join(err, s.close())
	}
	r.Options = Options{Full: m.Full, Reps: m.Reps, Seed: m.Seed, Unit: m.Unit, Cores: m.Cores}
	return s, nil
}

func sameMachine(a, b *environment.Environment) bool {
	return b != nil && a.CPU == b.CPU && a.Cores == b.Cores && a.GOARCH == b.GOARCH && a.GOOS == b.GOOS
}

// run makes the measurements that the store does not have, and writes the report.
func (r *Replay) run(ctx context.Context, s *store) (err error) {
	defer func() { err = errors.Join(err, s.close()) }()
	if err := r.measure(ctx, s); err != nil {
		return err
	}
	return r.report(ctx, s)
}

func (r *Replay) measure(ctx context.Context, s *store) error {
	var todo []*Measurement
	first := make(map[*Measurement]bool) // of its experiment
	keys := make(map[string]bool)
	done := 0
	for _, e := range r.Experiments {
		begins := true
		for _, m := range e.measurements(r.Options) {
			if keys[m.Key()] {
				continue // two experiments have it
			}
			keys[m.Key()] = true
			if rec := s.records[m.Key()]; rec != nil && rec.Refused == "" {
				done++
				continue
			}
			todo = append(todo, m)
			first[m], begins = begins, false
		}
	}
	run := &runner{command: r.Command, env: r.Env}
	var left, expected, took time.Duration
	for _, m := range todo {
		left += m.Expect
	}
	for i, m := range todo {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.Step != nil {
			pace := 1.0 // of this machine, by the measurements so far
			if expected > 0 {
				pace = float64(took) / float64(expected)
			}
			r.Step(Progress{m.String(), done + i, done + len(todo), time.Duration(pace * float64(left))})
		}
		begin := time.Now()
		var begun *beginning
		if first[m] {
			begun = r.begin()
		}
		rec, err := run.measure(ctx, m)
		var refused *refusal
		switch {
		case errors.As(err, &refused):
			rec = &record{Key: m.Key(), Refused: refused.Error(), At: time.Now().UTC().Round(time.Second)}
		case err != nil:
			return err
		}
		rec.Begun = begun
		if err := s.add(rec); err != nil {
			return err
		}
		left -= m.Expect
		expected += m.Expect
		took += time.Since(begin)
	}
	return nil
}

// DryRun writes the measurements that a replay would make.
func DryRun(w io.Writer, experiments []*Experiment, o Options) error {
	var sum time.Duration
	seen := make(map[string]bool)
	for _, e := range experiments {
		if _, err := fmt.Fprintf(w, "%s (%s): %s\n", e.ID, e.Place, e.About); err != nil {
			return err
		}
		for _, m := range e.measurements(o) {
			again := ""
			if seen[m.Key()] {
				again = ", which is made already"
			} else {
				sum += m.Expect
			}
			seen[m.Key()] = true
			if m.Computation != nil {
				if _, err := fmt.Fprintf(w, "  (%s, in this process)%s\n", m, again); err != nil {
					return err
				}
			}
			for i, p := range m.Programs {
				joint := "wsbench"
				if i > 0 {
					joint = "      &"
				}
				end := ""
				if i == len(m.Programs)-1 {
					end = fmt.Sprintf("  # %v%s%s", m.Expect.Round(time.Second/10), m.Rounds.about(), again)
				}
				if _, err := fmt.Fprintf(w, "  %s %s%s\n", joint, quote(p.Args), end); err != nil {
					return err
				}
			}
		}
	}
	_, err := fmt.Fprintf(w, "%d measurements, about %v\n", len(seen), sum.Round(time.Second))
	return err
}
