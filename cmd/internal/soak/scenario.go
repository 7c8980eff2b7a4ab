package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/magpie-go/magpie/internal/dag"
	"github.com/magpie-go/magpie/internal/osthread"
)

// A scenario is one way to use an executor. do plays it to its end and checks all runs.
type scenario struct {
	name string
	do   func(d *driver)
}

var scenarios = []scenario{
	{"big graphs", (*driver).bigGraphs},
	{"small graphs from many goroutines", (*driver).swarm},
	{"one graph several times at once", (*driver).atOnce},
	{"nested runs", (*driver).nested},
	{"failing tasks", (*driver).failing},
	{"cancelled at a random moment", (*driver).cancelled},
	{"all kinds of work", (*driver).chores},
	{"several scenarios at once", (*driver).mixed},
	{"close during runs", (*driver).closeDuringRuns},
}

// bigGraphs runs graphs of thousands of tasks, each several times.
func (d *driver) bigGraphs() {
	times := min(max(1, d.tasks/4_000_000), 12) // so that a short soak plays everything too
	for range 6 {
		l := d.pool.takeBig(d.rng)
		for range times {
			l.prepare(d.trip(addDelays(nil, l.form, d.rng)))
			l.start(context.Background())
			l.finish()
			d.pulse.Add(1)
			if d.ended() {
				break
			}
		}
		d.pool.put(l)
	}
}

// swarm submits many small graphs from many goroutines.
func (d *driver) swarm() {
	var all sync.WaitGroup
	for range 2 + d.rng.IntN(10) {
		sub := d.fork()
		all.Go(func() {
			for range 10 + sub.rng.IntN(50) {
				l := sub.pool.takeSmall(sub.rng)
				var plan []planned
				if sub.rng.IntN(4) == 0 {
					plan = addDelays(nil, l.form, sub.rng)
				}
				l.prepare(sub.trip(plan))
				l.start(context.Background())
				l.finish()
				sub.pool.put(l)
			}
		})
	}
	all.Wait()
}

type laneKey struct{}

// atOnce runs one graph several times at once. Tasks learn from their context which run they belong to.
func (d *driver) atOnce() {
	size := smallSize
	if d.rng.IntN(4) == 0 {
		size = 4000
	}
	f := newForm(dag.Draw(d.rng, 1+d.rng.IntN(size)))
	lanes := []*lane{newLane(d.soak, f, func(ctx context.Context) *lane { return ctx.Value(laneKey{}).(*lane) })}
	for range 1 + d.rng.IntN(5) {
		lanes = append(lanes, lanes[0].sibling())
	}
	var all sync.WaitGroup
	for _, l := range lanes {
		sub := d.fork()
		all.Go(func() {
			ctx := context.WithValue(context.Background(), laneKey{}, l)
			for range 8 {
				plan := addDelays(nil, f, sub.rng)
				if sub.rng.IntN(8) == 0 {
					plan = addActs(plan, f, sub.rng, 2, faults) // the other runs must not notice
				}
				l.prepare(sub.trip(plan))
				l.start(ctx)
				l.finish()
			}
		})
	}
	all.Wait()
}

// nested has tasks that start runs, and wait for them or leave them behind.
func (d *driver) nested() {
	for range 10 {
		l := d.takeAny()
		plan := addActs(nil, l.form, d.rng, 1+d.rng.IntN(20), nests)
		l.prepare(d.trip(addDelays(plan, l.form, d.rng)))
		l.start(context.Background())
		l.finish()
		d.pool.put(l)
	}
}

// failing has tasks that fail in every way, also beside nested runs.
func (d *driver) failing() {
	for range 10 {
		l := d.takeAny()
		plan := addActs(nil, l.form, d.rng, 1+d.rng.IntN(3), faults)
		if d.rng.IntN(2) == 0 {
			plan = addActs(plan, l.form, d.rng, d.rng.IntN(10), nests)
		}
		l.prepare(d.trip(addDelays(plan, l.form, d.rng)))
		l.start(context.Background())
		l.finish()
		d.pool.put(l)
	}
}

func (d *driver) takeAny() *lane {
	if d.rng.IntN(3) == 0 {
		return d.pool.takeBig(d.rng)
	}
	return d.pool.takeSmall(d.rng)
}

var errRandomMoment = errors.New("cancelled at a random moment")

// cancelled cancels runs from outside: by Cancel, by their context, by a deadline, or before they begin.
func (d *driver) cancelled() {
	for range 10 {
		l := d.takeAny()
		plan := addDelays(nil, l.form, d.rng)
		if d.rng.IntN(4) == 0 {
			plan = addActs(plan, l.form, d.rng, d.rng.IntN(4), nests)
		}
		l.prepare(d.trip(plan))
		after := time.Duration(d.rng.Int64N(200_000))
		if d.rng.IntN(4) == 0 {
			after *= 10
		}
		switch way := d.rng.IntN(4); way {
		case 0:
			l.mayBeCancelledBy(errRandomMoment)
			l.start(context.Background())
			pass(after)
			l.handle.Cancel(errRandomMoment)
			l.finish()
		case 1, 2:
			l.mayBeCancelledBy(errRandomMoment)
			ctx, cancel := context.WithCancelCause(context.Background())
			if way == 2 {
				cancel(errRandomMoment) // before it begins
			}
			l.start(ctx)
			pass(after)
			cancel(errRandomMoment)
			l.finish()
		case 3:
			l.mayBeCancelledBy(context.DeadlineExceeded)
			ctx, cancel := context.WithTimeout(context.Background(), after)
			l.start(ctx)
			l.finish()
			cancel()
		}
		d.pool.put(l)
	}
}

// pass spins for a time: a timer would be too coarse.
func pass(t time.Duration) {
	for start := time.Now(); time.Since(start) < t; {
		osthread.Yield()
	}
}

// mixed plays several scenarios at once on the same executor.
func (d *driver) mixed() {
	others := []func(*driver){
		(*driver).bigGraphs, (*driver).swarm, (*driver).atOnce, (*driver).nested, (*driver).failing,
		(*driver).cancelled, (*driver).chores,
	}
	var all sync.WaitGroup
	for _, i := range d.rng.Perm(len(others))[:2+d.rng.IntN(2)] {
		sub := d.fork()
		all.Go(func() { others[i](sub) })
	}
	all.Wait()
}

// closeDuringRuns closes an executor while goroutines start runs on it. Each run completes or finds it closed.
func (d *driver) closeDuringRuns() {
	for range 3 {
		l, err := d.open(drawConfig(d.rng, d.every))
		if err != nil {
			d.fail(err)
			return
		}
		l.closing.Store(true)
		var all sync.WaitGroup
		for range 1 + d.rng.IntN(4) {
			sub := d.fork()
			sub.life = l
			all.Go(func() { sub.runUntilClosed() })
		}
		pass(time.Duration(d.rng.Int64N(500_000)))
		d.close(l)
		all.Wait()
		if tasks := l.counted(); tasks != uint64(l.expected.Load()) {
			d.fail(errors.New("an executor ran tasks after it was closed"))
		}
	}
}

func (d *driver) runUntilClosed() {
	for closed := false; !closed; {
		l := d.pool.takeSmall(d.rng)
		plan := addDelays(nil, l.form, d.rng)
		if d.rng.IntN(2) == 0 {
			plan = addActs(plan, l.form, d.rng, 1+d.rng.IntN(3), nests)
		}
		l.prepare(d.trip(plan))
		l.start(context.Background())
		l.finish()
		closed = !l.began && l.Tasks > 0
		d.pool.put(l)
	}
}
