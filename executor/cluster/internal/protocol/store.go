// Package protocol is what a submitter and a worker do with the streams of a queue, step by step. It knows nothing of
// NATS and nothing of functions: it works on a Store, and has partitions run by a Runner. So the explorer of its tests
// runs the same code, with every order of steps and a crash after each.
package protocol

import (
	"context"
	"errors"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// Errors of a Store.
var (
	ErrExists   = errors.New("the record exists")       // Create
	ErrConflict = errors.New("the record has changed")  // Update: its revision is another one
	ErrMissing  = errors.New("there is no such record") // Get
)

// A Store is what the server holds of one queue. Each method is one round trip, is atomic, and may be in doubt: if it
// returns an error other than those above, its effect may have taken place or not, or take place later. Any thread.
//
// Records are named by keys, see keys.go. Get may return an older revision than the newest: reads are not linearizable
// where replicas answer them. Create and Update are.
type Store interface {
	Get(ctx context.Context, key string) (value []byte, revision uint64, err error)
	Create(ctx context.Context, key string, value []byte) error
	Update(ctx context.Context, key string, value []byte, revision uint64) error

	// Publish appends a message to the work queue, on the subject of the class. id is for the server, which may drop a
	// message with an id that it has seen a short time ago. Nothing relies on that.
	Publish(ctx context.Context, class string, m wire.Message, id string) error

	// PutObject stores value under the hash of its content, which it returns. GetObject is its inverse.
	PutObject(ctx context.Context, value []byte) (hash string, err error)
	GetObject(ctx context.Context, hash string) ([]byte, error)

	// Bury appends a message that is given up, and why, to the dead letters.
	Bury(ctx context.Context, raw []byte, why string, id string) error
}

// A Delivery is a message that the queue has leased to this worker.
type Delivery interface {
	Raw() []byte
	Deliveries() uint64                                 // how often the message was delivered, this one included
	Stored() time.Time                                  // when the server stored it, by the server's clock
	Age() time.Duration                                 // how long ago that is at least, whatever the clocks say
	Ack(ctx context.Context) error                      // it was handled; waits until the server has noted it
	Nak(ctx context.Context, delay time.Duration) error // it is to be delivered again, after the delay
	Extend() error                                      // renews the lease
}

// A Runner runs the tasks of a partition.
type Runner interface {
	// Run runs partition part of the plan with the inputs of its predecessors, and returns its output.
	Run(ctx context.Context, run string, plan *wire.Plan, part int, inputs []wire.Output) (wire.Output, error)
}
