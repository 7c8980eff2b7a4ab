package executor

import (
	"errors"
	"fmt"

	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A schedule is what an executor asks of the system for the scheduling of its workers' threads.
type schedule struct {
	cfg     *host.Threads // constant
	order   []int         // the CPUs with Pin; constant
	refused [wishes]xatomic.Pointer[error]
}

// A wish is a field of [host.Threads] that the system may refuse.
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

// classes are the values of [host.Class], and systemClasses what they mean to the system.
var (
	classes       = []host.Class{host.ClassNormal, host.ClassBatch, host.ClassIdle}
	systemClasses = []osthread.Class{
		host.ClassNormal: osthread.Normal, host.ClassBatch: osthread.Batch, host.ClassIdle: osthread.Idle,
	}
)

// init is called before any thread is set up.
func (s *schedule) init(cfg *host.Threads) {
	s.cfg = cfg
	if !cfg.Pin {
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
			errs = append(errs, fmt.Errorf("Config.Threads.%s: %w", wishNames[what], *err))
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
	if cfg.Class != host.ClassNormal {
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
