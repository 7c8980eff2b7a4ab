package jet

import (
	"context"
	"sync"
	"time"
)

// A Pool hands the messages of some classes to a handler, as many at a time as it has slots. It renews the lease of a
// message until the handler returns.
type Pool struct {
	handle func(context.Context, *Delivery)
	report func(error)
	free   chan struct{} // a token for each slot that is free

	// Lost is called when a lease has ended before its message was handled, as far as this side knows: it was not renewed
	// for so long. It may be nil, and does not change once the pool serves a class.
	Lost func()

	pulling  context.Context // of the pulls
	stopPull context.CancelFunc
	handling context.Context // of the handlers
	stopWork context.CancelFunc
	pulls    sync.WaitGroup
	handlers sync.WaitGroup
}

const (
	// poll is how long one request waits for a message. Arbitrary: the server is asked again afterwards.
	poll = 30 * time.Second
	// pause is how long a pull waits that has failed. Arbitrary.
	pause = 250 * time.Millisecond
)

// NewPool returns a pool with so many slots. It takes no messages yet. report is told of errors, which are tried again.
func NewPool(slots int, handle func(context.Context, *Delivery), report func(error)) *Pool {
	p := &Pool{handle: handle, report: report, free: make(chan struct{}, slots)}
	for range slots {
		p.free <- struct{}{}
	}
	p.pulling, p.stopPull = context.WithCancel(context.Background())
	p.handling, p.stopWork = context.WithCancel(context.Background())
	return p
}

// Serve begins to take the messages of a class, which it opens.
func (p *Pool) Serve(c *Class) {
	p.pulls.Go(func() {
		if p.open(c) {
			p.pull(c)
		}
	})
}

// Stop takes no more messages, and returns when those that were taken are handled. When ctx ends, the contexts of their
// handlers do.
func (p *Pool) Stop(ctx context.Context) {
	defer context.AfterFunc(ctx, p.stopWork)()
	p.stopPull()
	p.pulls.Wait() // some seconds, if the server is silent
	p.handlers.Wait()
	p.stopWork()
}

// pull takes the messages of a class until the pool stops, or the connection is closed. While messages wait, it asks
// for as many as there are free slots. Otherwise it asks for one, without a slot: it would keep the slot from other
// classes. One that then comes waits for a slot with its lease renewed.
func (p *Pool) pull(c *Class) {
	for {
		n := p.take()
		if n == 0 {
			return
		}
		had := n
		err := c.Now(n, func(d *Delivery) {
			n--
			p.start(p.renew(c, d), d)
		})
		for range n {
			p.free <- struct{}{}
		}
		if err == nil && n == had {
			err = c.Next(p.pulling, poll, func(d *Delivery) { p.startWithSlot(p.renew(c, d), d) })
		}
		if err != nil && !p.mend(c, err) {
			return
		}
	}
}

// take takes a slot, and all others that are free. It returns how many, and 0 if the pool stops.
func (p *Pool) take() (n int) {
	select {
	case <-p.pulling.Done():
		return 0
	case <-p.free:
		n = 1
	}
	for {
		select {
		case <-p.free:
			n++
		default:
			if p.pulling.Err() != nil {
				for range n {
					p.free <- struct{}{}
				}
				return 0
			}
			return n
		}
	}
}

// start handles a message in a slot that was taken. stop ends the renewals of its lease.
func (p *Pool) start(stop func(), d *Delivery) {
	p.handlers.Go(func() {
		defer func() { stop(); p.free <- struct{}{} }()
		p.handle(p.handling, d)
	})
}

// startWithSlot waits for a slot, and handles a message. If the pool stops meanwhile, another worker gets it.
func (p *Pool) startWithSlot(stop func(), d *Delivery) {
	select {
	case <-p.free:
		p.start(stop, d)
	case <-p.pulling.Done():
		stop()
		if err := d.Nak(context.Background(), 0); err != nil {
			p.report(err)
		}
	}
}

// mend opens the class again after an error of a pull: its consumer may be gone. It reports what open does.
func (p *Pool) mend(c *Class, err error) bool {
	if c.q.nc.IsClosed() {
		return false
	}
	p.report(err)
	return p.rest() && p.open(c)
}

// open opens the class. While the server cannot, it tries again. It reports whether it could before the pool stopped or
// the connection was closed.
func (p *Pool) open(c *Class) bool {
	for {
		err := c.Open(p.pulling)
		switch {
		case err == nil:
			return true
		case p.pulling.Err() != nil, c.q.nc.IsClosed():
			return false
		}
		p.report(err)
		if !p.rest() {
			return false
		}
	}
}

// rest waits before another try, and reports whether there is to be one.
func (p *Pool) rest() bool {
	select {
	case <-p.pulling.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// renew renews the lease of a delivery, three times as often as it must be, until stop is called.
func (p *Pool) renew(c *Class, d *Delivery) (stop func()) {
	var (
		mu      sync.Mutex
		stopped bool
		timer   *time.Timer
		lease   = c.lease // Open may write it meanwhile
		third   = lease / 3
		last    = time.Now() // when the lease was renewed
		lost    bool
	)
	look := func() {
		if !lost && time.Since(last) > lease && p.Lost != nil {
			p.Lost()
			lost = true
		}
	}
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(third, func() {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return
		}
		look()
		err := d.Extend(context.Background()) // without it the message is delivered to another worker too
		if err == nil && c.q.nc.IsConnected() {
			last = time.Now()
		}
		timer.Reset(third)
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		look()
		stopped = true
		timer.Stop()
	}
}
