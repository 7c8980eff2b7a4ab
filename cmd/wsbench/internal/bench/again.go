package bench

import (
	"slices"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// Again are the conditions of the settings that are measured a second time. Two measurements of the same setting differ
// by noise.
type Again []condition

// A condition is met by a setting that has one of the values.
type condition struct {
	name   string
	values []string
}

// againName is the name of the setting of second measurements.
const againName = "again"

// ParseAgain reads conditions, as in "deque=padws|abp,stolen=0".
func ParseAgain(text string) (a Again, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, values, ok := strings.Cut(part, "=")
		if !ok || name == "" || values == "" {
			return nil, input.Errorf("what is %q? A condition is a setting and its values, as in deque=padws|abp, "+
				"and a comma comes before the next", part)
		}
		a = append(a, condition{name, strings.Split(values, "|")})
	}
	return a, nil
}

func (a Again) String() string {
	var all []string
	for _, c := range a {
		all = append(all, c.name+"="+strings.Join(c.values, "|"))
	}
	return strings.Join(all, ",")
}

// meets reports whether a point is to be measured a second time.
func (a Again) meets(p Point) bool {
	fails := func(c condition) bool { return !slices.Contains(c.values, p.Value(c.name)) }
	return len(a) > 0 && !slices.ContainsFunc(a, fails)
}

// twice returns all settings, and then those that are measured a second time as second returns them.
func twice[S interface{ point() Point }](a Again, all []S, second func(S) S) []S {
	for _, s := range all {
		if a.meets(s.point()) {
			all = append(all, second(s))
		}
	}
	return all
}

// checkMet returns an error if no setting meets the conditions.
func checkMet[S interface{ point() Point }](a Again, all []S) error {
	if len(a) > 0 && !slices.ContainsFunc(all, func(s S) bool { return a.meets(s.point()) }) {
		return input.Errorf("-again %v: nothing with that is to be measured", a)
	}
	return nil
}

// second returns s as that of a second measurement.
func (s Setting) second() Setting {
	s.Again = true
	return s
}

func (s Setting) point() Point {
	return Point{}.With("engine", s.Engine).With("policy", s.Policy).With("deque", s.Deque).With("forks", s.Forks).
		With("workers", s.Workers)
}

func (p DivisionPoint) second() DivisionPoint {
	p.Again = true
	return p
}

func (p DivisionPoint) point() Point {
	return p.Setting.point().With("queue", p.Queue).With("tasks", p.Tasks)
}

// settings returns the settings of e in these axes, and those of second measurements.
func (s *Session) settings(e *Engine, a Axes) []Setting {
	return twice(s.Again, e.Settings(a), Setting.second)
}

// validateAgain returns an error if nothing is to be measured a second time, and something was to be.
func (s *Session) validateAgain() error {
	var all []DivisionPoint
	add := func(settings []Setting) {
		for _, setting := range settings {
			all = append(all, DivisionPoint{Setting: setting})
		}
	}
	for _, e := range s.Engines {
		for _, w := range s.Workloads {
			if w.IsDivision() {
				all = append(all, s.divisionPoints(e, w, s.size(w))...)
			} else {
				add(e.Settings(axesOf(w, s.Axes)))
			}
		}
	}
	if len(s.Probes) > 0 {
		add(magpieSettings(s.Axes.withoutForks()))
	}
	return checkMet(s.Again, all)
}
