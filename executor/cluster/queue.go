package cluster

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/jet"
	"github.com/nats-io/nats.go"
)

// A Queue says which queue a [Client] or a [Worker] uses. The first of them to come makes its streams, and the others
// find them as they are: of their Queue only the name counts. Their Report is told how it differs otherwise.
type Queue struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// Name is the name of the queue: letters, digits, - and _. The default is "default".
	Name string

	// Replicas is how many servers hold each stream: 1, 3 or 5. The default is 1.
	Replicas int

	// Keep is how long a run may take, and how long its results are kept after its end. The default is a day, and the
	// least ten seconds.
	Keep time.Duration

	// Lease is how long the server waits for a worker that is silent before it hands the worker's partitions to others.
	// The default is 30 seconds, and the least 100 milliseconds.
	Lease time.Duration
}

// Arbitrary: less than a message may be on its way to a busy server.
const (
	minKeep  = 10 * time.Second
	minLease = 100 * time.Millisecond
)

// open opens the queue. report is told where it differs from what q asks for.
func (q Queue) open(ctx context.Context, nc *nats.Conn, report func(error)) (*jet.Queue, error) {
	c := jet.Config{
		Queue:    cmp.Or(q.Name, "default"),
		Replicas: cmp.Or(q.Replicas, 1),
		Keep:     cmp.Or(q.Keep, 24*time.Hour),
		Lease:    cmp.Or(q.Lease, 30*time.Second),
	}
	if c.Keep < minKeep || c.Lease < minLease {
		return nil, fmt.Errorf("queue %s: Keep is %v and Lease is %v: the least are %v and %v", c.Queue, c.Keep, c.Lease,
			minKeep, minLease)
	}
	opened, err := jet.Open(ctx, nc, c)
	if err != nil {
		return nil, err
	}
	if others := q.others(opened.Config()); len(others) > 0 {
		report(fmt.Errorf("queue %s: %s: its first user has decided that; to change it, stop its workers and "+
			"clients, and remove its streams, with all runs and dead letters: %s", c.Queue, strings.Join(others, "; "),
			strings.Join(opened.StreamNames(), ", ")))
	}
	return opened, nil
}

// others says which values of q the queue does not have. A zero asks for nothing.
func (q Queue) others(has jet.Config) (others []string) {
	note := func(name string, asked, has any) {
		others = append(others, fmt.Sprintf("%s is %v, and %v was asked for", name, has, asked))
	}
	if q.Replicas != 0 && q.Replicas != has.Replicas {
		note("Replicas", q.Replicas, has.Replicas)
	}
	if q.Keep != 0 && q.Keep != has.Keep {
		note("Keep", q.Keep, has.Keep)
	}
	if q.Lease != 0 && q.Lease != has.Lease {
		note("Lease", q.Lease, has.Lease)
	}
	return others
}
