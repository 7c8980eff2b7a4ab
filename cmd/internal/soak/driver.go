package main

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
)

// A driver plays one scenario after the other on an executor of its own, which it replaces now and then.
type driver struct {
	*soak
	number int
	ctx    context.Context // of the whole soak
	rng    *rand.Rand
	pulse  *atomic.Int64
	life   *life
}

func (s *soak) newDriver(ctx context.Context, i int) *driver {
	return &driver{soak: s, number: i, ctx: ctx, rng: s.rng(streamDriver, uint64(i)), pulse: &s.pulses[i].Int64}
}

func (d *driver) ended() bool { return d.ctx.Err() != nil || d.done.Load() >= d.tasks }

// work plays scenarios until the soak ends. It plays each equally often, in random order.
func (d *driver) work() {
	for !d.ended() {
		var err error
		cfg := drawConfig(d.rng, d.every)
		if d.number == 0 && niceToo {
			cfg.Threads.Nice = 19 // so that there always is one with nice workers
		}
		if d.life, err = d.open(cfg); err != nil {
			d.fail(err)
			return
		}
		for range 1 + d.rng.IntN(2) {
			for _, i := range d.rng.Perm(len(d.play)) {
				if d.ended() {
					break
				}
				d.playOne(i)
			}
		}
		d.close(d.life)
		d.pulse.Add(1)
	}
}

func (d *driver) playOne(i int) {
	d.play[i].do(d)
	d.played[i].Add(1)
	d.pulse.Add(1)
}

// fork returns a driver for another goroutine, on the same executor.
func (d *driver) fork() *driver {
	sub := *d
	sub.rng = rand.New(rand.NewPCG(d.rng.Uint64(), d.rng.Uint64()))
	return &sub
}

// trip returns a trip of this driver with the given plan.
func (d *driver) trip(plan []planned) trip {
	return trip{life: d.life, pulse: d.pulse, plan: plan}
}
