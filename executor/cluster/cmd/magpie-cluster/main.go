// Command magpie-cluster shows a queue at work on one machine. It starts servers and workers as processes of their own,
// runs a graph, kills what it is told to kill, starts that again, and prints what happened:
//
//	magpie-cluster -tasks 10000 -cost 5ms -sleep -kill worker=2s,server=4s
//	magpie-cluster -servers 3 -kill leader=3s
//	magpie-cluster top
//
// With NATS_URL, or -nats, it uses that server and starts none. The graph is wrong if its result is not the one that is
// known before.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(ctx, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "magpie-cluster:", err)
		os.Exit(1)
	}
}

// command runs a subcommand. server and worker are those that the program starts itself as.
func command(ctx context.Context, args []string) error {
	name := "run"
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		name, args = args[0], args[1:]
	}
	switch name {
	case "run":
		o, err := parse(args)
		if err != nil {
			return err
		}
		return show(ctx, o, os.Stdout)
	case "top":
		return top(ctx, args, os.Stdout)
	case "server":
		return serve(ctx, args)
	case "worker":
		return work(ctx, args)
	}
	return fmt.Errorf("there is no command %q: run, which is the default, and top", name)
}
