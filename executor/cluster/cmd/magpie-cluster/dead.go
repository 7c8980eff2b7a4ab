package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/dial"
)

// dead prints the messages that a queue has given up, or removes some of them.
func dead(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("dead", flag.ContinueOnError)
	var server dial.Server
	server.AddFlags(f, "the `URL` of the server; the default is NATS_URL")
	queue := f.String("queue", "default", "the `name` of the queue")
	remove := f.String("remove", "", "remove the letters with these `numbers`, as 3,7, or all, instead of listing them")
	if err := parseFlags(f, args, out); err != nil {
		return err
	}
	numbers, err := parseNumbers(*remove)
	if err != nil {
		return err
	}
	if server.URL == "" {
		return refuse("no server: set NATS_URL, or -nats")
	}
	nc, err := server.Connect("magpie-cluster dead")
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
	switch {
	case *remove == "":
		return listDead(ctx, c, *queue, out)
	case *remove == "all":
		for letter, err := range c.DeadLetters(ctx) {
			if err != nil {
				return err
			}
			numbers = append(numbers, letter.ID)
		}
	}
	for _, n := range numbers {
		err := c.RemoveDeadLetter(ctx, n)
		if *remove == "all" && errors.Is(err, cluster.ErrNoLetter) {
			continue // somebody else has removed it
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "removed %d\n", n)
	}
	return nil
}

// parseNumbers reads the numbers of -remove. "all" has none.
func parseNumbers(text string) (numbers []uint64, err error) {
	if text == "" || text == "all" {
		return nil, nil
	}
	for one := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(one, 10, 64)
		if err != nil {
			return nil, refuse("-remove %q: it is for numbers as 3,7, or all", text)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// listDead prints the dead letters.
func listDead(ctx context.Context, c *cluster.Client, queue string, out io.Writer) error {
	n := 0
	for l, err := range c.DeadLetters(ctx) {
		if err != nil {
			return err
		}
		n++
		fmt.Fprintf(out, "%d  %s  %s\n   %s\n", l.ID, l.At.Local().Format(time.DateTime), about(l), l.Why)
	}
	if n == 0 {
		fmt.Fprintf(out, "queue %s has no dead letters\n", queue)
		return nil
	}
	_, err := fmt.Fprintln(out, "A run that was given up does not go on: to try again, submit the graph with another ID.")
	return errors.Join(ctx.Err(), err)
}

// about says what a letter is about.
func about(l cluster.DeadLetter) string {
	text := "a message that cannot be read"
	if l.Run != "" {
		text = "run " + l.Run
	}
	if l.Graph != "" {
		text += fmt.Sprintf(" of graph %q", l.Graph)
	}
	switch {
	case l.Calls > 0:
		text += fmt.Sprintf(", partition %d: %d calls from %s on", l.Part, l.Calls, l.Call)
	case l.Part >= 0:
		text += fmt.Sprintf(", partition %d", l.Part)
	case l.Run != "":
		text += ", its beginning"
	}
	if l.Deliveries > 0 {
		text += fmt.Sprintf(", delivered %d times", l.Deliveries)
	}
	return text
}
