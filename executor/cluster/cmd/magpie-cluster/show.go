package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/cmd/internal/workload"
)

// A story prints what happens, each line with the time since the beginning. Any thread.
type story struct {
	out     io.Writer
	begin   time.Time
	verbose bool

	mu     sync.Mutex
	unsaid int // lines of the processes
}

func (s *story) say(format string, v ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "%7.2fs  %s\n", time.Since(s.begin).Seconds(), fmt.Sprintf(format, v...))
}

// Write takes the lines that the processes print: what they go on after, mostly because of what was killed.
func (s *story) Write(lines []byte) (int, error) {
	for line := range strings.Lines(string(lines)) {
		if s.verbose {
			s.say("%s", strings.TrimSpace(line))
			continue
		}
		s.mu.Lock()
		s.unsaid++
		s.mu.Unlock()
	}
	return len(lines), nil
}

// rest says how much was not said.
func (s *story) rest() {
	s.mu.Lock()
	n := s.unsaid
	s.mu.Unlock()
	if n > 0 {
		s.say("errors that the processes have gone on after: %d; -v prints them", n)
	}
}

// show runs the graph and prints what happens.
func show(ctx context.Context, o options, out io.Writer) error {
	tell := &story{out: out, begin: time.Now(), verbose: o.verbose}
	s, err := begin(o, tell)
	if err != nil {
		return err
	}
	defer s.end()
	nc, err := s.connect(ctx, o)
	if err != nil {
		return err
	}
	defer nc.Close()
	c, err := s.client(ctx, nc, o)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := s.await(ctx, c); err != nil {
		return err
	}
	tell.say("servers: %d, workers: %d", len(s.servers), len(s.workers))

	g := workload.New().Graph(o.tasks, o.width, workload.Effort{Time: o.cost, Sleep: o.sleep}, o.seed)
	began := time.Now()
	h, err := c.Submit(ctx, g.Graph, cluster.Submission{})
	if err != nil {
		return err
	}
	tell.say("run %s was submitted in %v: %d calls", h.ID(), time.Since(began).Round(time.Millisecond), g.Len())

	during, over := context.WithCancel(ctx)
	var beside sync.WaitGroup
	for i, k := range o.kills {
		beside.Go(func() { s.kill(during, nc, o, i, k, tell) })
	}
	beside.Go(func() { follow(during, c, h, tell) })
	res, err := h.Wait(ctx)
	took := time.Since(began)
	over()
	beside.Wait()
	if ctx.Err() != nil {
		return errors.Join(errors.New("interrupted"), s.abandon(h, o))
	}
	if err != nil {
		return err
	}
	right, err := g.IsRight(res)
	if err != nil {
		return err
	}
	if !right {
		return errors.New("the result is wrong")
	}
	p, err := h.Progress(ctx)
	if err != nil {
		return err
	}
	tell.say("the result is right: %d partitions in %v, %.0f a second; %s", p.Parts, took.Round(time.Millisecond),
		float64(p.Parts)/took.Seconds(), o.ofIdeal(took))
	tell.say("memory: %s", s.memory())
	tell.rest()
	return nil
}

// ofIdeal compares a time with that of calls that cost nothing beside what they are told to take.
func (o *options) ofIdeal(took time.Duration) string {
	ideal := time.Duration(o.tasks) * o.cost / time.Duration(o.workers*o.each)
	return fmt.Sprintf("%.3f of the ideal, which is %v", ideal.Seconds()/took.Seconds(), ideal)
}

// abandon cancels a run that nobody waits for, if its server goes on without this program.
func (s *site) abandon(h *cluster.Handle, o options) error {
	if o.server.URL == "" {
		return nil
	}
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return h.Cancel(ctx, errors.New("magpie-cluster was interrupted"))
}

// connect connects to the servers. Those that were started may take a while, and end if they cannot run.
func (s *site) connect(ctx context.Context, o options) (*nats.Conn, error) {
	for {
		nc, err := s.server.Connect("magpie-cluster", soon)
		if err == nil || o.server.URL != "" {
			return nc, err
		}
		if err := errors.Join(s.broken(), context.Cause(ctx)); err != nil {
			return nil, err
		}
		pause(ctx)
	}
}

// broken returns an error if a process has ended by itself.
func (s *site) broken() error {
	for _, p := range append(s.servers, s.workers...) {
		if err := p.hasEnded(); err != nil {
			return err
		}
	}
	return nil
}

// client returns a client, once the servers have a leader.
func (s *site) client(ctx context.Context, nc *nats.Conn, o options) (*cluster.Client, error) {
	const patience = 30 * time.Second
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		c, err := cluster.NewClient(limit, nc, cluster.ClientConfig{Queue: queueOf(o.queue, o.servers), Target: o.target})
		if err == nil || limit.Err() != nil || o.server.URL != "" {
			return c, err
		}
		if err := s.broken(); err != nil {
			return nil, err
		}
		pause(limit)
	}
}

// await waits until the workers have announced themselves.
func (s *site) await(ctx context.Context, c *cluster.Client) error {
	for {
		workers, err := c.Workers(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil && len(workers) >= len(s.workers) {
			return nil
		}
		if err := s.broken(); err != nil {
			return err
		}
		pause(ctx)
	}
}

// follow prints how far the run is, every second.
func follow(ctx context.Context, c *cluster.Client, h *cluster.Handle, tell *story) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		p, err := h.Progress(ctx)
		b, err2 := c.Backlog(ctx)
		if err := errors.Join(err, err2); err != nil {
			if ctx.Err() == nil {
				tell.say("progress: %v", err)
			}
			continue
		}
		tell.say("%d of %d partitions, %d wait, %d are with workers", p.Done, p.Parts, b.Waiting, b.Leased)
	}
}

// kill kills a process when it is time.
func (s *site) kill(ctx context.Context, nc *nats.Conn, o options, i int, k kill, tell *story) {
	select {
	case <-ctx.Done():
		tell.say("the run has ended before a %s was killed", k.what)
		return
	case <-time.After(k.after):
	}
	rnd := rand.New(rand.NewPCG(o.seed, uint64(i)))
	var p *process
	switch k.what {
	case "worker":
		p = s.workers[rnd.IntN(len(s.workers))]
	case "server":
		p = s.servers[rnd.IntN(len(s.servers))]
	case "leader":
		p = s.leader(ctx, nc, o)
	}
	tell.say("kill %s", p.name)
	if err := p.kill(ctx); err != nil {
		if ctx.Err() == nil {
			tell.say("%v", err)
		}
		return
	}
	tell.say("%s was started again", p.name)
}

// leader returns the server that leads the work queue, or the first one if nobody says which it is.
func (s *site) leader(ctx context.Context, nc *nats.Conn, o options) *process {
	js, err := jetstream.New(nc)
	if err != nil {
		return s.servers[0]
	}
	st, err := js.Stream(ctx, workStream(o.queue))
	if err != nil || st.CachedInfo().Cluster == nil {
		return s.servers[0]
	}
	for _, p := range s.servers {
		if p.name == st.CachedInfo().Cluster.Leader {
			return p
		}
	}
	return s.servers[0]
}
