package executor

import (
	"fmt"
	"strings"

	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/internal/enum"
)

// Callers says whether a goroutine that waits in [Executor.Run], or in Wait of a [Run], [Future] or [Group], runs what
// it waits for meanwhile. Calls of Run are also those of [Call], [First] and the loops of package parallel.
type Callers uint8

const (
	// AutoCallers is BusyCallers, or IdleCallers because of other fields of the Config, see [Config].Callers.
	AutoCallers Callers = iota
	// IdleCallers lets callers wait: all tasks run on the workers' own threads.
	IdleCallers
	// BriefCallers is BusyCallers for a tenth of a millisecond, or until the end of the task that a caller runs then. If a
	// task or future keeps a caller longer, all callers are idle for as long as that has taken, or up to 64 times as long
	// if it happens again and again.
	BriefCallers
	// BusyCallers lets a caller take the place of a worker that sleeps, until it finds no more to do. A run of one short
	// task wakes no thread. Where as many callers as workers have runs of milliseconds, each caller runs its own.
	BusyCallers

	callersModes // the number of values
)

var callersNames = [callersModes]string{
	AutoCallers: "auto", IdleCallers: "idle", BriefCallers: "brief", BusyCallers: "busy",
}

// String returns the name of c: "auto", "idle", "brief" or "busy". A value that is none of the constants is written as
// Callers(9).
func (c Callers) String() string { return enum.Name(c, "Callers", callersNames[:]) }

// MarshalText returns the name of c. It implements [encoding.TextMarshaler].
func (c Callers) MarshalText() ([]byte, error) {
	return enum.Text(c, "executor", "Callers", callersNames[:])
}

// UnmarshalText sets c to the value of that name. "" is AutoCallers. For any other name it returns an error that lists
// the names.
func (c *Callers) UnmarshalText(name []byte) error {
	return enum.SetText(c, "executor", "Callers", name, callersNames[:])
}

// resolveCallers replaces AutoCallers by what it stands for. It reports callers that cannot take part.
func (s *settings) resolveCallers(bad func(format string, args ...any)) {
	fields := s.needOwnThreads()
	switch {
	case s.Callers >= callersModes:
		bad("Callers is %d: use one of %v", uint8(s.Callers), callersNames)
	case s.Callers == AutoCallers:
		s.ownThread = append(fields, s.standBack()...)
		s.Callers = BusyCallers
		if len(s.ownThread) > 0 {
			s.Callers = IdleCallers
		}
	case s.Callers != IdleCallers && len(fields) > 0:
		bad("Callers is %v, but with %s tasks run on the workers' own threads only: leave Callers zero",
			s.Callers, strings.Join(fields, ", "))
	}
}

// needOwnThreads names the fields because of which tasks run on the workers' own threads only. Share is among them, as
// a QuotaShare too: it counts how long the workers' own threads are awake, and parks those that are too many. A caller
// is not counted, so it would use processors that the bound does not know of, and it cannot rest while its answer is
// due.
func (s *settings) needOwnThreads() []string {
	return fieldsSet([]field{
		{"Threads.CPUs", s.Threads.CPUs != nil},
		{"Threads.Pin", s.Threads.Pin},
		{"Threads.Start", s.Threads.Start != nil},
		{"Threads.End", s.Threads.End != nil},
		{"Host.Share", s.Host.Share != nil},
		{"Experiment.Verbatim", s.Experiment.Verbatim},
		{"Experiment.Policy " + s.chosen.Policy, !s.chosen.policy.Guests},
	})
}

// standBack names the fields because of which tasks are to run with the schedule of the workers' threads.
func (s *settings) standBack() []string {
	return fieldsSet([]field{
		{"Threads.Nice", s.Threads.Nice != 0},
		{"Threads.Class", s.Threads.Class != host.ClassNormal},
		{"Threads.Slice", s.Threads.Slice != 0},
	})
}

// A field is one of Config.
type field struct {
	name string
	set  bool
}

// fieldsSet returns the names of the fields that are set.
func fieldsSet(fields []field) (names []string) {
	for _, f := range fields {
		if f.set {
			names = append(names, f.name)
		}
	}
	return names
}

// callers says in a dump whether callers take part, and why they do not.
func (s *settings) callers() string {
	if len(s.ownThread) == 0 {
		return s.Callers.String()
	}
	return fmt.Sprintf("%v because of Config.%s", s.Callers, strings.Join(s.ownThread, ", "))
}
