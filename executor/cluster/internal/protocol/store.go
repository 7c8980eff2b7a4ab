// Package protocol is what a submitter and a worker do with the streams of a queue, step by step. It knows nothing of
// NATS and nothing of functions: it works on a Store, and has partitions run by a Runner. So the explorer of its tests
// runs the same code, with every order of steps and a crash after each. PROTOCOL.md of package cluster says why each
// step is where it is; tags such as P1 are defined there.
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
	ErrMissing  = errors.New("there is no such object") // GetObject
)

// ErrEnded is the cause of the contexts of States.Until that are cancelled.
var ErrEnded = errors.New("the run has ended")

// A Record is what Get has found under a key.
type Record struct {
	Value    []byte
	Revision uint64 // 0: there is no record
}

// A Post is a message for the work queue, on the subject of its class.
type Post struct {
	Class   string
	Message wire.Message
	ID      string // for the server, which may drop a message whose ID it has seen a short time ago; nothing relies on it
	Trace   wire.Trace
}

// A Store is what the server holds of one queue. Each method may be in doubt: after an error other than those above its
// effect may have taken place or not, or may take place later. Any thread.
//
// Records are named by keys, see keys.go. Create and Update are atomic. Get may return an older revision than the
// newest, or none: reads are not linearizable where replicas answer them. A Store should ask the leader for the keys
// that change, which Changes reports.
type Store interface {
	// Get returns the records of the keys, in their order. It need not read them at the same moment.
	Get(ctx context.Context, keys ...string) ([]Record, error)
	Create(ctx context.Context, key string, value []byte) error
	Update(ctx context.Context, key string, value []byte, revision uint64) error

	// Pause waits before another attempt at a compare-and-set, from 1: a random time, which grows. It returns early, with
	// an error, if ctx ends.
	Pause(ctx context.Context, attempt int) error

	// Publish appends messages to the work queue. It need not append them at the same moment, nor in order, and if it
	// fails it may have appended some.
	Publish(ctx context.Context, posts ...Post) error

	// PutObject stores value under the hash of its content, which it returns. GetObject is its inverse.
	PutObject(ctx context.Context, value []byte) (hash string, err error)
	GetObject(ctx context.Context, hash string) ([]byte, error)

	// Bury appends a message that is given up to the dead letters.
	Bury(ctx context.Context, l Letter) error
}

// A Letter is a message that is given up, and why.
type Letter struct {
	Raw        []byte
	Deliveries uint64 // of the message
	Why        string
	ID         string // as that of a Post
}

// States is what a worker has seen of the states of runs: it watches their records. Any thread.
type States interface {
	// Known returns a revision of the state of run that was seen, or no record.
	Known(run string) Record

	// Until returns a context that is cancelled, with the cause ErrEnded, once the state of run is seen to be final.
	// The caller calls stop when it does not need the context any more.
	Until(ctx context.Context, run string) (until context.Context, stop context.CancelFunc)
}

// A Delivery is a message that the queue has leased to this worker. The worker renews the lease while Handle runs.
type Delivery interface {
	Raw() []byte
	Deliveries() uint64                                 // how often the message was delivered, this one included
	Stored() time.Time                                  // when the server stored it, by the server's clock
	Age() time.Duration                                 // how long ago that is at least, whatever the clocks say
	Trace() wire.Trace                                  // of the message that it was published as
	Ack(ctx context.Context) error                      // it was handled; if that is lost, it is delivered again
	Nak(ctx context.Context, delay time.Duration) error // it is to be delivered again, after the delay
}

// A Runner runs the tasks of a partition. Any thread.
type Runner interface {
	// Run runs partition part of the plan, and returns its output, or a *TaskError if a function has failed. inputs are
	// the outputs of its predecessors, in the order of PlanPart.Preds. Values beyond the limit of records are in the
	// object store already. Any other error is one of this worker, or of the store: the partition is tried again.
	Run(ctx context.Context, run string, plan *wire.Plan, part int, inputs []wire.Output) (wire.Output, error)
}

// A TaskError is the failure of a function.
type TaskError struct {
	Task      string
	Err       error
	Permanent bool // trying again is of no use: the result does not encode, or the function says so
}

func (e *TaskError) Error() string { return "task " + e.Task + ": " + e.Err.Error() }

func (e *TaskError) Unwrap() error { return e.Err }
