package executor

import (
	"errors"
	"fmt"

	"github.com/magpie-go/magpie/internal/procs"
)

// MaxWorkers is how many workers one executor can have.
const MaxWorkers = 4096

// Config says what executor to make. The zero value makes a good one.
type Config struct {
	// Workers is the number of worker threads, at most [MaxWorkers]. 0 means the process's own GOMAXPROCS, not counting
	// what executors have added to it.
	Workers int
	// Name is the prefix of the threads' names, and stands in profiler labels, errors and dumps. "" means "magpie".
	Name string
	// Nice is the scheduling priority of the workers' threads, 0 (normal) to 19 (only what nobody else wants). Linux
	// only; elsewhere anything but 0 is an error. With reserved Ps it is what keeps a service's latency unchanged beside
	// heavy work, see the package example.
	Nice int
	// Policy controls how many idle workers look for work. The zero value is [Adaptive].
	Policy Policy
	// KeepGOMAXPROCS leaves GOMAXPROCS alone. By default an executor raises it by its number of workers until Close, so
	// that a busy worker never keeps a goroutine from running. While it is raised, the runtime's own updates of
	// GOMAXPROCS, after a change of the CPU quota, are off.
	KeepGOMAXPROCS bool
}

// withDefaults validates c, reporting every bad field at once.
func (c Config) withDefaults() (Config, error) {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("executor: "+format, args...)) }
	switch {
	case c.Workers < 0:
		bad("Config.Workers is %d: give the number of workers, or 0 for GOMAXPROCS", c.Workers)
	case c.Workers > MaxWorkers:
		bad("Config.Workers is %d: at most %d are possible, and more than there are CPUs seldom help", c.Workers, MaxWorkers)
	case c.Workers == 0:
		c.Workers = min(procs.Base(), MaxWorkers)
	}
	if c.Nice < 0 || c.Nice > 19 {
		bad("Config.Nice is %d: give 0 (normal) to 19 (lowest)", c.Nice)
	}
	if c.Policy >= policies {
		bad("Config.Policy is %d: use one of %v", uint8(c.Policy), Policies())
	}
	if c.Name == "" {
		c.Name = "magpie"
	}
	return c, errors.Join(errs...)
}

// A Policy controls how many of the idle workers look for work and when they sleep.
type Policy uint8

const (
	// Adaptive keeps what [AdaptivePublished] promises, that no item waits in a deque while a worker sleeps, and that
	// the number of thieves follows the work there is. In addition the last thief sleeps too when there is nothing to
	// steal: publishing an item wakes a worker if nobody is looking.
	Adaptive Policy = iota
	// AdaptivePublished is the algorithm of document 000 (Algorithms 2 to 5) to the letter: publishing an item wakes
	// nobody, so as long as any worker has work, one thief stays awake and looks around.
	AdaptivePublished

	policies // how many there are
)

var policyNames = [policies]string{Adaptive: "adaptive", AdaptivePublished: "adaptive-published"}

func (p Policy) String() string {
	if p >= policies {
		return fmt.Sprintf("Policy(%d)", uint8(p))
	}
	return policyNames[p]
}

// Policies lists every policy.
func Policies() []Policy {
	all := make([]Policy, policies)
	for i := range all {
		all[i] = Policy(i)
	}
	return all
}

// ParsePolicy is the reverse of [Policy.String].
func ParsePolicy(name string) (Policy, error) {
	for i, n := range policyNames {
		if n == name {
			return Policy(i), nil
		}
	}
	return 0, fmt.Errorf("executor: no policy %q: use one of %v", name, Policies())
}
