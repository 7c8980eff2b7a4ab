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

// MaxWorkers is how many workers one executor can have, spare ones included.
const MaxWorkers = 4096

// Config says what executor to make. The zero value makes a good one.
type Config struct {
	// Workers is the number of worker threads, at most [MaxWorkers]. 0 means the process's own GOMAXPROCS, not counting
	// what executors have added to it.
	Workers int
	// Spares is how many spare workers may stand in at once for workers that wait in [Blocking] and, while any does,
	// for those that sleep in a Wait or Join. Tasks that wait for each other in Blocking need as many as may wait at
	// once, in Blocking or for what they have started: with fewer they may wait for ever. 0 means as many as there are
	// workers, or as there is room for, a negative number none. Before it is needed a spare costs some memory in each
	// graph that has run. Workers and spares together are at most [MaxWorkers].
	Spares int
	// Name is the prefix of the threads' names, and stands in profiler labels, dumps, and errors about the threads. ""
	// means "magpie". Where the system refuses to name threads they have no names, and Dump says why.
	Name string
	// Nice is the scheduling priority of the workers' threads, 0 (normal) to 19 (only what nobody else wants). Linux
	// only; elsewhere anything but 0 is an error. It is for work that may take long while the machine has other work to
	// do. It does not by itself make handlers in the same process faster: reserved Ps do that for their median, and in
	// the tail a worker with a high Nice that allocates can be slower, since the garbage collector waits for threads
	// that the kernel has set aside.
	Nice int
	// Policy controls how many idle workers look for work. The zero value is [Adaptive].
	Policy Policy
	// Deque is the kind of deque that workers keep their items in. The zero value is [deque.KindChaseLev], which grows
	// and hides nothing; the documentation of package deque says, with figures, which kind is for which work.
	//
	// An item that a bounded deque has no room for goes to a growable one beside it, or with [deque.KindBWoSFIFO] to
	// the queue that all workers share: it is not lost, and nobody waits. With [deque.KindBWoSFIFO] a run of [Func] or
	// [Call] fails with [ErrFIFO]. With [deque.KindPDQS] a worker that waits in a Join, a Wait or a Run is dealt
	// nothing, and helps with what the others had no room for.
	//
	// With kinds that hide items, of which [deque.Kind.Hides] tells, a task must not wait for what it has pushed, other
	// than by what this module offers for it, or inside [Blocking]: while it runs, nobody may see that.
	Deque deque.Kind
	// Forks says when calls of [Fork] are pushed to the deque. The zero value is [PrivateForks]. With kinds that hide items
	// and that thieves cannot ask, [deque.KindBWoS] and [deque.KindPDQS], forks are pushed at once, whatever Forks says.
	Forks Forks
	// Capacity is how many items a worker's deque has room for, about; or, of one that grows, has room for at first. 0 means
	// 1024, or 512 for [deque.KindChaseLev]; of [deque.KindPDQR] and [deque.KindPDQS] it says nothing.
	Capacity int
	// BlockSize is how many items a block has, of a deque with blocks. 0 means about the square root of the
	// capacity.
	BlockSize int
	// Steal is how much a thief takes at once: [deque.One], the zero value, or more from a deque whose thieves can. The
	// rest becomes the thief's own, to run or be stolen from; it takes 64 items at most. This is for many small items
	// of graphs and jobs: forks and children that a thief has taken and does not begin at once go to the queue that all
	// workers share.
	Steal deque.Batch
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
	workers := c.Workers
	if workers < 1 || workers > MaxWorkers {
		workers = 1 // which leaves room for the most spares
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
		checked.Deque = deque.KindBWoS // of which every Capacity, BlockSize and Steal is good that is good of any
	}
	errs = append(errs, checked.checkLanes()...)
	if c.Name == "" {
		c.Name = "magpie"
	}
	return c, errors.Join(errs...)
}

// lanes are the options of the workers' lanes.
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

// checkLanes says all that is wrong with the options of a known kind of deque.
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
