package bench

import (
	"context"
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
	Work     []int // of each node, or after each operation, in ns; nil: each experiment's own
	N        int   // 0: each experiment's own
	Again    Again // what is measured a second time, in turn with the others
	Short    bool  // defaults are for a quick look
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

// Run makes the experiments. If the session is wrong it returns an input.Error before the first.
func (s *DequeSession) Run(ctx context.Context) error {
	if err := s.validate(); err != nil {
		return err
	}
	var subjects []subject[DequeResult]
	for _, e := range s.Experiments {
		subjects = append(subjects, func(ctx context.Context) ([]DequeResult, error) { return s.runExperiment(ctx, e) })
	}
	return measureAll(ctx, subjects, s.Emit)
}

// runs returns the repetitions of e, one for each point.
func (s *DequeSession) runs(e *DequeExperiment) (all []*dequeRun) {
	for _, k := range s.Kinds {
		for _, b := range e.blocksFor(s, k) {
			for _, work := range e.works(s) {
				for _, r := range e.points(s, e.size(s)) {
					r.Experiment, r.Deque, r.Capacity, r.Block, r.Work = e.Name, k.Name, s.Capacity, b, work
					r.kind, r.seed = k, s.Seed
					all = append(all, &r)
				}
			}
		}
	}
	return twice(s.Again, all, func(r *dequeRun) *dequeRun {
		second := *r
		second.Again = true
		return &second
	})
}

// runExperiment measures e at all points.
func (s *DequeSession) runExperiment(ctx context.Context, e *DequeExperiment) ([]DequeResult, error) {
	var trials []trial[DequeResult]
	for _, r := range s.runs(e) {
		trials = append(trials, trial[DequeResult]{r.DequePoint, func(ctx context.Context, rep int) (DequeResult,
			error) {
			result, err := e.repeat(ctx, r)
			result.Rep, result.Seed = rep, s.Seed
			return result, err
		}})
	}
	return repeatAll(ctx, series{what: e.Name, reps: s.Reps, step: s.Step}, trials)
}

// repeat measures and verifies one repetition.
func (e *DequeExperiment) repeat(ctx context.Context, r *dequeRun) (result DequeResult, err error) {
	r.ctx = ctx
	trial, err := e.prepare(r)
	if err != nil {
		return result, err
	}
	m, err := attempt{subject: e.Name, at: r.DequePoint, run: func() error { return trial.run(r) }}.measure(ctx)
	if err != nil {
		return result, err
	}
	return DequeResult{
		DequePoint: r.DequePoint,
		WallNS:     m.wall.Nanoseconds(), CPUNS: m.cpu.Nanoseconds(), CPUUtil: m.cpuUtil(),
		VCtx: m.vctx, ICtx: m.ictx,
		Verified: true, Metrics: trial.figures(),
	}, nil
}
