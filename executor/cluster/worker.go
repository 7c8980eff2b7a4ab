package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster/internal/jet"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/nats-io/nats.go"
)

// WorkerConfig configures a [Worker].
type WorkerConfig struct {
	Queue Queue

	// Name is the name of the worker in errors and in what the queue shows: letters, digits, - and _, at most 100. No
	// other worker of the queue may have it: if one has, Report is called. The default is made from the name of the
	// machine and a random part.
	Name string

	// Slots is how many partitions the worker has under way at the same time. The default is four for each worker of the
	// executor: while some wait for the server, others run.
	Slots int

	// Grace is how long partitions may go on when the worker is stopped. Then their contexts are cancelled, and other
	// workers run them. The default is 10 seconds.
	Grace time.Duration

	// Trace returns the context in which a partition runs, from the W3C trace context of the submission of its graph. It
	// is not called if there was none. ctx has it for [TraceFrom]. For OpenTelemetry it is Continue of the module
	// executor/metrics/otel. Any thread.
	Trace func(ctx context.Context, parent, state string) context.Context

	// Report is called with errors that the worker goes on after. Any thread.
	Report func(error)

	seams seams
}

// A seams is where tests come between a worker or a client and its queue. Its functions may be nil.
type seams struct {
	store    func(protocol.Store) protocol.Store
	delivery func(protocol.Delivery) protocol.Delivery

	mendEvery time.Duration // of a client; 0 is the constant of that name
}

// A Worker runs partitions of the graphs that are submitted to a queue.
type Worker struct {
	c      WorkerConfig
	id     string // random
	q      *jet.Queue
	states *jet.States
	has    map[string]Signature
	handle func(context.Context, protocol.Delivery) error

	runner *runner

	phase  atomic.Int32 // fresh, and then one of the others for good
	counts workerCounts
	board  board
}

// The phases of a worker, by the call that gives back what NewWorker has taken.
const (
	fresh  int32 = iota // none yet
	ran                 // Run, at its end
	closed              // Close
)

const (
	// announceEvery is how often a worker says that it lives, and noticeTime how long that counts. Arbitrary.
	announceEvery = 2 * time.Second
	noticeTime    = 10 * announceEvery
	// isLong is how long a partition runs before the worker announces it out of turn, and the least time between two
	// announcements. Arbitrary: the message is little beside such a partition.
	isLong = time.Second
	// planBytes is how many bytes of encoded plans a worker keeps. Arbitrary: a plan of 10⁶ calls has some 50 MiB.
	planBytes = 128 << 20
)

// NewWorker returns a worker of a queue on a server that nc is connected to, with the functions that reg has now. It
// runs partitions on ex, which may be nil, see [executor.Default]. nc should reconnect for ever: see
// [nats.MaxReconnects]. nc and ex stay the caller's.
//
// The worker takes nothing from the queue before [Worker.Run]. One that is not to run needs [Worker.Close].
func NewWorker(ctx context.Context, nc *nats.Conn, ex *executor.Executor, reg *Registry, c WorkerConfig) (
	*Worker, error) {
	ex = orDefault(ctx, ex)
	c.Name = cmp.Or(c.Name, defaultName())
	c.Slots = cmp.Or(c.Slots, 4*ex.Workers())
	c.Grace = cmp.Or(c.Grace, 10*time.Second)
	if c.Report == nil {
		c.Report = func(error) {}
	}
	switch {
	case reg == nil:
		return nil, errors.New("cluster: a worker needs a registry")
	case !wire.Token(c.Name):
		return nil, fmt.Errorf("cluster: the name of a worker is %q: it must have letters, digits, - and _, "+
			"at most 100 of them", c.Name)
	case c.Slots < 1:
		return nil, fmt.Errorf("cluster: worker %s has %d slots", c.Name, c.Slots)
	case c.Grace < 0:
		return nil, fmt.Errorf("cluster: worker %s has a Grace of %v", c.Name, c.Grace)
	}
	w := &Worker{c: c, id: rand.Text(), has: maps.Collect(reg.Functions())}
	q, err := c.Queue.open(ctx, nc, w.report)
	if err != nil {
		return nil, fmt.Errorf("cluster: worker %s: %w", c.Name, err)
	}
	w.q = q
	w.states, err = q.Watch(ctx, w.report)
	if err != nil {
		q.Close()
		return nil, fmt.Errorf("cluster: worker %s: %w", c.Name, err)
	}
	limits := protocol.Defaults
	limits.Wait = q.Keep() / 2
	store := protocol.Store(&countedStore{w.states, &w.counts})
	if c.seams.store != nil {
		store = c.seams.store(store)
	}
	w.runner = newRunner(ex, reg, store, int(nc.MaxPayload()/2))
	p := &protocol.Worker{
		Name:   c.Name,
		Store:  store,
		States: w.states,
		Plans:  jet.NewPlans(store, planBytes),
		Runner: &countedRunner{w.runner, &w.counts, &w.board},
		Limits: limits,
		Each:   jet.Each,
	}
	w.handle = p.Handle
	return w, nil
}

// Name returns the name of the worker.
func (w *Worker) Name() string { return w.c.Name }

