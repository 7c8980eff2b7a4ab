package cluster

import "github.com/magpie-go/magpie/executor/cluster/internal/protocol"

// Between puts a function of a test between a client and its queue, for what submits.
func (c ClientConfig) Between(store func(protocol.Store) protocol.Store) ClientConfig {
	c.seams.store = store
	return c
}

// Between puts functions of a test between a worker and its queue.
func (c WorkerConfig) Between(store func(protocol.Store) protocol.Store,
	delivery func(protocol.Delivery) protocol.Delivery) WorkerConfig {
	c.seams = seams{store, delivery}
	return c
}
