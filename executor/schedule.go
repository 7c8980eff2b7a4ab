package executor

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
)

const (
	shortestSlice = 100 * time.Microsecond
	longestSlice  = 100 * time.Millisecond
	maxCPU        = 1<<14 - 1 // more than any kernel supports
)

// A schedule is what an executor asks of the system for the scheduling of its workers' threads.
type schedule struct {
	cfg     *Config // constant
	order   []int   // the CPUs for PinOneEach; constant
	refused [wishes]xatomic.Pointer[error]
}

// A wish is a field of Config that the system may refuse.
type wish uint8

const (
	wishNice wish = iota
	wishClass
	wishSlice
	wishCPUs
	wishPin

	wishes // the number of values
)

var wishNames = [wishes]string{
	wishNice: "Nice", wishClass: "Class", wishSlice: "Slice", wishCPUs: "CPUs", wishPin: "Pin",
}

// init is called before any thread is set up.
func (s *schedule) init(cfg *Config) {
	s.cfg = cfg
	if cfg.Pin == PinNone {
		return
	}
	cpus, err := cfg.CPUs, error(nil)
	if cpus == nil {
		cpus, err = osthread.CPUs()
	}
	if err != nil {
		s.note(wishPin, err)
		return
	}
	s.order = osthread.CoresFirst(cpus)
}

// attachTo has the kernel set the scheduling of each thread that it starts.
func (s *schedule) attachTo(on *attachments, inline *inline) {
	if inline == nil {
		on.occupied.add(s.apply)
	}
}

// note notes err, unless it is nil, as the reason why a wish is not met. The first one for each wish is kept.
func (s *schedule) note(what wish, err error) {
	if err != nil {
		s.refused[what].CompareAndSwap(nil, &err)
	}
}

// err returns what the system has refused, or nil.
func (s *schedule) err() error {
	var errs []error
	for what := range s.refused {
		if err := s.refused[what].Load(); err != nil {
			errs = append(errs, fmt.Errorf("Config.%s: %w", wishNames[what], *err))
		}
	}
	return errors.Join(errs...)
}

// apply sets the scheduling of the calling thread, which is the worker's and ends with it. What the system refuses is
// noted.
func (s *schedule) apply(w *Worker) {
	cfg := s.cfg
	if cfg.Nice != 0 {
		s.note(wishNice, osthread.SetNice(cfg.Nice))
	}
	if cfg.Class != ClassNormal {
		s.note(wishClass, osthread.SetClass(systemClasses[cfg.Class]))
	}
	if cfg.Slice != 0 {
		s.note(wishSlice, osthread.SetSlice(cfg.Slice))
	}
	if cfg.CPUs != nil {
		s.note(wishCPUs, osthread.SetCPUs(cfg.CPUs))
	}
	if len(s.order) > 0 && !w.isSpare() {
		i := w.id % len(s.order)
		s.note(wishPin, osthread.SetCPUs(s.order[i:i+1]))
	}
}

// checkSchedule reports every bad field to bad. It returns CPUs in ascending order, each once.
func (c *Config) checkSchedule(bad func(format string, args ...any)) (cpus []int) {
	if c.Nice < 0 || c.Nice > 19 {
		bad("Config.Nice is %d: give 0 (normal) to 19 (lowest)", c.Nice)
	}
	if c.Class >= classes {
		bad("Config.Class is %d: use one of %v", uint8(c.Class), Classes())
	}
	if c.Slice != 0 && (c.Slice < shortestSlice || c.Slice > longestSlice) {
		bad("Config.Slice is %v: give %v to %v, or 0 for the kernel's choice", c.Slice, shortestSlice, longestSlice)
	} else if c.Slice != 0 && c.Class == ClassIdle {
		bad("Config.Slice is %v, but threads of %v have no slice of their own: leave Slice 0", c.Slice, ClassIdle)
	}
	if c.Pin >= pins {
		bad("Config.Pin is %d: use one of %v", uint8(c.Pin), Pins())
	}
	if c.CPUs == nil {
		return nil
	}
	cpus = slices.Compact(slices.Sorted(slices.Values(c.CPUs)))
	if len(cpus) == 0 {
		bad("Config.CPUs is empty: give the numbers of CPUs, or nil for those of the process")
		return nil
	}
	online := osthread.OnlineCPUs()
	isBad := func(cpu int) bool {
		return cpu < 0 || cpu > maxCPU || !c.BestEffort && online != nil && !slices.Contains(online, cpu)
	}
	if wrong := slices.DeleteFunc(slices.Clone(cpus), func(cpu int) bool { return !isBad(cpu) }); len(wrong) > 0 {
		there := ""
		if online != nil {
			there = fmt.Sprintf(", give some of %v", online)
		}
		bad("Config.CPUs has %v: there are no such CPUs, or they are offline%s", wrong, there)
	}
	return cpus
}
