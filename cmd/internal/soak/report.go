package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A report is a summary of a soak.
type report struct {
	seed    uint64
	tasks   int64
	took    time.Duration
	played  []tally
	runs    []tally
	acts    []tally
	chores  []tally
	chaos   []tally
	absent  []string // disturbances that do not exist here, and why
	opened  int64
	beset   int64
	stopped bool
}

// A tally counts how often something happened.
type tally struct {
	name string
	n    int64
}

func (s *soak) report(took time.Duration) *report {
	r := &report{seed: s.seed, tasks: s.done.Load(), took: took, opened: s.opened.Load(), beset: s.chaos.beset.Load()}
	r.stopped = r.tasks < s.options.tasks
	for i := range s.play {
		r.played = append(r.played, tally{s.play[i].name, s.played[i].Load()})
	}
	for i, name := range [numResults]string{"complete", "failed", "cancelled", "not begun"} {
		r.runs = append(r.runs, tally{name, s.runs[i].Load()})
	}
	for i, k := range choreKinds {
		r.chores = append(r.chores, tally{k.name, s.chored[i].Load()})
	}
	for a := range numActs {
		r.acts = append(r.acts, tally{a.String(), s.acts[a].Load()})
	}
	for i, d := range s.storms {
		if d.missing != "" {
			r.absent = append(r.absent, d.name+": "+d.missing)
			continue
		}
		r.chaos = append(r.chaos, tally{d.name, s.chaos.times[i].Load()})
	}
	return r
}

func (r *report) write(out io.Writer) {
	fmt.Fprintf(out, "soak: seed %d: %d tasks in %v, %.3g tasks/s, on %d executors\n",
		r.seed, r.tasks, r.took.Round(time.Millisecond), float64(r.tasks)/r.took.Seconds(), r.opened)
	for _, line := range []struct {
		what    string
		tallies []tally
	}{{"runs", r.runs}, {"scenarios", r.played}, {"acts of tasks", r.acts}, {"chores", r.chores}, {"chaos", r.chaos}} {
		var parts []string
		for _, t := range line.tallies {
			parts = append(parts, fmt.Sprintf("%s %d", t.name, t.n))
		}
		fmt.Fprintf(out, "  %s: %s\n", line.what, strings.Join(parts, ", "))
	}
	fmt.Fprintf(out, "  a competitor beside nice workers: %d times\n", r.beset)
	for _, a := range r.absent {
		fmt.Fprintf(out, "  not here: %s\n", a)
	}
}

// showProgress writes a line to standard error: every second at a terminal, otherwise every half minute.
func (s *soak) showProgress(over <-chan struct{}, start time.Time) {
	every, begin, end := 30*time.Second, "", "\n"
	if isTerminal(s.stderr) {
		every, begin, end = time.Second, "\r\x1b[K", ""
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	shown := false
	for {
		select {
		case <-over:
			if shown {
				fmt.Fprint(s.stderr, begin)
			}
			return
		case <-ticker.C:
			done := s.done.Load()
			fmt.Fprintf(s.stderr, "%ssoak: %.3g of %.3g tasks, %.3g tasks/s, chaos: %s%s", begin, float64(done),
				float64(s.options.tasks), float64(done)/time.Since(start).Seconds(), s.chaos.what(), end)
			shown = true
		}
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
