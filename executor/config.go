package executor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/procs"
)

// MaxWorkers is the largest number of workers of an executor, with spares.
const MaxWorkers = 4096

// A Config describes an executor to [New]. The zero value is a good choice.
type Config struct {
	// Workers is the number of worker threads, at most [MaxWorkers]. 0 means the process's own GOMAXPROCS, without what
	// executors have added to it, or the number of CPUs in Threads if that is set and smaller.
	Workers int
	// Spares is the largest number of spare workers, see [Blocking]; 0 means 256, a negative number none. If tasks wait
	// for each other in Blocking, or for permits of each other's runs, it must be at least the number of tasks that may
	// wait at once, in Blocking or for work that they have started: otherwise they may wait for ever. Workers and spares
	// together are at most [MaxWorkers]. A spare that was never needed costs some 350 bytes.
	Spares int
	// MaxRuns is the largest number of runs and futures in progress that were started from outside; 0 means no bound. If
	// there are so many, [Executor.Run], [Executor.Start] and [Async] wait until one ends, in the order in which they were
	// called, and [Executor.TryStart] returns [ErrBusy]. What tasks and functions of OnEnd start on workers does not
	// count and never waits. A task must not wait for a goroutine that starts something from outside and may wait here.
	MaxRuns int
	// Name is the prefix of the threads' names. It also appears in profiler labels, dumps, and errors about the threads.
	// "" means "magpie". If the system refuses to name threads, Dump says why.
	Name string
	// Callers says whether a goroutine that waits in [Executor.Run] takes part in its run, see [BusyCallers]. The zero
	// value, [AutoCallers], is BusyCallers unless other fields stand against it. With CPUs, Pin, Start or End of Threads,
	// with Share of Host, and with Verbatim or a Policy of Experiment that has all tasks run on the workers' own threads,
	// it is [IdleCallers], and [BriefCallers] and BusyCallers are errors. With Nice, Class or Slice of Threads it is
	// IdleCallers, since a caller runs tasks with its own thread's schedule. BriefCallers is then still better for callers
	// that wait for short runs, see BENCHMARKS.md. [Executor.Dump] says what the zero value stands for, and why.
	Callers Callers
	// Observers are called when something happens on the executor, in this order.
	Observers []*Observer
	// Threads says how the system runs the workers' threads, and what is called on them.
	Threads host.Threads
	// Host says what the workers leave to the rest of the process and of the machine.
	Host host.Options
	// Experiment has policies, kinds of deques and other options for comparisons. Programs should use the zero value.
	Experiment experiment.Options
}

// settings are a Config that New has checked, with the defaults filled in.
type settings struct {
	Config
	chosen    chosen
	ownThread []string // the fields for which AutoCallers means IdleCallers
}

// checked returns the settings for c, or an error that tells every bad field. chosen is what the names of c.Experiment
// stand for, and wrong what is wrong with them.
func (c Config) checked(chosen chosen, wrong ...error) (*settings, error) {
	s := &settings{Config: c, chosen: chosen}
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("executor: Config."+format, args...)) }
	checkThreads(&s.Threads, bad)
	s.checkWorkers(bad)
	if s.MaxRuns < 0 {
		bad("MaxRuns is %d: give the number of runs and futures, or 0 for no bound", s.MaxRuns)
	}
	errs = append(errs, wrong...)
	if of := s.Host.Share; of != nil { // before resolveCallers: it may turn out to be none
		s.Host.Share = of.Checked(s.Workers, func(format string, args ...any) { bad("Host."+format, args...) })
	}
	s.resolveCallers(bad)
	if s.Name == "" {
		s.Name = "magpie"
	}
	if strings.ContainsFunc(s.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		bad("Name is %q: give one without control characters, for the names of threads and for logs", s.Name)
	}
	for i, o := range s.Observers {
		if o == nil {
			bad("Observers[%d] is nil", i)
		}
	}
	s.Observers = slices.Clone(s.Observers)
	return s, errors.Join(errs...)
}

// checkWorkers fills in the numbers of workers and of spares.
func (s *settings) checkWorkers(bad func(format string, args ...any)) {
	switch {
	case s.Workers < 0:
		bad("Workers is %d: give the number of workers, or 0 for GOMAXPROCS", s.Workers)
	case s.Workers > MaxWorkers:
		bad("Workers is %d: at most %d are possible, and more than there are CPUs seldom help", s.Workers, MaxWorkers)
	case s.Workers == 0:
		s.Workers = min(procs.Base(), MaxWorkers)
		if n := len(s.Threads.CPUs); n > 0 {
			s.Workers = min(s.Workers, n)
		}
	}
	workers := s.Workers
	if workers < 1 || workers > MaxWorkers {
		workers = 1 // leaves the most room for spares
	}
	switch room := MaxWorkers - workers; {
	case s.Spares < 0:
		s.Spares = 0
	case s.Spares == 0:
		s.Spares = min(defaultSpares, room)
	case s.Spares > room:
		bad("Spares is %d: with %d workers at most %d are possible", s.Spares, workers, room)
	}
}

// reservedPs returns by how many Ps the executor raises GOMAXPROCS, at first and later besides, see reserve.
func (s *settings) reservedPs() (first, rest int) {
	if s.Host.KeepGOMAXPROCS {
		return 0, 0
	}
	return (s.Workers + 2) / 3, s.Workers
}
