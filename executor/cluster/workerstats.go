package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/jet"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// WorkerStats is what a worker has counted since [NewWorker]. Package metrics shows it. Values that change meanwhile
// may be of different moments.
type WorkerStats struct {
	Slots   int // partitions that may be under way at the same time
	Busy    int // slots that have a message
	Running int // partitions whose calls run: Started less Done, Failed and Stopped

	Messages    uint64 // handled
	Redelivered uint64 // messages that were delivered before, to this worker or another
	Buried      uint64 // messages that were given up: they are dead letters
	LostLeases  uint64 // leases that have ended before the worker had handled the message, as far as it knows

	Started uint64 // partitions whose calls were begun
	Done    uint64 // partitions whose calls have ended without an error
	Failed  uint64 // partitions of which a call has failed
	Stopped uint64 // partitions that were given up: the run or the worker ends, or a function or input is missing
	Twice   uint64 // partitions of Done whose output another worker had written before

	Run   Histogram // the time of the calls of a partition that is Done
	Wait  Histogram // from the publication of a message to its first delivery, at least
	Write Histogram // the way of one write to the server and back
}

// A workerCounts counts what a worker does. Any thread.
type workerCounts struct {
	busy                                        atomic.Int64
	messages, redelivered, buried               atomic.Uint64
	started, done, failed, stopped, twice, lost atomic.Uint64
	run, wait, write                            times
}

// Stats returns what the worker has counted. It costs no message. Any thread.
func (w *Worker) Stats() WorkerStats {
	c := &w.counts
	s := WorkerStats{
		Slots:       w.c.Slots,
		Busy:        int(c.busy.Load()),
		Messages:    c.messages.Load(),
		Redelivered: c.redelivered.Load(),
		Buried:      c.buried.Load(),
		LostLeases:  c.lost.Load(),
		Done:        c.done.Load(),
		Failed:      c.failed.Load(),
		Stopped:     c.stopped.Load(),
		Twice:       c.twice.Load(),
		Run:         c.run.histogram(),
		Wait:        c.wait.histogram(),
		Write:       c.write.histogram(),
	}
	s.Started = c.started.Load() // after those that have ended, so that it is no less
	s.Running = int(s.Started - s.Done - s.Failed - s.Stopped)
	return s
}

// delivered counts a delivery.
func (c *workerCounts) delivered(d *jet.Delivery) {
	if d.Deliveries() > 1 {
		c.redelivered.Add(1)
	} else {
		c.wait.add(d.Age())
	}
}

// A countedStore is the Store of a worker.
type countedStore struct {
	protocol.Store
	counts *workerCounts
}

func (s *countedStore) Create(ctx context.Context, key string, value []byte) error {
	err := s.timed(func() error { return s.Store.Create(ctx, key, value) })
	if errors.Is(err, protocol.ErrExists) && !protocol.Changes(key) {
		s.counts.twice.Add(1)
	}
	return err
}

func (s *countedStore) Update(ctx context.Context, key string, value []byte, revision uint64) error {
	return s.timed(func() error { return s.Store.Update(ctx, key, value, revision) })
}

// timed measures a write.
func (s *countedStore) timed(write func() error) error {
	begin := time.Now()
	err := write()
	if err == nil {
		s.counts.write.add(time.Since(begin))
	}
	return err
}

func (s *countedStore) Bury(ctx context.Context, l protocol.Letter) error {
	err := s.Store.Bury(ctx, l)
	if err == nil {
		s.counts.buried.Add(1)
	}
	return err
}

// A countedRunner is the Runner of a worker.
type countedRunner struct {
	*runner
	counts *workerCounts
	board  *board
}

func (r *countedRunner) Run(
	ctx context.Context, run string, plan *wire.Plan, part int, inputs []wire.Output,
) (wire.Output, error) {
	r.counts.started.Add(1)
	defer r.board.enter(run, plan, part)()
	out, err := r.runner.Run(ctx, run, plan, part, inputs)
	switch {
	case err == nil:
		r.counts.run.add(out.Took)
		r.counts.done.Add(1)
	case errors.As(err, new(*protocol.TaskError)):
		r.counts.failed.Add(1)
	default:
		r.counts.stopped.Add(1)
	}
	return out, err
}
