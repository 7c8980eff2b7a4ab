package site

import (
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
)

// Work is a worker process, of any machine: it serves a queue with the functions until ctx ends. queue is the name if
// args do not say another.
func Work(
	ctx context.Context, args []string, queue string, functions func(jetstream.JetStream) *cluster.Registry,
) error {
	c := Config{Queue: queue}
	f := flag.NewFlagSet("worker", flag.ExitOnError)
	c.addQueueFlags(f)
	each := f.Int("each", 0, "how many `calls` run at the same time; 0: one for each CPU")
	child := f.Bool("child", false, "end with the standard input, as the processes that -workers starts")
	_ = f.Parse(args) // exits if it fails
	if c.Server.URL == "" {
		return errors.New("a worker needs a server: set NATS_URL, or -nats")
	}
	var grace time.Duration // the default
	if *child {
		grace = time.Second // the server may be gone with the program
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // ends with the process that has started this one, however it ends
			cancel()
		}()
	}
	ex, err := executor.New(executor.Config{Workers: *each})
	if err != nil {
		return err
	}
	defer ex.Close()
	report := func(err error) { log.Print(err) }
	var w *cluster.Worker
	nc, err := c.Server.Await(ctx, queue+" worker", report, func(nc *nats.Conn) error {
		js, err := jetstream.New(nc)
		if err != nil {
			return err
		}
		w, err = cluster.NewWorker(ctx, nc, ex, functions(js), cluster.WorkerConfig{
			Queue:  c.queue(),
			Grace:  grace,
			Report: report,
		})
		return err
	})
	switch {
	case ctx.Err() != nil && err != nil:
		return nil // it was stopped before there was a server
	case err != nil:
		return err
	}
	defer nc.Close()
	if !*child {
		log.Printf("worker %s serves queue %s of %s", w.Name(), c.Queue, nc.ConnectedUrlRedacted())
	}
	return w.Run(ctx)
}
