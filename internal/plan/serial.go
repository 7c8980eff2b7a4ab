package plan

import (
	"context"
	"slices"
)

// A Serial walks a plan on the calling goroutine, with a LIFO stack of ready tasks and plain join counters. Tasks that
// become ready together run in the order of the edges, as on an executor's worker. It is the yardstick for the overhead
// of an executor, and the oracle of the tests. The zero value is not usable. A Serial serves one goroutine at a time
// and may walk its plan any number of times.
type Serial struct {
	plan  *Plan
	join  []uint32
	ready []uint32
}

// NewSerial allocates the memory for walks of p.
func NewSerial(p *Plan) *Serial {
	return &Serial{plan: p, join: append([]uint32(nil), p.Join...), ready: make([]uint32, 0, len(p.Sources)+64)}
}

// Run runs every task once and returns how many ran. It stops at the first error.
func (s *Serial) Run(ctx context.Context) (ran int, err error) {
	p, join := s.plan, s.join
	ready := append(s.ready[:0], p.Sources...)
	slices.Reverse(ready)
	for len(ready) > 0 {
		t := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if err := p.Funcs[t](ctx); err != nil {
			copy(join, p.Join)
			return ran, err
		}
		ran++
		for _, n := range slices.Backward(p.Succ[p.Off[t]:p.Off[t+1]]) {
			if join[n]--; join[n] == 0 {
				join[n] = p.Join[n]
				ready = append(ready, n)
			}
		}
	}
	s.ready = ready
	return ran, nil
}
