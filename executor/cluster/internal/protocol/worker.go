package protocol

import (
	"context"
	"errors"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// Limits are what a queue allows. All its workers have the same.
type Limits struct {
	Lost    int           // how many workers may be lost with a message, beyond the first, before it is poison
	Missing int           // how often a plan or an input may be missing before the run fails
	Wait    time.Duration // an older Start message begins no run: at most half of the time that states are kept
	Width   int           // a set of more members is cut into blocks; at least 2
	Delay   time.Duration // before a message is delivered again; doubles with each delivery, up to 64 times as long
}

// Defaults are arbitrary: they have worked in the tests with real servers.
var Defaults = Limits{Lost: 3, Missing: 8, Wait: 12 * time.Hour, Width: 8, Delay: time.Second}

// A Worker handles deliveries. Any thread.
type Worker struct {
	Name   string
	Store  Store
	States States
	Plans  Plans
	Runner Runner
	Limits Limits

	// Each calls f(0) … f(n-1), in any order and on any threads, until one fails, and returns an error of theirs.
	Each func(n int, f func(i int) error) error
}

// Plans has the plans of runs, of which a worker needs few, often.
type Plans interface {
	// Plan returns the plan with that content hash. Its error wraps ErrMissing if there is none, and those of package
	// wire if it cannot be read.
	Plan(ctx context.Context, hash string) (*wire.Plan, error)
}

// A job is a delivery that a worker handles.
type job struct {
	*Worker
	d       Delivery
	m       wire.Message
	counted bool // among the lost ones, until it comes to an end

	// Of the message of a partition.
	state wire.State
	plan  *wire.Plan
	part  *wire.PlanPart
}

// Handle does what a message asks for, and acknowledges it, or asks for another delivery, or leaves that to the end of
// the lease. Its error is for people: nothing is to be done about it. Any thread.
func (w *Worker) Handle(ctx context.Context, d Delivery) error {
	m, err := wire.DecodeMessage(d.Raw())
	j := &job{Worker: w, d: d, m: m}
	switch {
	case errors.Is(err, wire.ErrNewer): // a newer worker can read it
		return j.again(ctx, err)
	case err != nil:
		return j.reject(ctx, err)
	case m.Kind == wire.Start:
		err = j.start(ctx)
	default:
		err = j.run(ctx)
	}
	err = j.account(context.WithoutCancel(ctx), err)
	if errors.Is(err, errForeign) {
		return j.reject(ctx, err)
	}
	if errors.Is(err, wire.ErrMalformed) {
		err = j.fatal(true, wire.Corrupt, err.Error())
	}
	var f *fatal
	if errors.As(err, &f) {
		err = j.fail(ctx, f)
	}
	if err != nil && !errors.Is(err, ErrEnded) {
		return j.again(ctx, err)
	}
	return d.Ack(ctx) // P4: last
}

// errForeign: no worker or submitter of this queue has written the message.
var errForeign = errors.New("foreign message")

// reject makes a dead letter of a message that no run can be made to fail for. The letter comes before the ack (P5).
func (j *job) reject(ctx context.Context, err error) error {
	if buried := j.bury(ctx, err, ""); buried != nil {
		return j.again(ctx, buried)
	}
	return errors.Join(err, j.d.Ack(ctx))
}

// again has the message delivered again because of err, which it returns.
func (j *job) again(ctx context.Context, err error) error {
	delay := j.Limits.Delay << min(j.d.Deliveries()-1, 6)
	if ctx.Err() != nil { // this worker ends, and another one need not wait
		delay = 0
	}
	return errors.Join(err, j.d.Nak(context.WithoutCancel(ctx), delay))
}
