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
	"time"
)

// Exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1 // something was wrong, or hung
	exitBadInput    = 2
	exitInterrupted = 130 // as for a shell command that SIGINT ended
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends the soak after the scenarios in progress. A second ends the process.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(stderr)
	tasks := flags.Int64("tasks", 100_000_000, "end after this number of `tasks`")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "the `seed` of all random choices")
	list := flags.String("chaos", "all", "`which` disturbances: all, none, or names separated by commas")
	every := flags.Bool("every-policy", false,
		"draw every policy: those whose thieves stay awake take the cores from other executors, so tasks take long")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		return exitBadInput
	}
	o := defaults(*tasks, *seed, stderr)
	o.every = *every
	var err error
	o.storms, err = choose(o.storms, *list)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("takes flags only, got %q", flags.Arg(0))
	}
	if err == nil && *tasks < 1 {
		err = fmt.Errorf("-tasks %d: there must be some", *tasks)
	}
	if err != nil {
		fmt.Fprintf(stderr, "soak: %v\n", err)
		return exitBadInput
	}
	r, err := soakFor(ctx, o)
	r.write(stdout)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "soak: seed %d: %v\n", *seed, err)
		return exitFailed
	case r.stopped:
		fmt.Fprintln(stderr, "soak: interrupted")
		return exitInterrupted
	}
	return exitOK
}
