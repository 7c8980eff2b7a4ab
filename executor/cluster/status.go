package cluster

import (
	"context"
	"fmt"
)

// A WorkerStatus is what a worker has said of itself a short time ago.
type WorkerStatus struct {
	Name      string
	Functions map[string]Signature
	Slots     int
	Busy      int       // slots in use
	Done      int64     // messages handled since it began
	Running   []Running // partitions, those first that were begun first: at most 64
}

// Workers returns the workers that serve the queue, in the order of their names.
func (c *Client) Workers(ctx context.Context) ([]WorkerStatus, error) {
	notices, err := c.crew.now(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	all := make([]WorkerStatus, len(notices))
	for i, n := range notices {
		all[i] = WorkerStatus{n.Worker, n.Functions, n.Slots, n.Busy, n.Done, n.Running}
	}
	return all, nil
}

// A Backlog is what waits in a queue.
type Backlog struct {
	Waiting uint64 // messages that no worker has
	Leased  uint64 // messages that workers have, or that wait for another attempt
	Dead    uint64 // messages that were given up
}

// Backlog returns what waits in the queue.
func (c *Client) Backlog(ctx context.Context) (Backlog, error) {
	b, err := c.q.Backlog(ctx)
	if err != nil {
		return Backlog{}, fmt.Errorf("cluster: %w", err)
	}
	return Backlog(b), nil
}
