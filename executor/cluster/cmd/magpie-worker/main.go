// Command magpie-worker is a worker of a queue, to be copied: put your own functions into functions.go. A program that
// submits graphs registers the same functions.
//
// It connects to the server of NATS_URL. While there is none, it says so and tries again every five seconds. What time
// does not mend ends it, as a wrong password. It runs until it gets an interrupt or SIGTERM. It then finishes what it
// has within -grace, or gives it back. With -http it serves its metrics for Prometheus at /metrics, the pages of package
// httpdebug at /debug/magpie/, and those of package expvar, but for its arguments, at /debug/vars.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/dial"
)

func main() {
	log.SetFlags(log.LstdFlags | log.Lmsgprefix)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("magpie-worker", flag.ContinueOnError)
	var server dial.Server
	server.AddFlags(flags, "the `URL` of the server; the default is NATS_URL")
	queue := flags.String("queue", "default", "the `name` of the queue")
	replicas := flags.Int("replicas", 0, "how many servers hold the queue, if this worker is the first to open it; 0: one")
	name := flags.String("name", "", "the `name` of this worker; the default is that of the machine and a random part")
	slots := flags.Int("slots", 0, "how many partitions are under way at the same time; 0: four for each CPU")
	pages := flags.String("http", "", "an `address` for metrics and debug pages, as 127.0.0.1:8080: for operators only")
	grace := flags.Duration("grace", 10*time.Second, "how long partitions may go on after an interrupt")
	flags.SetOutput(io.Discard)
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Println("Usage: magpie-worker [flags]")
		flags.SetOutput(os.Stdout)
		flags.PrintDefaults()
		return err
	case err != nil:
		return fmt.Errorf("%w (-h lists the flags)", err)
	case flags.NArg() > 0:
		return fmt.Errorf("%q is not a flag (-h lists the flags)", flags.Arg(0))
	case server.URL == "":
		return errors.New("no server: set NATS_URL, or -nats")
	}
	ex, err := executor.New(executor.Config{})
	if err != nil {
		return err
	}
	defer ex.Close()
	report := func(err error) { log.Print(err) }
	var w *cluster.Worker
	nc, err := server.Await(ctx, "magpie-worker", report, func(nc *nats.Conn) error {
		w, err = cluster.NewWorker(ctx, nc, ex, functions(), cluster.WorkerConfig{
			Queue:  cluster.Queue{Name: *queue, Replicas: *replicas},
			Name:   *name,
			Slots:  *slots,
			Grace:  *grace,
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
	defer w.Close()
	if *pages != "" {
		stop, err := serveAt(*pages, ex, w)
		if err != nil {
			return err
		}
		defer stop()
	}
	log.Printf("worker %s serves queue %s of %s", w.Name(), *queue, nc.ConnectedUrlRedacted())
	return w.Run(ctx)
}
