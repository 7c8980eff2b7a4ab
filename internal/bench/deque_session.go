package bench

import (
	"context"
	"fmt"
	"time"
)

// A DequeSession is a set of experiments with deques, to be made one after the other.
type DequeSession struct {
	Experiments []*DequeExperiment
	Kinds       []*DequeKind

	Capacity int
	Blocks   []int // sizes of blocks; nil: each experiment's own
	Stolen   []int // shares, in percent; nil: each experiment's own
	Thieves  []int
	Workers  int
	Trees    []Tree
	Work     int
	N        int  // 0: each experiment's own
	Short    bool // defaults are for a quick look
	Reps     int
	Seed     uint64

	// Step and Emit are as in [Session].
	Step func(what string, expect time.Duration)
	Emit func([]DequeResult) error
}

// A dequeRun is one repetition, with everything that an experiment needs.
type dequeRun struct {
	DequePoint
	kind *DequeKind
	tree Tree
	seed uint64
	ctx  context.Context
}

// threads returns the number of threads, each with a queue.
func (r *dequeRun) threads() int { return max(2, 1+r.Thieves, r.Workers) }

// keep returns how many items an owner keeps in its queue, so that there is always something to steal.
func (r *dequeRun) keep() int { return min(r.Capacity/2, max(KeptItems, KeptBlocks*r.Block)) }

// An owner keeps this many items in its queue, or this many blocks if that is more. In some kinds thieves do not see
// two of the blocks.
const (
	KeptItems  = 256
	KeptBlocks = 4
)

// Run makes the experiments. If the session is wrong it returns an [InputError] before the first.
func (s *DequeSession) Run(ctx context.Context) error {
	if err := s.validate(); err != nil {
		return err
	}
	for _, e := range s.Experiments {
		results, err := s.runExperiment(ctx, e)
		if err != nil {
			return err
		}
		if err := s.Emit(results); err != nil {
			return err
		}
	}
	return nil
}

// runs returns the repetitions of e, one for each point.
func (s *DequeSession) runs(e *DequeExperiment) (all []*dequeRun) {
	for _, k := range s.Kinds {
		blocks := []int{0}
		if k.Blocks {
			blocks = pick(s.Blocks, s.Short, e.blocks, e.short)
		}
		for _, b := range blocks {
			for _, r := range e.points(s, e.size(s)) {
				r.Experiment, r.Deque, r.Capacity, r.Block = e.Name, k.Name, s.Capacity, b
				if !e.bare {
					r.Work = s.Work
				}
				r.kind, r.seed = k, s.Seed
				all = append(all, &r)
			}
		}
	}
	return all
}

// runExperiment repeats e at all points in turn. The first round is not measured: it pays for memory that later rounds
// find.
func (s *DequeSession) runExperiment(ctx context.Context, e *DequeExperiment) (results []DequeResult, err error) {
	runs := s.runs(e)
	pace := s.newPace((1 + s.Reps) * len(runs))
	for rep := range 1 + s.Reps {
		for _, r := range runs {
			pace.step(e.Name)
			result, err := e.repeat(ctx, r)
			if err != nil {
				return nil, err
			}
			result.Rep, result.Seed = rep, s.Seed
			if rep > 0 {
				results = append(results, result)
			}
		}
	}
	return results, nil
}

// A pace announces how long many short repetitions will take, at most once a second.
type pace struct {
	tell        func(what string, expect time.Duration)
	total, done int
	begin, told time.Time
}

func (s *DequeSession) newPace(total int) *pace {
	return &pace{tell: s.Step, total: total, begin: time.Now(), told: time.Now()}
}

func (p *pace) step(what string) {
	defer func() { p.done++ }()
	if p.tell == nil || time.Since(p.told) < time.Second {
		return
	}
	p.told = time.Now()
	each := time.Since(p.begin) / time.Duration(max(p.done, 1))
	p.tell(fmt.Sprintf("%s: %d of %d, to the end", what, p.done+1, p.total), each*time.Duration(p.total-p.done))
}

// repeat measures and verifies one repetition.
func (e *DequeExperiment) repeat(ctx context.Context, r *dequeRun) (result DequeResult, err error) {
	if err := ctx.Err(); err != nil {
		return result, err
	}
	r.ctx = ctx
	trial, err := e.prepare(r)
	if err != nil {
		return result, err
	}
	m, err := measure(func() error { return trial.run(r) })
	switch {
	case ctx.Err() != nil:
		return result, ctx.Err()
	case err != nil:
		return result, &WrongAnswer{e.Name, r.DequePoint, err}
	}
	return DequeResult{
		DequePoint: r.DequePoint,
		WallNS:     m.wall.Nanoseconds(), CPUNS: m.cpu.Nanoseconds(),
		CPUUtil: float64(m.cpu) / float64(max(m.wall, 1)),
		VCtx:    m.vctx, ICtx: m.ictx,
		Verified: true, Metrics: trial.figures(),
	}, nil
}
