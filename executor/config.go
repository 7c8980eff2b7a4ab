package executor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/internal/lane"
	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/internal/procs"
)

// MaxWorkers is the largest number of workers of one executor, spare ones included.
const MaxWorkers = 4096

// A Config describes an executor to [New]. The zero value is a good choice.
type Config struct {
	// Workers is the number of worker threads, at most [MaxWorkers]. 0 means the process's own GOMAXPROCS, not counting
	// what executors have added to it.
	Workers int
	// Spares is the largest number of spare workers. Spare workers stand in for workers that wait in [Blocking] and,
	// while any does, for workers that sleep in a Wait or Join. If tasks wait for each other in Blocking, Spares must
	// be at least the number of tasks that may wait at once, in Blocking or for work that they have started: otherwise
	// they may wait for ever. 0 means the number of workers, or less if there is no room for so many; a negative number
	// means none. A spare that has never been needed costs some memory in each graph that has run. Workers and spares
	// together are at most [MaxWorkers].
	Spares int
	// Name is the prefix of the threads' names. It also appears in profiler labels, dumps, and errors about the
	// threads. "" means "magpie". If the system refuses to name threads, they have no names, and Dump says why.
	Name string
	// Nice is the scheduling priority of the workers' threads, 0 (normal) to 19 (lowest). On systems other than Linux
	// anything but 0 is an error. It is for long work on a machine that has other work to do. It does not by itself
	// make other goroutines of the process faster: their median latency depends on the reserved Ps, see KeepGOMAXPROCS.
	// Their tail latency can get worse if a worker with a high Nice allocates, because the garbage collector waits for
	// threads that the kernel does not run.
	Nice int
	// Policy controls how many idle workers look for work. The zero value is [Adaptive].
	Policy Policy
	// PolicyOptions change how some policies work. The zero value is what their documents have.
	PolicyOptions PolicyOptions
	// Deque is the kind of deque in which workers keep their items. The zero value is [deque.KindChaseLev], which grows
	// and hides no items. The documentation of package deque says, with figures, which kind suits which work.
	//
	// If a bounded deque has no room for an item, the item goes to a growable deque beside it, or with
	// [deque.KindBWoSFIFO] to the queue that all workers share. It is not lost, and the worker does not wait. With
	// [deque.KindBWoSFIFO] a run of [Func] or [Call] fails with [ErrFIFO]. With [deque.KindPDQS] a worker that waits in
	// a Join, a Wait or a Run is dealt no items, and helps only with items that did not fit into the deques of others.
	//
	// If the kind hides items, see [deque.Kind.Hides], a task must wait for items that it has pushed only by the means
	// of this module, or inside [Blocking]. While the task runs, other workers may not see these items.
	Deque deque.Kind
	// Forks says when calls of [Fork] are pushed to the deque. The zero value is [PrivateForks]. With [deque.KindBWoS]
	// and [deque.KindPDQS], which hide items and whose thieves cannot ask, forks are pushed at once, whatever Forks
	// says.
	Forks Forks
	// Capacity is about how many items a worker's deque has room for, or at first has room for if it grows. 0 means
	// 1024, or 512 for [deque.KindChaseLev].
	Capacity int
	// BlockSize is the number of items of a block, in a deque with blocks. 0 means about the square root of the
	// capacity.
	BlockSize int
	// Steal is how much a thief takes at once: [deque.One], the zero value, or more if the kind of deque allows it, but
	// at most 64 items. The thief puts the items that it does not run at once into its own deque. More than one is for
	// many small items of graphs and other jobs: forks and children that a thief does not run at once go to the queue
	// that all workers share.
	Steal deque.Batch
	// KeepGOMAXPROCS leaves GOMAXPROCS alone. By default an executor raises it by its number of workers until Close, so
	// that a busy worker never keeps a goroutine from running. While it is raised, the runtime does not update
	// GOMAXPROCS by itself when the CPU quota changes.
	KeepGOMAXPROCS bool
	// Share makes the executor share the machine's processors with others that have one. nil means that the executor
	// uses as many processors as it has work for, whatever the others do.
	Share *Share
	// Verbatim leaves out what this executor adds to the work stealing of document 000 (Lin, Huang and Wong, "An
	// Efficient Work-Stealing Scheduler for Task Dependency Graph", 2020), to compare with the paper. It goes with
	// every Policy. The paper's own is [AdaptivePublished].
	//
	//   - Each task of a graph is an item of its own. The sources are submitted together, with one notification, or
	//     pushed one by one if a task starts the run. A task pushes all successors that it makes ready but the last,
	//     which it leaves to its worker. Without Verbatim many tasks may be one item, of which a thief takes half.
	//   - A busy worker does not look at the queue of submissions. So runs that keep all workers busy for ever starve
	//     all later runs.
	//   - A worker that has run out of items always becomes a thief, whatever the policy.
	//   - A thief that has lost a steal does not yield for that. With [Adaptive] it still does.
	//   - One worker alone has a deque as any other worker does.
	//
	// What the paper does not have stays as it is: among others nested runs, forks, [Blocking] and its spares. The
	// list of all differences is in PROTOCOL.md.
	Verbatim bool
}

