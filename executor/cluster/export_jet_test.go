package cluster

import (
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
)

// Mending is how often a client of a test looks whether a run stands still.
func (c ClientConfig) Mending(every time.Duration) ClientConfig {
	c.seams.mendEvery = every
	return c
}

// Between puts a function of a test between a client and its queue, for what submits.
func (c ClientConfig) Between(store func(protocol.Store) protocol.Store) ClientConfig {
	c.seams.store = store
	return c
}

// Between puts functions of a test between a worker and its queue.
func (c WorkerConfig) Between(store func(protocol.Store) protocol.Store,
	delivery func(protocol.Delivery) protocol.Delivery) WorkerConfig {
	c.seams.store, c.seams.delivery = store, delivery
	return c
}
