package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/plan"
)

// validate returns an error if the session cannot run.
func (s *Session) validate() error {
	if s.N < 0 {
		return input.Errorf("size must be at least 1, not %d", s.N)
	}
	if s.Reps < 1 {
		return input.Errorf("repetitions must be at least 1, not %d", s.Reps)
	}
	if s.Settle < 0 {
		return input.Errorf("the time to settle must be at least 0, not %v", s.Settle)
	}
	if s.Active && (s.Whole || len(s.Probes) > 0) {
		return input.Errorf("active workers are counted in runs alone: not with -whole, and not in probes")
	}
	for _, w := range s.Axes.Workers {
		if w < 1 || w > executor.MaxWorkers {
			return input.Errorf("workers must be 1 to %d, not %d", executor.MaxWorkers, w)
		}
	}
	for _, p := range s.Axes.Policies {
		if err := checkPolicy(p); err != nil {
			return err
		}
	}
	for _, f := range s.Axes.Forks {
		if known := experiment.Forks(); !slices.Contains(known, f) {
			return input.Unknown("way to fork", f, known)
		}
	}
	for _, d := range s.Axes.Deques {
		cfg, err := parseDeque(d)
		if err != nil {
			return err
		}
		if err := checkDeque(d); err != nil {
			return err
		}
		for _, w := range s.Workloads {
			if cfg.Experiment.Deque.FIFO() && w.IsProgram() {
				return input.Errorf("%s forks, and deque %s does not give the newest back: choose another deque", w.Name, d)
			}
		}
	}
	if err := s.validateShare(); err != nil {
		return err
	}
	if err := s.validateDivisions(); err != nil {
		return err
	}
	if err := s.validateAgain(); err != nil {
		return err
	}
	if err := s.validateParams(); err != nil {
		return err
	}
	if err := s.validateProfile(); err != nil {
		return err
	}
	available := workloads.Available()
	for _, w := range s.Workloads {
		if err := s.validateSize(w, available); err != nil {
			return err
		}
	}
	for _, p := range s.Probes {
		if p.Shape == nil {
			continue
		}
		shape := p.Shape(s.probeSize(p))
		if err := fits(p.Name, s.probeSize(p), shape, shape.Bytes(), available); err != nil {
			return err
		}
	}
	return nil
}

// validateParams returns an error if no workload has a parameter that is asked for, or a value is wrong.
func (s *Session) validateParams() error {
	for _, p := range workloads.Params(workloads.All()) {
		if _, ok := s.Params[p.Name]; !ok || slices.ContainsFunc(s.Workloads, p.IsOf) {
			continue
		}
		var names []string
		for _, w := range workloads.All() {
			if p.IsOf(w) {
				names = append(names, w.Name)
			}
		}
		return input.Errorf("-%s is for %s, which is not to run", p.Name, strings.Join(names, " and "))
	}
	for _, w := range s.Workloads {
		if _, err := w.ReadValues(s.Params); err != nil {
			return err
		}
	}
	return nil
}

// validateSize refuses a size of w that is not possible here.
func (s *Session) validateSize(w *workloads.Workload, available float64) error {
	n := s.size(w)
	if w.Most > 0 && n > w.Most {
		return input.Errorf("%s goes up to n=%d, not %d: choose a smaller n", w.Name, w.Most, n)
	}
	if w.Sizes != nil && !slices.Contains(w.Sizes, n) {
		return input.Errorf("%s has no instance with n=%d: choose n=%s", w.Name, n, join(w.Sizes))
	}
	values, err := w.ReadValues(s.Params)
	if err != nil {
		return err
	}
	shape := w.ShapeWith(n, values)
	check, need := fits, shape.Bytes()
	if w.Make == nil {
		check, need = programFits, shape.Data
	}
	for _, e := range s.Engines {
		bytes := e.Bytes
		if w.Make == nil {
			bytes = e.ProgramBytes
			if e.ProgramWidth > 0 && shape.Width > e.ProgramWidth {
				return input.Errorf("%s with n=%d has %.3g tasks, engine %s is for %.3g at most: "+
					"choose a smaller n or another engine", w.Name, n, shape.Width, e.Name, e.ProgramWidth)
			}
		}
		if bytes != nil {
			need += bytes(shape.Width)
		}
	}
	return check(w.Name, n, shape, need, available)
}

// programFits refuses a size at which a program has no tasks, would not end, or does not fit in memory.
func programFits(name string, n int, shape workloads.Shape, need, available float64) error {
	if shape.Tasks < 1 {
		return input.Errorf("%s with n=%d has no tasks: choose a larger n", name, n)
	}
	if shape.Tasks > workloads.MostTasks {
		return input.Errorf("%s with n=%d has %.3g tasks, which is more than %.3g: choose a smaller n",
			name, n, shape.Tasks, float64(workloads.MostTasks))
	}
	return fitsMemory(name, n, need, available)
}

// fits refuses a size that a graph cannot have, or that does not fit in memory: the kernel would end the process
// half-way.
func fits(name string, n int, shape workloads.Shape, need, available float64) error {
	if shape.Tasks+shape.Edges > plan.Max {
		return input.Errorf("%s with n=%d has %.0f tasks and %.0f edges, at most %d together fit a graph: "+
			"choose a smaller n", name, n, shape.Tasks, shape.Edges, plan.Max)
	}
	return fitsMemory(name, n, need, available)
}

func fitsMemory(name string, n int, need, available float64) error {
	if need > available {
		return input.Errorf("%s with n=%d needs about %s, and %s are available: choose a smaller n",
			name, n, workloads.GiB(need), workloads.GiB(available))
	}
	return nil
}

// join lists values separated by commas.
func join[T any](values []T) string { return strings.Join(texts(values), ", ") }

// texts returns values as texts.
func texts[T any](values []T) (all []string) {
	for _, v := range values {
		all = append(all, fmt.Sprint(v))
	}
	return all
}
