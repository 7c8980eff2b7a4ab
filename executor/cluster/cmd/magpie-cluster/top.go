package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/magpie-go/magpie/executor/cluster"
)

// top prints who serves a queue and what waits in it, again and again.
func top(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("top", flag.ContinueOnError)
	url := f.String("nats", os.Getenv("NATS_URL"), "the `URL` of the server; the default is NATS_URL")
	queue := f.String("queue", "default", "the `name` of the queue")
	every := f.Duration("every", 2*time.Second, "how often")
	once := f.Bool("once", false, "print it once")
	if err := parseFlags(f, args, out); err != nil {
		return err
	}
	switch {
	case *url == "":
		return refuse("no server: set NATS_URL, or -nats")
	case *every <= 0:
		return refuse("-every must be positive")
	}
	nc, err := nats.Connect(*url, nats.MaxReconnects(-1))
	if err != nil {
		return fmt.Errorf("connect to %s: %w", redacted(*url), err)
	}
	defer nc.Close()
	if err := isThere(ctx, nc, *queue); err != nil {
		return err
	}
	c, err := cluster.NewClient(ctx, nc, cluster.ClientConfig{Queue: cluster.Queue{Name: *queue}})
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		err := look(ctx, c, out)
		switch {
		case *once:
			return err
		case err != nil && ctx.Err() == nil:
			fmt.Fprintln(out, err) // a server may be gone for a while
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(*every):
		}
	}
}

// isThere returns an error if there is no queue of that name: a client would make it.
func isThere(ctx context.Context, nc *nats.Conn, queue string) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	_, err = js.Stream(ctx, workStream(queue))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("the server has no queue %q: the first worker or client of a queue makes it", queue)
	}
	return nil // a client says what else is wrong
}

// workStream is the stream of the messages of a queue.
func workStream(queue string) string { return "magpie-work-" + queue }

// look prints the queue as it is.
func look(ctx context.Context, c *cluster.Client, out io.Writer) error {
	b, err := c.Backlog(ctx)
	if err != nil {
		return err
	}
	workers, err := c.Workers(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d partitions wait, %d are with workers, %d were given up\n",
		time.Now().Format(time.TimeOnly), b.Waiting, b.Leased, b.Dead)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WORKER\tBUSY\tSLOTS\tDONE\tFUNCTIONS")
	for _, w := range workers {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\n", w.Name, w.Busy, w.Slots, w.Done, len(w.Functions))
	}
	return table.Flush()
}
