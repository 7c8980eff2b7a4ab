package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/magpie-go/magpie/executor/cluster"
)

// top prints who serves a queue and what waits in it, again and again.
func top(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("magpie-cluster top", flag.ContinueOnError)
	url := f.String("nats", os.Getenv("NATS_URL"), "the `URL` of the server; the default is NATS_URL")
	queue := f.String("queue", "default", "the `name` of the queue")
	every := f.Duration("every", 2*time.Second, "how often")
	once := f.Bool("once", false, "print it once")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *url == "" {
		return fmt.Errorf("no server: set NATS_URL, or -nats")
	}
	nc, err := nats.Connect(*url, nats.MaxReconnects(-1))
	if err != nil {
		return fmt.Errorf("connect to %s: %w", *url, err)
	}
	defer nc.Close()
	c, err := cluster.NewClient(ctx, nc, cluster.ClientConfig{Queue: cluster.Queue{Name: *queue}})
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		if err := look(ctx, c, out); err != nil {
			return err
		}
		if *once {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(*every):
		}
	}
}

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
