package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/dial"
)

// top prints who serves a queue, what waits in it and what runs where, again and again.
func top(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("top", flag.ContinueOnError)
	var server dial.Server
	server.AddFlags(f, "the `URL` of the server; the default is NATS_URL")
	queue := f.String("queue", "default", "the `name` of the queue")
	every := f.Duration("every", time.Second, "how often")
	once := f.Bool("once", false, "print it once")
	if err := parseFlags(f, args, out); err != nil {
		return err
	}
	switch {
	case server.URL == "":
		return refuse("no server: set NATS_URL, or -nats")
	case *every <= 0:
		return refuse("-every must be positive")
	}
	nc, err := server.Connect("magpie-cluster top")
	if err != nil {
		return err
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
		page, err := look(ctx, c)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (*once || errors.Is(err, nats.ErrConnectionClosed)):
			return err
		case err != nil:
			page = fmt.Sprintln(err) // a server may be gone for a while
		}
		if isTerminal(out) {
			page = clear + page
		}
		if _, err := io.WriteString(out, page); err != nil || *once {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(*every):
		}
	}
}

// clear clears a terminal.
const clear = "\x1b[H\x1b[2J"

// isTerminal reports whether out is a terminal.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
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
