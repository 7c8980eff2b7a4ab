package bench

import (
	"math"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// Bounds of the settings. They are arbitrary, but for the largest n: an Item counts in 32 bits.
const (
	mostDequeThreads = 1024
	mostDequeN       = math.MaxInt32 / 2
)

// validate returns an error if the session cannot run.
func (s *DequeSession) validate() error {
	if s.N < 0 || s.N > mostDequeN {
		return input.Errorf("size must be 1 to %d, not %d", mostDequeN, s.N)
	}
	if s.Reps < 1 {
		return input.Errorf("repetitions must be at least 1, not %d", s.Reps)
	}
	if s.Capacity < 1 {
		return input.Errorf("capacity must be at least 1, not %d", s.Capacity)
	}
	for _, n := range s.Work {
		if n < 0 {
			return input.Errorf("work must not be negative, but is %d", n)
		}
	}
	if s.Workers < 1 || s.Workers > mostDequeThreads {
		return input.Errorf("workers must be 1 to %d, not %d", mostDequeThreads, s.Workers)
	}
	for _, n := range s.Thieves {
		if n < 1 || n > mostDequeThreads {
			return input.Errorf("thieves must be 1 to %d, not %d", mostDequeThreads, n)
		}
	}
	for _, n := range s.Stolen {
		if n < 0 || n > 100 {
			return input.Errorf("the share that is stolen must be 0 to 100 percent, not %d", n)
		}
	}
	for _, n := range s.Blocks {
		if n < 1 {
			return input.Errorf("a block must have at least 1 item, not %d", n)
		}
	}
	var all []*dequeRun
	for _, e := range s.Experiments {
		if err := s.validateRuns(e); err != nil {
			return err
		}
		all = append(all, s.runs(e)...)
	}
	return checkMet(s.Again, all)
}

// validateRuns refuses settings with which e cannot run.
func (s *DequeSession) validateRuns(e *DequeExperiment) error {
	runs := s.runs(e)
	if len(runs) == 0 {
		return input.Errorf("%s needs something to be stolen: choose a share above 0", e.Name)
	}
	available := workloads.Available()
	for _, r := range runs {
		if err := r.kind.Check(r.threads(), r.Capacity, r.Block); err != nil {
			return input.Errorf("%v", err)
		}
		if e.Size != "" && r.Capacity < 2*KeptBlocks*max(r.Block, 1) {
			return input.Errorf("%s needs room for %d blocks of %d items: choose a capacity of at least %d",
				e.Name, 2*KeptBlocks, max(r.Block, 1), 2*KeptBlocks*max(r.Block, 1))
		}
		if r.Stolen > 0 && float64(r.N)*float64(r.Stolen) < 100 {
			return input.Errorf("%s: %d%% of n=%d is no item: choose a larger n or share", e.Name, r.Stolen, r.N)
		}
		items := float64(r.N)
		if r.Thieves+r.Workers == 0 {
			items *= float64(r.Stolen) / 100 // the items that are popped are pushed again
		}
		need := bytesPerItem*items + bytesPerSlot*float64(r.Capacity)*float64(r.threads())
		if err := fitsMemory(e.Name, r.N, need, available); err != nil {
			return err
		}
	}
	return nil
}

const (
	bytesPerItem = 16 // an item, and a latency or a pointer to the item
	bytesPerSlot = 24 // of a queue, with the owner's list of popped items
)
