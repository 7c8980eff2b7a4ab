// Package site is where the examples run: a queue with its workers. It is the queue of a server that others run, or one
// that lives as long as the program: then the server is in this process, and the workers are processes of its own.
package site

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
)

// A Site is a queue, and what of it this process has started.
type Site struct {
	client  *cluster.Client
	nc      *nats.Conn
	js      jetstream.JetStream
	server  *embedded.Server // nil if others run it
	workers workers
	wait    time.Duration // for the first worker; 0 is no limit
	scratch string        // a directory of the processes, which is removed
}

// Start connects to a queue, and starts what c says. What it has started ends with Close.
func Start(ctx context.Context, c Config) (*Site, error) {
	s := &Site{}
	if err := s.start(ctx, c); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Site) start(ctx context.Context, c Config) (err error) {
	if s.scratch, err = os.MkdirTemp("", "magpie-"); err != nil {
		return err
	}
	if c.Server.URL == "" {
		c.Workers = cmp.Or(c.Workers, 4)
		token := rand.Text() // for this process and its own, and for no other user of the machine
		s.server, err = embedded.Start(ctx, embedded.Config{
			Dir:    cmp.Or(c.Store, filepath.Join(s.scratch, "store")),
			Listen: "127.0.0.1:0",
			Token:  token,
		})
		if err != nil {
			return err
		}
		c.Server.URL = strings.Replace(s.server.URL(), "//", "//"+token+"@", 1)
	}
	if s.nc, err = c.Server.Connect(c.Queue); err != nil {
		return err
	}
	if s.js, err = jetstream.New(s.nc); err != nil {
		return err
	}
	ownWorkers := c.Workers > 0
	s.client, err = cluster.NewClient(ctx, s.nc, cluster.ClientConfig{Queue: c.queue(), Patient: ownWorkers})
	if err != nil {
		return err
	}
	if !ownWorkers {
		s.wait = c.Wait
	}
	return s.workers.start(c, s.scratch)
}

// JetStream returns the server's streams and buckets.
func (s *Site) JetStream() jetstream.JetStream { return s.js }

// Why returns the error of a call to the server, and what the server has told the connection if the user may not make
// the call: it then does not answer.
func Why(js jetstream.JetStream, err error) error {
	if last := js.Conn().LastError(); err != nil && errors.Is(last, nats.ErrPermissionViolation) {
		return fmt.Errorf("%w: the user may not do this: %w", err, last)
	}
	return err
}

// Run runs a graph on the workers, and prints to out how far it is. If ctx ends, the run is cancelled.
func (s *Site) Run(ctx context.Context, g *cluster.Graph, out io.Writer) (*cluster.Results, error) {
	ctx, cancel := s.workers.whileAlive(ctx)
	var beside sync.WaitGroup
	defer func() { cancel(); beside.Wait() }()
	if err := s.awaitWorkers(ctx); err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	run, err := s.client.Submit(ctx, g, cluster.Submission{})
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	beside.Go(func() { follow(ctx, run, out) })
	results, err := run.Wait(ctx)
	if ctx.Err() == nil {
		return results, err
	}
	const patience = 5 * time.Second
	late, cancelLate := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancelLate()
	return nil, errors.Join(context.Cause(ctx), run.Cancel(late, context.Cause(ctx)))
}

// awaitWorkers waits for the first worker. If none comes, Submit says so.
func (s *Site) awaitWorkers(ctx context.Context) error {
	const pause = 100 * time.Millisecond
	for begin := time.Now(); s.wait == 0 || time.Since(begin) < s.wait; {
		if workers, err := s.client.Workers(ctx); err != nil || len(workers) > 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
	return nil
}

// follow prints how far a run is, every second.
func follow(ctx context.Context, run *cluster.Handle, out io.Writer) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		if p, err := run.Progress(ctx); err == nil && p.Begun && !p.Ended {
			fmt.Fprintf(out, "%d of %d partitions have run\n", p.Done, p.Parts)
		}
	}
}

// Close ends what Start has started.
func (s *Site) Close() {
	s.workers.stop()
	if s.client != nil {
		s.client.Close()
	}
	if s.nc != nil {
		s.nc.Close()
	}
	if s.server != nil {
		s.server.Close()
	}
	if err := os.RemoveAll(s.scratch); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