// Run takes partitions from the queue and runs them until ctx ends. It then finishes those that it has, or gives them
// back. A worker runs once.
//
// Run returns an error if it cannot begin, or if nc is closed. Other errors are for Report, and what has failed is
// tried again. Besides the program, it is the client library that closes nc: after a server has refused its credentials
// twice, whatever [nats.MaxReconnects] says. The contexts of the partitions that run are cancelled then, other workers
// run them, and a new worker on a new connection is needed.
func (w *Worker) Run(ctx context.Context) error {
	if !w.phase.CompareAndSwap(fresh, ran) {
		if w.phase.Load() == closed {
			return fmt.Errorf("cluster: worker %s: it is closed", w.c.Name)
		}
		return fmt.Errorf("cluster: worker %s: Run was called before", w.c.Name)
	}
	defer w.release()
	caller := ctx
	ctx, stopRun := context.WithCancel(caller)
	defer stopRun()
	defer context.AfterFunc(w.q.Closed(), stopRun)()
	pool := jet.NewPool(w.c.Slots, w.deliver, w.report)
	pool.Lost = func() { w.counts.lost.Add(1) }
	if err := w.announce(ctx); err != nil {
		return fmt.Errorf("cluster: worker %s: %w", w.c.Name, err)
	}
	served, met := map[string]bool{}, map[string]bool{}
	own := workerKey(w.c.Name)
	stop, err := w.q.Follow(ctx, jet.Follower{Note: func(key string, data []byte) {
		if key == own {
			w.meet(met, data)
		} else if name := key[len(classKey("")):]; !served[name] {
			served[name] = w.serve(pool, name, data)
		}
	}}, classKeys, own)
	if err != nil {
		return fmt.Errorf("cluster: worker %s: %w", w.c.Name, err)
	}
	var announcing sync.WaitGroup
	announcing.Go(func() { w.keepAnnouncing(ctx) })
	<-ctx.Done()
	stop()
	announcing.Wait()

	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.c.Grace)
	defer cancel()
	defer context.AfterFunc(w.q.Closed(), cancel)() // what they do cannot be recorded
	pool.Stop(late)
	switch {
	case w.q.Closed().Err() == nil:
		w.end(context.WithoutCancel(ctx))
	case caller.Err() == nil:
		return fmt.Errorf("cluster: worker %s: %w", w.c.Name, w.q.ErrClosed())
	}
	return nil
}

// Close gives back what NewWorker has taken, unless Run was called: Run gives it back at its end, which Close neither
// brings about nor waits for. After Close the worker does not run. Any thread.
func (w *Worker) Close() {
	if w.phase.CompareAndSwap(fresh, closed) {
		w.release()
	}
}

// release gives back what NewWorker has taken.
func (w *Worker) release() {
	w.states.Stop()
	w.q.Close()
}

// end takes back the announcement, and sees to it that the last acknowledgements are with the server.
func (w *Worker) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, cancelTime)
	defer cancel()
	if err := errors.Join(w.q.Forget(ctx, workerKey(w.c.Name)), w.q.Flush(ctx)); err != nil {
		w.report(err)
	}
}

// meet reports the first announcement of each other worker with this one's name, which takes the place of this one's.
// Those that come before this one's first may be of workers that are gone: a replica of the server may be behind.
func (w *Worker) meet(met map[string]bool, data []byte) {
	n, ok := decodeNotice(data)
	if !ok || met[n.ID] || n.ID != w.id && !met[w.id] {
		return
	}
	met[n.ID] = true
	if n.ID != w.id {
		w.report(errors.New("another worker of the queue has this name: each takes the place of the other in what the " +
			"queue shows; give each a name of its own, or none"))
	}
}

// serve begins to take the messages of a class, if the worker has its functions.
func (w *Worker) serve(pool *jet.Pool, name string, data []byte) bool {
	var c class
	if err := json.Unmarshal(data, &c); err != nil || c.V != notesVersion || c.name() != name || !c.isCovered(w.has) {
		return false
	}
	pool.Serve(w.q.Class(name))
	return true
}

// deliver handles a delivery.
func (w *Worker) deliver(ctx context.Context, d *jet.Delivery) {
	w.counts.busy.Add(1)
	defer w.counts.busy.Add(-1)
	w.counts.delivered(d)
	if err := d.Malformed(); err != nil {
		w.report(err)
	}
	delivery := protocol.Delivery(d)
	if w.c.seams.delivery != nil {
		delivery = w.c.seams.delivery(delivery)
	}
	if err := w.handle(w.traced(ctx, d.Trace()), delivery); err != nil {
		w.report(err)
	}
	w.counts.messages.Add(1)
}

func (w *Worker) report(err error) { w.c.Report(fmt.Errorf("cluster: worker %s: %w", w.c.Name, err)) }

// keepAnnouncing announces the worker every announceEvery, and sooner if the partitions that run long are others than
// those of the last announcement.
func (w *Worker) keepAnnouncing(ctx context.Context) {
	t := time.NewTicker(isLong)
	defer t.Stop()
	var said []uint64
	for quiet := isLong; ; quiet += isLong { // since the last announcement
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		long := w.board.longest(isLong, most)
		if slices.Equal(long, said) && quiet < announceEvery {
			continue
		}
		said, quiet = long, 0
		if err := w.announce(ctx); err != nil && ctx.Err() == nil {
			w.report(err)
		}
	}
}

// announce says that the worker lives, and what it has.
func (w *Worker) announce(ctx context.Context) error {
	value, err := json.Marshal(notice{
		V: notesVersion, Worker: w.c.Name, ID: w.id, Functions: w.has,
		Slots: w.c.Slots, Busy: int(w.counts.busy.Load()), Done: int64(w.counts.messages.Load()),
		Running: w.running(w.board.longest(0, most)),
	})
	if err != nil {
		return err
	}
	return w.q.Note(ctx, workerKey(w.c.Name), value, noticeTime)
}
