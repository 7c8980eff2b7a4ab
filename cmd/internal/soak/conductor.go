package main

import (
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A disturbance is an activity in the process beside the runs. begin starts it. end stops it and leaves everything as
// it was.
type disturbance struct {
	name    string
	missing string // why it does not exist here; "" if it does
	begin   func(s *soak, rng *rand.Rand) (end func(), err error)
}

// A conductor switches disturbances on and off.
type conductor struct {
	soak  *soak
	times []atomic.Int64 // how often each was switched on
	beset atomic.Int64   // how often a competitor ran beside nice workers

	mu sync.Mutex
	on []string
}

func newConductor(s *soak) *conductor {
	return &conductor{soak: s, times: make([]atomic.Int64, len(s.storms))}
}

// begin switches disturbances on and off until end is called.
func (c *conductor) begin() (end func()) {
	stop := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		rng := c.soak.rng(streamChaos, 0)
		for {
			// A round has each disturbance once, alone or beside others, and perhaps a quiet spell.
			deck := rng.Perm(len(c.soak.storms))
			for len(deck) > 0 {
				n := min(len(deck), 1+rng.IntN(3))
				if !c.phase(deck[:n], rng, stop) {
					return
				}
				deck = deck[n:]
			}
			if quiet := len(c.soak.storms) == 0 || rng.IntN(2) == 0; quiet && !c.phase(nil, rng, stop) {
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// phase has these disturbances on for about a tenth of a second. It reports whether another phase is to follow.
func (c *conductor) phase(which []int, rng *rand.Rand, stop <-chan struct{}) bool {
	var ends []func()
	var names []string
	for _, i := range which {
		d := &c.soak.storms[i]
		own := rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
		if d.missing != "" {
			continue
		}
		end, err := d.begin(c.soak, own)
		if err != nil {
			c.soak.fail(err)
			continue
		}
		if d.name == competitor && c.soak.nice.Load() > 0 {
			c.beset.Add(1)
		}
		c.times[i].Add(1)
		ends = append(ends, end)
		names = append(names, d.name)
	}
	c.show(names)
	timer := time.NewTimer(time.Duration(50+rng.IntN(100)) * time.Millisecond)
	defer timer.Stop()
	goOn := true
	select {
	case <-timer.C:
	case <-stop:
		goOn = false
	}
	for _, end := range ends {
		end()
	}
	c.show(nil)
	return goOn
}

func (c *conductor) show(names []string) {
	c.mu.Lock()
	c.on = names
	c.mu.Unlock()
}

// what returns the names of the disturbances that are on.
func (c *conductor) what() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.on) == 0 {
		return "nothing"
	}
	return strings.Join(c.on, ", ")
}
