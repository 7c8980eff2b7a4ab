package cluster_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
)

var errDead = errors.New("this worker is dead")

// A mortal is what a worker does at its queue, step by step, until it dies at one of them. The worker itself goes on,
// and reaches nothing any more. The end of its leases does not depend on time: what it has is given back when it dies.
type mortal struct {
	at    int  // the step at which it dies, from 1 on; 0: never
	after bool // the last step has its effect, and no answer

	mu    sync.Mutex
	steps int
	dead  chan struct{} // closed at the death
}

func newMortal(at int, after bool) *mortal {
	return &mortal{at: at, after: after, dead: make(chan struct{})}
}

// into returns the configuration of a worker that dies as m does.
func (m *mortal) into(c cluster.WorkerConfig) cluster.WorkerConfig {
	return c.Between(
		func(s protocol.Store) protocol.Store { return &mortalStore{s, m} },
		func(d protocol.Delivery) protocol.Delivery { return &mortalDelivery{d, m} })
}

// die ends the worker.
func (m *mortal) die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.isDead() {
		close(m.dead)
	}
}

func (m *mortal) isDead() bool {
	select {
	case <-m.dead:
		return true
	default:
		return false
	}
}

// count returns how many steps there were.
func (m *mortal) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.steps
}

// step does a step, unless the worker is dead.
func (m *mortal) step(f func() error) error {
	m.mu.Lock()
	if m.isDead() {
		m.mu.Unlock()
		return errDead
	}
	m.steps++
	last := m.steps == m.at
	m.mu.Unlock()
	if !last {
		return f()
	}
	if m.after {
		_ = f() // nobody gets the answer
	}
	m.die()
	return errDead
}

// A mortalStore is the Store of a mortal.
type mortalStore struct {
	protocol.Store
	m *mortal
}

func (s *mortalStore) Get(ctx context.Context, keys ...string) (found []protocol.Record, err error) {
	err = s.m.step(func() error { found, err = s.Store.Get(ctx, keys...); return err })
	return found, err
}

func (s *mortalStore) Create(ctx context.Context, key string, value []byte) error {
	return s.m.step(func() error { return s.Store.Create(ctx, key, value) })
}

func (s *mortalStore) Update(ctx context.Context, key string, value []byte, revision uint64) error {
	return s.m.step(func() error { return s.Store.Update(ctx, key, value, revision) })
}

// Publish publishes the messages in steps of their own.
func (s *mortalStore) Publish(ctx context.Context, posts ...protocol.Post) error {
	for _, p := range posts {
		if err := s.m.step(func() error { return s.Store.Publish(ctx, p) }); err != nil {
			return err
		}
	}
	return nil
}

func (s *mortalStore) PutObject(ctx context.Context, value []byte) (hash string, err error) {
	err = s.m.step(func() error { hash, err = s.Store.PutObject(ctx, value); return err })
	return hash, err
}

func (s *mortalStore) GetObject(ctx context.Context, hash string) (value []byte, err error) {
	err = s.m.step(func() error { value, err = s.Store.GetObject(ctx, hash); return err })
	return value, err
}

func (s *mortalStore) Bury(ctx context.Context, l protocol.Letter) error {
	return s.m.step(func() error { return s.Store.Bury(ctx, l) })
}

// A mortalDelivery is a Delivery to a mortal.
type mortalDelivery struct {
	protocol.Delivery
	m *mortal
}

func (d *mortalDelivery) Ack(ctx context.Context) error {
	err := d.m.step(func() error { return d.Delivery.Ack(ctx) })
	if err != nil {
		d.leaseEnds()
	}
	return err
}

func (d *mortalDelivery) Nak(ctx context.Context, delay time.Duration) error {
	err := d.m.step(func() error { return d.Delivery.Nak(ctx, delay) })
	if err != nil {
		d.leaseEnds()
	}
	return err
}

// leaseEnds does what the server does when the lease of a dead worker ends.
func (d *mortalDelivery) leaseEnds() { _ = d.Delivery.Nak(context.Background(), 0) }

// A forgetful worker loses the first acknowledgement of each message: it is delivered again at once.
type forgetful struct {
	protocol.Delivery
}

func (d *forgetful) Ack(ctx context.Context) error {
	if d.Deliveries() == 1 {
		return d.Delivery.Nak(ctx, 0)
	}
	return d.Delivery.Ack(ctx)
}

// A twice publishes each message twice when it is published first. More would be more with each partition on the way.
type twice struct {
	protocol.Store
	was *sync.Map // IDs
}

func (s *twice) Publish(ctx context.Context, posts ...protocol.Post) error {
	var all []protocol.Post
	for _, p := range posts {
		if _, was := s.was.LoadOrStore(p.ID, true); !was {
			p.ID = "" // by which the server would drop the second
			all = append(all, p)
		}
		all = append(all, p)
	}
	return s.Store.Publish(ctx, all...)
}
