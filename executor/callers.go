package executor

import (
	"fmt"
	"strings"

	"github.com/magpie-go/magpie/executor/internal/enum"
	"github.com/magpie-go/magpie/executor/internal/policy"
)

// Callers says whether a goroutine that waits in [Executor.Run], or in Wait of a [Run], [Future] or [Group], runs what
// it waits for meanwhile, see [Config]. Calls of Run are also those of [Call], [First] and the loops of package
// parallel.
type Callers uint8

const (
	// AutoCallers is BriefCallers, or IdleCallers if another field of the Config has all tasks run on the workers' own
	// threads, or says how the system runs these: Nice, Class or Slice.
	AutoCallers Callers = iota
	// IdleCallers lets callers wait: all tasks run on the workers' own threads.
	IdleCallers
	// BriefCallers lets a caller take the place of a worker that sleeps, for a tenth of a millisecond or until the end
	// of the task that it runs then. A longer run goes on without the caller. If long tasks or futures keep callers,
	// all callers are idle for a while: for as long as the task has taken, or up to 64 times as long if it happens
	// again and again.
	//
	// A run of one short task wakes no thread. Nor does a run of a few, if earlier runs of the same graph have shown
	// that its caller is quicker alone, and Deque is the default. Should one of the tasks wait for another, a worker
	// wakes up for that one: at once if the task waits in [Blocking] or for work of the executor, and otherwise after
	// some milliseconds.
	BriefCallers
	// BusyCallers is BriefCallers without a bound on the time. It is for programs that have nothing else to do.
	BusyCallers

	callersModes // the number of values
)

var callersNames = [callersModes]string{
	AutoCallers: "auto", IdleCallers: "idle", BriefCallers: "brief", BusyCallers: "busy",
}

// String returns the name that [ParseCallers] takes. A value that is none of the constants is written as Callers(9).
func (c Callers) String() string { return enum.Name(c, "Callers", callersNames[:]) }

// AllCallers lists every value of Callers.
func AllCallers() []Callers { return enum.All[Callers](callersModes) }

// ParseCallers returns the Callers of that name: "auto", "idle", "brief" or "busy". For any other name it returns an
// error that lists these.
func ParseCallers(name string) (Callers, error) {
	return enum.Parse[Callers](name, "Callers", callersNames[:])
}

// resolveCallers replaces AutoCallers by what it stands for. It returns an error for callers that cannot take part.
func (c *Config) resolveCallers() error {
	fields := c.needsOwnThreads()
	switch {
	case c.Callers == AutoCallers && (len(fields) > 0 || c.Nice != 0 || c.Class != ClassNormal || c.Slice != 0):
		c.Callers = IdleCallers
	case c.Callers == AutoCallers:
		c.Callers = BriefCallers
	case c.Callers != IdleCallers && len(fields) > 0:
		return fmt.Errorf("executor: Config.Callers is %v, but with %s tasks run on the workers' own threads only: "+
			"leave it zero",
			c.Callers, strings.Join(fields, ", "))
	}
	return nil
}

// needsOwnThreads names the fields of c because of which tasks run on the workers' own threads only.
func (c *Config) needsOwnThreads() (fields []string) {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"CPUs", c.CPUs != nil},
		{"Pin", c.Pin != PinNone},
		{"ThreadStart", c.ThreadStart != nil},
		{"ThreadEnd", c.ThreadEnd != nil},
		{"Share", c.Share != nil},
		{"HostShare", c.HostShare != 0},
		{"Verbatim", c.Verbatim},
		{fmt.Sprintf("Policy %v", c.Policy), int(c.Policy) < len(policy.Table) && !policy.Table[c.Policy].Guests},
	} {
		if f.set {
			fields = append(fields, f.name)
		}
	}
	return fields
}
