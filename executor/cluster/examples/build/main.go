// Build makes files by shell commands, on any number of machines, and runs no command again whose inputs are the same:
//
//	build                          make the first target of the file Buildfile, with four worker processes
//	build -nats URL page.html      make a target, with the workers of the queue "build" of a server
//	build worker -nats URL         one of those: whoever may write to the queue runs commands on it
//
// A Buildfile has targets, what they need, and indented lines for the shell. A target without lines is a group:
//
//	all: page.html
//	page.html: page.sed page.md
//		sed -f page.sed page.md > page.html
//
// A command runs in a directory that has the files that its target needs, and nothing else. What it makes is kept in
// the cache under the hash of all that it was made from. After a failure the build goes on with what does not need it.
//
// It is an example, to copy from: a cache that workers share, failures that are results, child processes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/examples/internal/site"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// queue is the name of the queue, if no flag says another.
const queue = "build"

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "worker" {
		return site.Work(ctx, args[1:], queue, registry)
	}
	c := site.Config{Queue: queue}
	flags := flag.NewFlagSet("build", flag.ExitOnError)
	c.AddFlags(flags)
	dir := flags.String("C", ".", "the `directory` of the Buildfile; its folder .build has the cache if there is no -nats")
	_ = flags.Parse(args) // exits if it fails
	targets, err := read(filepath.Join(*dir, "Buildfile"))
	if err != nil {
		return err
	}
	goals := flags.Args()
	if len(goals) == 0 {
		goals = []string{targets.first}
	}
	if err := targets.check(*dir, goals); err != nil {
		return err
	}

	c.Store = filepath.Join(*dir, ".build")
	s, err := site.Start(ctx, c)
	if err != nil {
		return err
	}
	defer s.Close()
	cache, err := makeCache(ctx, s.JetStream(), c.Replicas)
	if err != nil {
		return site.Why(s.JetStream(), err)
	}
	b := newBuild(*dir, targets, cache)
	if err := b.add(ctx, goals); err != nil {
		return err
	}
	results, err := s.Run(ctx, b.graph, out)
	if err != nil {
		return err
	}
	return b.finish(ctx, results, out)
}

// finish prints what was done, and writes the files that were made. Its error says that not all were.
func (b *build) finish(ctx context.Context, results *cluster.Results, out io.Writer) error {
	var ran, cached, failed, skipped int
	for _, t := range b.order {
		made, err := b.made[t].Result(results)
		switch {
		case err != nil:
			return err
		case t.script == "":
			continue
		case made.Failed == t.name:
			failed++
			fmt.Fprintf(out, "failed  %s\n%s", t.name, made.Output)
			continue
		case made.Failed != "":
			skipped++
			fmt.Fprintf(out, "skipped %s: it needs %s\n", t.name, made.Failed)
			continue
		case made.Cached:
			cached++
		default:
			ran++
			fmt.Fprintf(out, "run     %s\n%s", t.name, made.Output)
		}
		files := map[string]Blob{t.name: made.Files[t.name]} // no others, whatever a worker says
		if err := b.cache.checkOut(ctx, b.dir, files); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d run, %d from the cache, %d failed, %d skipped\n", ran, cached, failed, skipped)
	if failed > 0 {
		return errors.New("not all was made")
	}
	return nil
}
