package jet

import (
	"context"
	"sync"

	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// Plans implements protocol.Plans: it keeps the plans that were used last.
type Plans struct {
	store protocol.Store
	most  int // bytes of plans, encoded

	mu    sync.Mutex
	bytes int
	clock uint64
	plans map[string]*plan
}

type plan struct {
	sync.Mutex // of the one that loads it
	*wire.Plan
	bytes int
	used  uint64
}

// NewPlans returns a cache of plans of so many bytes. The plan that is in use stays, however large.
func NewPlans(store protocol.Store, most int) *Plans {
	return &Plans{store: store, most: most, plans: map[string]*plan{}}
}

// Plan implements protocol.Plans. Callers that need a plan at the same time load it once.
func (p *Plans) Plan(ctx context.Context, hash string) (*wire.Plan, error) {
	p.mu.Lock()
	e := p.plans[hash]
	if e == nil {
		e = &plan{}
		p.plans[hash] = e
	}
	p.clock++
	e.used = p.clock
	p.mu.Unlock()

	e.Lock()
	defer e.Unlock()
	if e.Plan != nil {
		return e.Plan, nil
	}
	data, err := p.store.GetObject(ctx, hash)
	if err == nil {
		e.Plan, err = wire.DecodePlan(data)
	}
	if err != nil {
		e.Plan = nil
		p.remove(hash, e)
		return nil, err
	}
	p.loaded(hash, e, len(data))
	return e.Plan, nil
}

func (p *Plans) remove(hash string, e *plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plans[hash] == e {
		delete(p.plans, hash)
	}
}

// loaded counts a plan, and forgets those that were used least recently.
func (p *Plans) loaded(hash string, e *plan, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plans[hash] != e { // an error of another caller has removed it
		return
	}
	e.bytes = bytes
	p.bytes += bytes
	for p.bytes > p.most {
		var oldest *plan
		var name string
		for hash, o := range p.plans {
			if o != e && o.bytes > 0 && (oldest == nil || o.used < oldest.used) {
				oldest, name = o, hash
			}
		}
		if oldest == nil {
			return
		}
		delete(p.plans, name)
		p.bytes -= oldest.bytes
	}
}
