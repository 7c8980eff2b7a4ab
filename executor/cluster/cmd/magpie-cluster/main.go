// Command magpie-cluster shows a queue at work on one machine. It starts servers and workers as processes of their own,
// runs a graph, kills what it is told to kill, starts that again, and prints what happened:
//
//	magpie-cluster -tasks 10000 -cost 5ms -sleep -kill worker=2s,server=4s
//	magpie-cluster -servers 3 -kill leader=3s
//	magpie-cluster -local -tasks 10000 -sleep
//	magpie-cluster top
//	magpie-cluster dead
//
// With NATS_URL, or -nats, it uses that server and starts none. The graph is wrong if its result is not the one that is
// known before. -local runs it without a queue, to compare.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "magpie-cluster:", err)
		os.Exit(status(err))
	}
}

// status returns the exit status of an error: 2 if the arguments are wrong.
func status(err error) int {
	if errors.As(err, new(refusal)) {
		return 2
	}
	return 1
}

const usage = `Usage: magpie-cluster [COMMAND] [flags]

  run    start servers and workers on this machine, run a graph, kill what is to be killed; the default
  top    print who serves a queue, what waits in it and what runs where, again and again
  dead   print the messages that a queue has given up, or remove some of them

magpie-cluster COMMAND -h lists the flags of a command.
`

// command runs a subcommand. server and worker are those that the program starts itself as.
func command(ctx context.Context, args []string, out io.Writer) error {
	name := "run"
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		name, args = args[0], args[1:]
	}
	switch name {
	case "run":
		o, err := parse(args, out)
		if err != nil {
			return err
		}
		if o.local {
			return local(ctx, o, out)
		}
		return show(ctx, o, out)
	case "top":
		return top(ctx, args, out)
	case "dead":
		return dead(ctx, args, out)
	case "help":
		_, err := io.WriteString(out, usage)
		return err
	case "server":
		return serve(ctx, args)
	case "worker":
		return work(ctx, args)
	}
	return refuse("there is no command %q: there are run, which is the default, top and dead", name)
}
