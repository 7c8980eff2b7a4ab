package main

import (
	"math/rand/v2"
	"sync"

	"github.com/magpie-go/magpie/internal/dag"
)

// A pool keeps lanes that no run uses. Building a graph costs many times what running it does, so each lane is used
// again and again. After a while it is replaced by one of a newly drawn form.
type pool struct {
	soak *soak

	mu    sync.Mutex
	small []spares
	big   []spares
}

// spares are the lanes of one form.
type spares struct {
	shape dag.Shape
	size  int // the maximum
	rng   *rand.Rand
	form  *form
	uses  int
	lanes []*lane
}

const (
	smallSize = 64
	bigSize   = 40_000
	formUses  = 300 // the uses after which the form is drawn anew
)

func newPool(s *soak) *pool {
	p := &pool{soak: s}
	for i, sh := range dag.Shapes {
		for j := range 3 {
			p.small = append(p.small, spares{shape: sh, size: smallSize, rng: s.rng(streamForms, uint64(8*i+j))})
		}
		p.big = append(p.big, spares{shape: sh, size: bigSize, rng: s.rng(streamForms, uint64(8*i+7))})
	}
	return p
}

// takeSmall takes a lane with few tasks, or none.
func (p *pool) takeSmall(rng *rand.Rand) *lane { return p.take(&p.small[rng.IntN(len(p.small))]) }

// takeBig takes a lane that has thousands of tasks, mostly.
func (p *pool) takeBig(rng *rand.Rand) *lane { return p.take(&p.big[rng.IntN(len(p.big))]) }

func (p *pool) take(s *spares) *lane {
	p.mu.Lock()
	if s.uses--; s.uses < 0 {
		s.uses, s.lanes = formUses, nil
		n := s.rng.IntN(s.size)
		if s.size == bigSize {
			n = max(n, s.rng.IntN(s.size))
		}
		s.form = newForm(s.shape.Draw(s.rng, n))
	}
	f := s.form
	var l *lane
	if last := len(s.lanes) - 1; last >= 0 {
		l, s.lanes = s.lanes[last], s.lanes[:last]
	}
	p.mu.Unlock()
	if l == nil {
		l = newLane(p.soak, f, nil)
		l.home = s
	}
	return l
}

// put gives a lane back.
func (p *pool) put(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.home.form == l.form {
		l.home.lanes = append(l.home.lanes, l)
	}
}
