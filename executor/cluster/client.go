package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster/internal/jet"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/nats-io/nats.go"
)

// ClientConfig configures a [Client].
type ClientConfig struct {
	Queue Queue

	// Executor and Registry let [Client.Run] run a graph that is worth less than one partition in this process. Both
	// may be nil.
	Executor *executor.Executor
	Registry *Registry

	// Target is what the calls of one partition should cost together. The default is 40 times the way of a message to
	// the server and back, as the client measures it when it first needs it, and [DefaultTarget] at least. The cut of a
	// graph then depends on that: for one that is always the same, Target is to be set.
	Target time.Duration

	// Patient makes Submit wait, as long as its context lets it, for workers that have the functions of the graph.
	// Otherwise it fails if there are none.
	Patient bool

	// Trace returns the W3C trace context of a context that Submit is called with, for the messages of the run. The
	// default is [TraceFrom]. For OpenTelemetry it is Headers of the module executor/metrics/otel.
	Trace func(context.Context) (parent, state string)

	// Report is called with errors that the client goes on after. It may be nil. Any thread.
	Report func(error)

	seams seams
}

// A Client submits graphs to a queue. Its methods may be called at any time from any goroutine.
type Client struct {
	c     ClientConfig
	q     *jet.Queue
	store protocol.Store // q, for what submits
	plans *jet.Plans

	target  target
	journal journal
	crew    crew
	counts  clientCounts
}

// NewClient returns a client of a queue on a server that nc is connected to. nc stays the caller's.
func NewClient(ctx context.Context, nc *nats.Conn, c ClientConfig) (*Client, error) {
	if c.Trace == nil {
		c.Trace = TraceFrom
	}
	client := &Client{c: c}
	q, err := c.Queue.open(ctx, nc, client.report)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	store := protocol.Store(q)
	if c.seams.store != nil {
		store = c.seams.store(store)
	}
	client.q, client.store = q, store
	client.plans, client.journal, client.crew = jet.NewPlans(q, planBytes), newJournal(q), newCrew(q)
	return client, nil
}

func (c *Client) report(err error) {
	if c.c.Report != nil {
		c.c.Report(fmt.Errorf("cluster: %w", err))
	}
}

// Close gives back what NewClient has taken. Runs go on.
func (c *Client) Close() { c.q.Close() }

// A Submission says how a graph is to run.
type Submission struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// ID is the ID of the run: letters, digits, - and _, at most 100. A second Submit with the same ID and graph does
	// nothing, as long as the run is known. The default is a random one.
	ID string

	// Deadline is how long the run may take, from the moment when the server has it. 0 is no limit.
	Deadline time.Duration
}

// Run runs a graph, and waits for its results. A graph that is worth at most one partition runs on the executor of the
// client, if that has the functions. Any other is submitted. Run asks the server for the worth of a partition if
// [ClientConfig.Target] is not set, the graph is worth more than [DefaultTarget], and it was not measured before. If
// ctx ends, or if it is not known whether the queue has the graph, the run is cancelled, as far as the server can be
// reached within a few seconds.
func (c *Client) Run(ctx context.Context, g *Graph) (*Results, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	small, err := c.isSmall(ctx, g)
	if err != nil {
		return nil, fmt.Errorf("cluster: graph %q was not submitted: %w", g.name, err)
	}
	if small && c.c.Executor != nil && c.c.Registry != nil {
		results, err := Run(ctx, c.c.Executor, c.c.Registry, g)
		var missing *MissingError
		if !errors.As(err, &missing) {
			c.counts.local.Add(1)
			return results, err
		}
	}
	id := rand.Text()
	run, err := c.Submit(ctx, g, Submission{ID: id})
	var doubt *doubtError
	switch {
	case errors.As(err, &doubt):
		run = &Handle{client: c, id: id}
		return nil, errors.Join(err, run.abandon(ctx, err))
	case err != nil:
		return nil, err
	}
	results, err := run.Wait(ctx)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(err, run.abandon(ctx, context.Cause(ctx)))
	}
	return results, err
}

// abandon cancels a run that nobody waits for. ctx may have ended.
func (h *Handle) abandon(ctx context.Context, cause error) error {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	return h.Cancel(late, cause)
}

// A doubtError is that of a submission of which it is not known whether the queue has it.
type doubtError struct{ error }

func (e *doubtError) Unwrap() error { return e.error }

// cancelTime bounds how long Client.Run takes after its context has ended. Arbitrary.
const cancelTime = 5 * time.Second

