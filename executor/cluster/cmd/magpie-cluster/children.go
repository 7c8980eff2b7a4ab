package main

import (
	"context"
	"flag"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/cmd/internal/workload"
	"github.com/magpie-go/magpie/executor/cluster/dial"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
)

// untilParentEnds returns a context that ends with ctx, or with the process that has started this one: its standard
// input then ends.
func untilParentEnds(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // however it ends
		cancel()
	}()
	return ctx, cancel
}

// serve is a server process.
func serve(ctx context.Context, args []string) error {
	ctx, cancel := untilParentEnds(ctx)
	defer cancel()
	c := embedded.Config{Log: func(line string) { log.Print("server: ", line) }}
	f := flag.NewFlagSet("server", flag.ContinueOnError)
	f.StringVar(&c.Dir, "dir", "", "")
	f.StringVar(&c.Listen, "listen", "", "")
	f.BoolVar(&c.SyncAlways, "sync", false, "")
	name := f.String("name", "", "")
	routes := f.String("routes", "", "")
	route := f.String("route", "", "")
	if err := parseFlags(f, args, io.Discard); err != nil {
		return err
	}
	if *routes != "" {
		c.Cluster = &embedded.Cluster{Server: *name, Listen: *route, Routes: strings.Split(*routes, ",")}
	}
	s, err := embedded.Start(ctx, c)
	if err != nil {
		return err
	}
	<-ctx.Done()
	s.Close()
	return nil
}

// soon makes a connection go on a moment after a server that was killed is there again.
var soon = nats.ReconnectWait(100 * time.Millisecond)

// awaitServers connects to a queue's servers, and tries again until they are there.
func awaitServers(ctx context.Context, s *dial.Server) (*nats.Conn, error) {
	for {
		nc, err := s.Connect("magpie-cluster worker", soon)
		if err == nil || ctx.Err() != nil {
			return nc, err
		}
		pause(ctx)
	}
}

// pause waits before another try.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}
}

// work is a worker process.
func work(ctx context.Context, args []string) error {
	ctx, cancel := untilParentEnds(ctx)
	defer cancel()
	f := flag.NewFlagSet("worker", flag.ContinueOnError)
	var server dial.Server
	server.AddFlags(f, "")
	queue := f.String("queue", "", "")
	replicas := f.Int("replicas", 1, "")
	name := f.String("name", "", "")
	each := f.Int("each", 1, "")
	slots := f.Int("slots", 1, "")
	if err := parseFlags(f, args, io.Discard); err != nil {
		return err
	}
	nc, err := awaitServers(ctx, &server)
	if err != nil {
		return err
	}
	defer nc.Close()
	// Without spares a call that sleeps stands for one that computes: no other runs in its place.
	ex, err := executor.New(executor.Config{Workers: *each, Spares: -1})
	if err != nil {
		return err
	}
	defer ex.Close()
	for {
		w, err := cluster.NewWorker(ctx, nc, ex, workload.New().Registry, cluster.WorkerConfig{
			Queue: queueOf(*queue, *replicas), Name: *name, Slots: *slots, Grace: time.Second,
			Report: func(err error) { log.Print(err) },
		})
		if err == nil {
			err = w.Run(ctx)
		}
		if err == nil || ctx.Err() != nil || nc.IsClosed() {
			return err
		}
		log.Print(err)
		pause(ctx)
	}
}

// queueOf returns the queue of a show. Its leases are short, so that one sees what a lost worker costs.
func queueOf(name string, replicas int) cluster.Queue {
	if replicas == 1 { // the default: the queue of other servers may have more
		replicas = 0
	}
	return cluster.Queue{Name: name, Replicas: replicas, Keep: time.Hour, Lease: 3 * time.Second}
}