// withDefaults validates c, reporting every bad field at once, and fills in the defaults.
func (c Config) withDefaults() (Config, error) {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("executor: "+format, args...)) }
	switch {
	case c.Workers < 0:
		bad("Config.Workers is %d: give the number of workers, or 0 for GOMAXPROCS", c.Workers)
	case c.Workers > MaxWorkers:
		bad("Config.Workers is %d: at most %d are possible, and more than there are CPUs seldom help",
			c.Workers, MaxWorkers)
	case c.Workers == 0:
		c.Workers = min(procs.Base(), MaxWorkers)
	}
	workers := c.Workers
	if workers < 1 || workers > MaxWorkers {
		workers = 1 // leaves the most room for spares
	}
	switch room := MaxWorkers - workers; {
	case c.Spares < 0:
		c.Spares = 0
	case c.Spares == 0:
		c.Spares = min(workers, room)
	case c.Spares > room:
		bad("Config.Spares is %d: with %d workers at most %d are possible", c.Spares, workers, room)
	}
	if c.Nice < 0 || c.Nice > 19 {
		bad("Config.Nice is %d: give 0 (normal) to 19 (lowest)", c.Nice)
	}
	if int(c.Policy) >= len(policy.Table) {
		bad("Config.Policy is %d: use one of %v", uint8(c.Policy), Policies())
	} else {
		for _, err := range c.PolicyOptions.internal().Check(int(c.Policy)) {
			bad("Config.PolicyOptions.%w", err)
		}
		if err := c.Policy.Available(); err != nil {
			errs = append(errs, err)
		}
	}
	known := slices.Contains(deque.Kinds(), c.Deque)
	if !known {
		bad("Config.Deque is %d: use one of %v", uint8(c.Deque), deque.Kinds())
	}
	if c.Forks >= forksModes {
		bad("Config.Forks is %d: use one of %v", uint8(c.Forks), AllForks())
	}
	checked := c
	if c.Steal > deque.Block {
		bad("Config.Steal is %d: use deque.One, deque.Half or deque.Block", uint8(c.Steal))
		checked.Steal = deque.One
	}
	if !known {
		checked.Deque = deque.KindBWoS // accepts every Capacity, BlockSize and Steal that any kind accepts
	}
	errs = append(errs, checked.checkLanes()...)
	if c.Name == "" {
		c.Name = "magpie"
	}
	c.Share = c.Share.withDefaults(c.Workers, bad)
	return c, errors.Join(errs...)
}

// lanes returns the options of the workers' lanes.
func (c *Config) lanes() lane.Options {
	return lane.Options{
		Kind:        c.Deque,
		Capacity:    c.Capacity,
		BlockSize:   c.BlockSize,
		Batch:       c.Steal,
		ForksPushed: c.Forks == PushedForks,
		Enough:      enoughPublic * c.Workers,
	}
}

// checkLanes returns everything that is wrong with the options of a known kind of deque.
func (c *Config) checkLanes() (errs []error) {
	if err := c.lanes().Queue().Check(c.Deque); err != nil {
		said := strings.NewReplacer("deque: ", "", "\n", "; ").Replace(err.Error())
		errs = append(errs, fmt.Errorf("executor: Config with Deque %v: %s", c.Deque, said))
	}
	if c.Steal != deque.One && !c.Deque.Batches() {
		batching := slices.DeleteFunc(deque.Kinds(), func(k deque.Kind) bool { return !k.Batches() })
		errs = append(errs, fmt.Errorf("executor: Config.Steal is %v, but from %v thieves take one item at a time: "+
			"set Steal to %v, or Deque to one of %v", c.Steal, c.Deque, deque.One, batching))
	}
	return errs
}
