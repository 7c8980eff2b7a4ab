package protocol

import (
	"context"
	"errors"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// Limits are what a queue allows. All its workers have the same.
type Limits struct {
	Lost    int           // how many workers may be lost with a partition, beyond the first, before it is poison
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

// Handle does what a message asks for, and acknowledges it, or asks for another delivery, or leaves that to the end of
// the lease. Its error is for people: nothing is to be done about it. Any thread.
func (w *Worker) Handle(ctx context.Context, d Delivery) error {
	m, err := wire.DecodeMessage(d.Raw())
	switch {
	case errors.Is(err, wire.ErrNewer): // a newer worker can read it
		return w.again(ctx, d, err)
	case err != nil:
		return w.reject(ctx, d, err)
	case m.Kind == wire.Start:
		err = w.start(ctx, d, m)
	default:
		err = w.part(ctx, d, m)
	}
	if errors.Is(err, errForeign) {
		return w.reject(ctx, d, err)
	}
	if errors.Is(err, wire.ErrMalformed) {
		err = &fatal{true, wire.Failure{Reason: wire.Corrupt, Part: m.Part, Text: err.Error()}}
	}
	var f *fatal
	if errors.As(err, &f) {
		err = w.fail(ctx, d, m, f)
	}
	if err != nil && !errors.Is(err, ErrEnded) {
		return w.again(ctx, d, err)
	}
	return d.Ack(ctx) // P4: last
}

// errForeign: no worker or submitter of this queue has written the message.
var errForeign = errors.New("foreign message")

// reject makes a dead letter of a message that no run can be made to fail for. The letter comes before the ack (P5).
func (w *Worker) reject(ctx context.Context, d Delivery, err error) error {
	if buried := w.Store.Bury(ctx, d.Raw(), err.Error(), ""); buried != nil {
		return w.again(ctx, d, buried)
	}
	return errors.Join(err, d.Ack(ctx))
}

// again has the message delivered again because of err, which it returns.
func (w *Worker) again(ctx context.Context, d Delivery, err error) error {
	delay := w.Limits.Delay << min(d.Deliveries()-1, 6)
	if ctx.Err() != nil { // this worker ends, and another one need not wait
		delay = 0
	}
	return errors.Join(err, d.Nak(context.WithoutCancel(ctx), delay))
}

// A fatal error ends the run.
type fatal struct {
	bury bool // the message is worth keeping
	wire.Failure
}

func (f *fatal) Error() string { return string(f.Reason) + ": " + f.Text }

// fail ends the run of message m. A dead letter comes first: the state that says so is seen by everyone (P5).
func (w *Worker) fail(ctx context.Context, d Delivery, m wire.Message, f *fatal) error {
	if f.bury {
		if err := w.Store.Bury(ctx, d.Raw(), f.Error(), m.ID()); err != nil {
			return err
		}
	}
	failure := f.Failure
	failure.Worker = w.Name
	failed := wire.State{V: wire.Version, Phase: wire.Failed, Plan: m.Plan, Error: &failure}
	_, err := conclude(ctx, w.Store, m.Run, wire.Failed, &failure, failed)
	return err
}

// start begins a run: it creates its state, and publishes the partitions that wait for no other.
func (w *Worker) start(ctx context.Context, d Delivery, m wire.Message) error {
	plan, err := w.Plans.Plan(ctx, m.Plan)
	if err != nil {
		return w.missing(ctx, startTriesKey(m.Run), -1, err)
	}
	state := wire.State{V: wire.Version, Phase: wire.Running, Plan: m.Plan, Begin: *m.Begin, Began: d.Stored()}
	if d.Age() >= w.Limits.Wait { // G1: the run may have ended, and its state may have been removed
		state = gone("its Start message is too old: no worker has begun it in time, or its records were removed")
	}
	err = w.Store.Create(ctx, StateKey(m.Run), wire.Encode(state)) // P1: the state, then the partitions
	if errors.Is(err, ErrExists) {
		// Another delivery has created it, or Cancel. It may have died before it published, so this one goes on.
		state, _, err = stateOf(ctx, w.Store, m.Run, gone("its records were removed"))
	}
	if err != nil {
		return err
	}
	if state.Final() {
		return ErrEnded
	}
	var posts []Post
	for i := range plan.Parts {
		if len(plan.Parts[i].Preds) == 0 {
			posts = append(posts, post(m, plan, i))
		}
	}
	return w.Store.Publish(ctx, posts...)
}

// post returns the message for partition part of the run of message m.
func post(m wire.Message, plan *wire.Plan, part int) Post {
	p := wire.Message{V: wire.Version, Kind: wire.Part, Run: m.Run, Part: part, Plan: m.Plan}
	return Post{Class: plan.Parts[part].Class, Message: p, ID: p.ID()}
}

// missing handles an error of loading what a partition needs. It counts what is missing: stores may be behind.
func (w *Worker) missing(ctx context.Context, tries string, part int, err error) error {
	if !errors.Is(err, ErrMissing) {
		return err
	}
	t, failed := amend(ctx, w.Store, tries, func(t *wire.Tries) { t.Missing, t.Text = t.Missing+1, err.Error() })
	if failed != nil {
		return failed
	}
	if t.Missing > w.Limits.Missing {
		return &fatal{true, wire.Failure{Reason: wire.Lost, Part: part, Text: err.Error()}}
	}
	return err
}
