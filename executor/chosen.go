package executor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/internal/enum"
	"github.com/magpie-go/magpie/executor/internal/lane"
	"github.com/magpie-go/magpie/executor/internal/policy"
)

// chosen is what the names of [Config].Experiment stand for.
type chosen struct {
	experiment.Options
	policy      *policy.Row
	knobs       policy.Options
	forksPushed bool
	newLanes    func(n int, o lane.Options) (*lane.Maker[Item], error)
	attachPeers func(*attachments) // nil if the policy asks nothing about other threads
}

// usual is what zero Options stand for. A program whose only executor is that of [Default] links choose neither, nor the
// other policies, and little of the other deques.
func usual() chosen {
	return chosen{
		Options:  experiment.Options{Policy: policy.Usual.Name},
		policy:   &policy.Usual,
		newLanes: func(_ int, o lane.Options) (*lane.Maker[Item], error) { return lane.NewDirect[Item](o), nil },
	}
}

// choose looks the names of o up. It returns everything that is wrong with o, too.
func choose(o experiment.Options) (c chosen, errs []error) {
	c.Options, c.newLanes = o, lane.NewMaker[Item]
	bad := func(err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("executor: Config.Experiment.%w", err))
		}
	}
	row, err := enum.Find("Policy", o.Policy, experiment.Policies())
	bad(err)
	yields, noYields := enum.Find("Yields", o.Yields, experiment.Yields())
	bad(noYields)
	c.knobs = policy.Options{
		SleepThreshold: o.SleepThreshold, Yields: policy.Yields(yields), BusyWakes: o.BusyWakes, CheckPeers: o.CheckPeers,
	}
	if c.policy = &policy.Table[row]; c.policy.Needs != 0 {
		c.attachPeers = attachPeers
	}
	if err == nil {
		c.Policy = c.policy.Name
		for _, err := range c.knobs.Check(row) {
			bad(err)
		}
		if err := experiment.Available(c.Policy); err != nil {
			errs = append(errs, err)
		}
	}
	_, err = enum.Find("Forks", o.Forks, experiment.Forks())
	bad(err)
	c.forksPushed = o.Forks == "pushed"
	return c, append(errs, c.checkLanes()...)
}

// lanes returns the options of the lanes of so many workers.
func (c *chosen) lanes(workers int) lane.Options {
	return lane.Options{
		Kind:        c.Deque,
		Capacity:    c.Capacity,
		BlockSize:   c.BlockSize,
		Batch:       c.Steal,
		ForksPushed: c.forksPushed,
		Enough:      enoughPublic * workers,
		SmallBlocks: !c.Verbatim && !c.forksPushed,
		Begging:     !c.Verbatim,
	}
}

// makeLanes returns the maker of the lanes of so many workers and spares.
func (c *chosen) makeLanes(workers, spares int) *lane.Maker[Item] {
	m, err := c.newLanes(workers+spares, c.lanes(workers))
	if err != nil {
		panic(err) // the options were checked
	}
	return m
}

// checkLanes returns everything that is wrong with the options of the deques.
func (c chosen) checkLanes() (errs []error) {
	known := slices.Contains(deque.Kinds(), c.Deque)
	if !known {
		errs = append(errs, fmt.Errorf("executor: Config.Experiment.Deque is %d: use one of %v",
			uint8(c.Deque), deque.Kinds()))
		c.Deque = deque.KindBWoS // accepts every Capacity, BlockSize and Steal that any kind accepts
	}
	if c.Steal > deque.Block {
		errs = append(errs, fmt.Errorf("executor: Config.Experiment.Steal is %d: use deque.One, deque.Half or deque.Block",
			uint8(c.Steal)))
		c.Steal = deque.One
	}
	lanes := c.lanes(1)
	if err := lanes.Queue().Check(c.Deque); err != nil {
		said := strings.ReplaceAll(strings.ReplaceAll(err.Error(), "deque: ", ""), "\n", "; ")
		errs = append(errs, fmt.Errorf("executor: Config.Experiment with Deque %v: %s", c.Deque, said))
	}
	if c.Steal != deque.One && !c.Deque.Batches() {
		batching := slices.DeleteFunc(deque.Kinds(), func(k deque.Kind) bool { return !k.Batches() })
		errs = append(errs, fmt.Errorf("executor: Config.Experiment.Steal is %v, but from %v thieves take one item at "+
			"a time: set Steal to %v, or Deque to one of %v", c.Steal, c.Deque, deque.One, batching))
	}
	return errs
}