// Submit submits a graph. When it returns without an error, the server has the graph, and the run goes on without this
// process: see [Client.Attach]. After an error the run may begin nevertheless, and Submit with the same ID and graph is
// how to be sure.
func (c *Client) Submit(ctx context.Context, g *Graph, s Submission) (*Handle, error) {
	begin := time.Now()
	h, err := c.submit(ctx, g, s)
	if err != nil {
		c.counts.refused.Add(1)
		return nil, err
	}
	h.submitted = time.Now()
	c.counts.submit.add(h.submitted.Sub(begin))
	c.counts.submitted.Add(1)
	return h, nil
}

func (c *Client) submit(ctx context.Context, g *Graph, s Submission) (*Handle, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	s.ID = cmp.Or(s.ID, rand.Text())
	switch {
	case !wire.Token(s.ID):
		return nil, fmt.Errorf("cluster: graph %q was not submitted: the ID is %q: it must have letters, digits, - and _, "+
			"at most 100 of them", g.name, s.ID)
	case s.Deadline < 0:
		return nil, fmt.Errorf("cluster: graph %q was not submitted: the deadline is %v", g.name, s.Deadline)
	}
	plan, classes, err := c.plan(ctx, g)
	if err != nil {
		return nil, fmt.Errorf("cluster: graph %q was not submitted: %w", g.name, err)
	}
	for name, class := range classes {
		value, err := json.Marshal(class)
		if err == nil {
			err = c.q.Note(ctx, classKey(name), value, 0)
		}
		if err != nil {
			return nil, fmt.Errorf("cluster: graph %q was not submitted: %w", g.name, err)
		}
	}
	begin := wire.Begin{Name: g.name, Parts: len(plan.Parts), Deadline: s.Deadline}
	data := wire.Encode(plan)
	if err := protocol.Submit(ctx, c.store, s.ID, plan.Parts[0].Class, data, begin, c.trace(ctx)); err != nil {
		return nil, &doubtError{fmt.Errorf("cluster: graph %q may not have been submitted: %w", g.name, err)}
	}
	return &Handle{client: c, id: s.ID}, nil
}

// plan cuts the graph. Its classes are served by workers that live.
func (c *Client) plan(ctx context.Context, g *Graph) (*wire.Plan, map[string]class, error) {
	target, err := c.goal(ctx)
	if err != nil {
		return nil, nil, err
	}
	var come <-chan struct{}
	for {
		workers, err := c.crew.now(ctx)
		if err != nil {
			return nil, nil, err
		}
		plan, classes, lack := c.cut(g, target, workers)
		if !errors.Is(lack, ErrNoWorker) || !c.c.Patient {
			return plan, classes, lack
		}
		if come == nil {
			var stop func()
			if come, stop, err = c.newcomers(ctx, workers); err != nil {
				return nil, nil, errors.Join(lack, err)
			}
			defer stop()
		}
		select {
		case <-ctx.Done():
			return nil, nil, errors.Join(lack, context.Cause(ctx))
		case <-come:
		case <-c.q.Closed().Done(): // the next look says why
		case <-time.After(patience):
		}
	}
}

// cut cuts the graph. All its partitions are of one class if a worker has all functions: they may then go to the same
// worker. Otherwise each has a class of its own.
func (c *Client) cut(g *Graph, target time.Duration, workers []notice) (*wire.Plan, map[string]class, error) {
	if len(workers) == 0 {
		return nil, nil, &noWorkerError{errors.New("no worker serves the queue")}
	}
	all := make([]int32, len(g.prototypes))
	for i := range all {
		all[i] = int32(i)
	}
	whole := g.classOf(all)
	name := whole.name()
	one := whole.coverage(workers)
	classes := map[string]class{}
	plan, err := newPlan(g, target, func(functions []int32) string {
		if one == nil {
			classes[name] = whole
			return name
		}
		own := g.classOf(functions)
		ownName := own.name()
		classes[ownName] = own
		return ownName
	})
	if err != nil {
		return nil, nil, err
	}
	var uncovered []error
	for _, class := range classes {
		if err := class.coverage(workers); err != nil {
			uncovered = append(uncovered, err)
		}
	}
	if err := errors.Join(uncovered...); err != nil {
		return nil, nil, &noWorkerError{err}
	}
	return plan, classes, nil
}

// Attach returns the run with that ID, whoever has submitted it. The error is [ErrUnknownRun] if no worker has begun
// it, or if its records were removed.
func (c *Client) Attach(ctx context.Context, id string) (*Handle, error) {
	if !wire.Token(id) {
		return nil, fmt.Errorf("cluster: run %q: %w", id, ErrUnknownRun)
	}
	_, err := protocol.Attach(ctx, c.q, id)
	if errors.Is(err, protocol.ErrUnknown) {
		err = ErrUnknownRun
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: run %s: %w", id, err)
	}
	return &Handle{client: c, id: id}, nil
}

// ErrUnknownRun is the error of [Client.Attach] for a run that the queue does not know.
var ErrUnknownRun = errors.New("cluster: the run is not known: no worker has begun it, or its records were removed")
