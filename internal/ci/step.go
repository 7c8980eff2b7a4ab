package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A step is one check: lines for bash, each of which must succeed.
type step struct {
	name   string
	lines  string
	commit bool // it is for -commit
	alone  bool // no other step runs meanwhile

	state  state
	took   time.Duration
	cpu    time.Duration // of its processes
	passed int           // tests
	failed int           // tests
	told   string        // why it failed
}

// A state is how far a step has come.
type state int

const (
	waiting state = iota
	running
	succeeded
	failed
)

// String returns the word in the table of steps.
func (s state) String() string { return [...]string{"not begun", "not ended", "ok", "FAILED"}[s] }

// parse reads the text of .ci/steps. A line "== name" begins a step, "==alone name" one that runs while no other does,
// and "==commit name" one for -commit. What stands before the first belongs to every step.
func parse(text string) (preamble string, steps []*step, err error) {
	var s *step
	for line := range strings.Lines(text) {
		mark, name, is := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case is && slices.Contains([]string{"==", "==alone", "==commit"}, mark):
			s = &step{name: name, commit: mark == "==commit", alone: mark == "==alone"}
			steps = append(steps, s)
		case s == nil:
			preamble += line
		default:
			s.lines += line
		}
	}
	for _, s := range steps {
		if strings.TrimSpace(s.lines) == "" {
			return "", nil, fmt.Errorf(".ci/steps: step %q has no lines", s.name)
		}
	}
	if len(steps) == 0 {
		return "", nil, fmt.Errorf(".ci/steps: no line begins a step: want == and its name")
	}
	return preamble, steps, nil
}
