package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// A chore is work of another kind than a graph of plain tasks, done once: a number of units, one of which may fail.
type chore struct {
	*driver
	ctx    context.Context
	cancel context.CancelCauseFunc
	name   string
	units  int64
	ran    atomic.Int64
	at     int64 // the unit that fails, from 1; 0: none
	fault  fault
	struck atomic.Bool
	limits []*limit
}

// A limit is a semaphore, with a count of the tasks that it has let pass.
type limit struct {
	semaphore *graph.Semaphore
	permits   int64
	inside    atomic.Int64
}

// choreKinds are the kinds of chores. do does a chore of about n units. It returns the run's result, or errWrongValue
// if the run has computed a wrong value. It sets units before it begins.
var choreKinds = []struct {
	name string
	do   func(c *chore, n int) error
}{
	{"forks", (*chore).forks},
	{"scopes", (*chore).scopes},
	{"futures", (*chore).futures},
	{"pipelines", (*chore).pipeline},
	{"conditions, subflows and modules", (*chore).flow},
}

// chores does chores of all kinds, from several goroutines on an executor of its own. The number of tasks of a fork or
// a subflow is not known in advance, so the executor's Stats are not checked.
func (d *driver) chores() {
	l, err := d.open(drawConfig(d.rng, d.every))
	if err != nil {
		d.fail(err)
		return
	}
	l.uncounted = true
	limits := make([]*limit, 3)
	for i := range limits {
		permits := 1 + i
		limits[i] = &limit{semaphore: graph.NewSemaphore(permits), permits: int64(permits)}
	}
	var all sync.WaitGroup
	for range 1 + d.rng.IntN(4) {
		sub := d.fork()
		sub.life = l
		all.Go(func() {
			for range 8 {
				sub.chore(limits)
			}
		})
	}
	all.Wait()
	d.close(l)
}

func (d *driver) chore(limits []*limit) {
	kind := d.rng.IntN(len(choreKinds))
	c := &chore{driver: d, name: choreKinds[kind].name, limits: limits}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	defer c.cancel(nil)
	n := 1 + d.rng.IntN(200)
	if d.rng.IntN(4) == 0 {
		c.at = 1 + d.rng.Int64N(int64(n))
		c.fault = fault{faults[d.rng.IntN(len(faults))], uint32(c.at)}
		if c.fault.act == actGoexit && d.life.cfg.Callers != executor.IdleCallers {
			c.fault.act = actPanic // Goexit of a unit that the driver itself runs would end the driver
		}
	}
	err := choreKinds[kind].do(c, n)
	if wrong := c.explain(err); wrong != "" {
		d.fail(fmt.Errorf("%s on %v: %s: %d of %d units ran, fault %v, struck %v: %+v",
			c.name, d.life, wrong, c.ran.Load(), c.units, &c.fault, c.struck.Load(), err))
	}
	d.chored[kind].Add(1)
	d.done.Add(c.ran.Load())
	d.pulse.Add(1)
}

var errWrongValue = errors.New("a wrong value")

// explain returns what is wrong with a result, or "".
func (c *chore) explain(err error) string {
	ran, struck := c.ran.Load(), c.struck.Load()
	cause := error(&c.fault)
	if c.fault.act == actGoexit {
		cause = executor.ErrGoexit
	}
	switch {
	case ran > c.units:
		return "too many units ran"
	case errors.Is(err, errWrongValue):
		return "the result is wrong"
	case err == nil && struck && c.fault.act != actCancel:
		return "the fault is not told"
	case err == nil && ran != c.units:
		return "no error, and not all units ran"
	case err != nil && !(struck && errors.Is(err, cause)):
		return "an error for no reason"
	}
	return ""
}

// unit is the body of each unit.
func (c *chore) unit() error {
	n := c.ran.Add(1)
	if n%pulseEvery == 0 {
		c.pulse.Add(1)
	}
	if n != c.at {
		return nil
	}
	c.struck.Store(true)
	switch c.fault.act {
	case actCancel:
		c.cancel(&c.fault)
		return nil
	case actPanic:
		panic(&c.fault)
	case actGoexit:
		runtime.Goexit()
	}
	return &c.fault
}

// must is unit for functions that return no error.
func (c *chore) must() {
	if err := c.unit(); err != nil {
		panic(err)
	}
}

// limited is a unit that holds a permit of l.
func (c *chore) limited(l *limit) error {
	defer l.inside.Add(-1)
	if l.inside.Add(1) > l.permits {
		c.fail(fmt.Errorf("%s on %v: more tasks than the %d permits of a semaphore run at once",
			c.name, c.life, l.permits))
	}
	return c.unit()
}

func (c *chore) drawLimit(rng *rand.Rand) *limit { return c.limits[rng.IntN(len(c.limits))] }
