package cluster

import "github.com/magpie-go/magpie/executor/cluster/internal/protocol"

// Between puts functions of a test between a worker and its queue.
func (c WorkerConfig) Between(store func(protocol.Store) protocol.Store,
	delivery func(protocol.Delivery) protocol.Delivery) WorkerConfig {
	c.seams = seams{store, delivery}
	return c
}
