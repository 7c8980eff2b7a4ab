package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/plan"
)

// validate returns an error if the session cannot run.
func (s *Session) validate() error {
	if s.N < 0 {
		return BadInput("size must be at least 1, not %d", s.N)
	}
	if s.Reps < 1 {
		return BadInput("repetitions must be at least 1, not %d", s.Reps)
	}
	if s.Active && (s.Whole || len(s.Probes) > 0) {
		return BadInput("active workers are counted in runs alone: not with -whole, and not in probes")
	}
	for _, w := range s.Axes.Workers {
		if w < 1 || w > executor.MaxWorkers {
			return BadInput("workers must be 1 to %d, not %d", executor.MaxWorkers, w)
		}
	}
	for _, p := range s.Axes.Policies {
		if err := checkPolicy(p); err != nil {
			return err
		}
	}
	for _, f := range s.Axes.Forks {
		if _, err := executor.ParseForks(f); err != nil {
			return BadInput("no way to fork %q: there are %s", f, join(executor.AllForks()))
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
			if cfg.Deque.FIFO() && w.IsProgram() {
				return BadInput("%s forks, and deque %s does not give the newest back: choose another deque", w.Name, d)
			}
		}
	}
	if err := s.validateShare(); err != nil {
		return err
	}
	if err := s.validateDivisions(); err != nil {
		return err
	}
	if err := s.validateParams(); err != nil {
		return err
	}
	if err := s.validateProfile(); err != nil {
		return err
	}
	available := available()
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

// validateSize refuses a size of w that is not possible here.
func (s *Session) validateSize(w *Workload, available float64) error {
	n := s.size(w)
	if w.Most > 0 && n > w.Most {
		return BadInput("%s goes up to n=%d, not %d: choose a smaller n", w.Name, w.Most, n)
	}
	if w.Sizes != nil && !slices.Contains(w.Sizes, n) {
		return BadInput("%s has no instance with n=%d: choose n=%s", w.Name, n, join(w.Sizes))
	}
	values, err := w.values(s.Params)
	if err != nil {
		return err
	}
	shape := w.shape(n, values)
	check, need := fits, shape.Bytes()
	if w.Make == nil {
		check, need = programFits, shape.Data
	}
	for _, e := range s.Engines {
		bytes := e.Bytes
		if w.Make == nil {
			bytes = e.ProgramBytes
			if e.ProgramWidth > 0 && shape.Width > e.ProgramWidth {
				return BadInput("%s with n=%d has %.3g tasks, engine %s is for %.3g at most: "+
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
func programFits(name string, n int, shape Shape, need, available float64) error {
	if shape.Tasks < 1 {
		return BadInput("%s with n=%d has no tasks: choose a larger n", name, n)
	}
	if shape.Tasks > mostTasks {
		return BadInput("%s with n=%d has %.3g tasks, which is more than %.3g: choose a smaller n",
			name, n, shape.Tasks, float64(mostTasks))
	}
	return fitsMemory(name, n, need, available)
}

// fits refuses a size that a graph cannot have, or that does not fit in memory: the kernel would end the process
// half-way.
func fits(name string, n int, shape Shape, need, available float64) error {
	if shape.Tasks+shape.Edges > plan.Max {
		return BadInput("%s with n=%d has %.0f tasks and %.0f edges, at most %d together fit a graph: "+
			"choose a smaller n", name, n, shape.Tasks, shape.Edges, plan.Max)
	}
	return fitsMemory(name, n, need, available)
}

func fitsMemory(name string, n int, need, available float64) error {
	if need > available {
		return BadInput("%s with n=%d needs about %s, and %s are available: choose a smaller n",
			name, n, gib(need), gib(available))
	}
	return nil
}

// available returns how much memory may be used, in bytes. It is at most the addressable memory, which is also the
// result if the rest is unknown.
func available() float64 {
	if a := osthread.AvailableMemory(); a > 0 {
		return min(float64(a), math.MaxInt)
	}
	return math.MaxInt
}

func gib(bytes float64) string { return fmt.Sprintf("%.1f GiB", bytes/(1<<30)) }

// join lists values separated by commas.
func join[T any](values []T) string {
	var all []string
	for _, v := range values {
		all = append(all, fmt.Sprint(v))
	}
	return strings.Join(all, ", ")
}
