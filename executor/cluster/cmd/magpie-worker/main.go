// Command magpie-worker is a worker of a queue, to be copied: put your own functions into functions.go. A program that
// submits graphs registers the same functions.
//
// It connects to the server of NATS_URL, and runs until it gets an interrupt or SIGTERM. It then finishes what it has
// within -grace, or gives it back.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
)

func main() {
	log.SetFlags(log.LstdFlags | log.Lmsgprefix)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("magpie-worker", flag.ContinueOnError)
	url := flags.String("nats", os.Getenv("NATS_URL"), "the `URL` of the server; the default is NATS_URL")
	creds := flags.String("creds", "", "a `file` with the credentials of the user, if the server asks for them")
	queue := flags.String("queue", "", "the `name` of the queue")
	name := flags.String("name", "", "the `name` of this worker")
	slots := flags.Int("slots", 0, "how many partitions are under way at the same time; 0: four for each CPU")
	grace := flags.Duration("grace", 10*time.Second, "how long partitions may go on after an interrupt")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *url == "" {
		return fmt.Errorf("no server: set NATS_URL, or -nats")
	}
	opts := []nats.Option{nats.Name("magpie-worker"), nats.MaxReconnects(-1)}
	if *creds != "" {
		opts = append(opts, nats.UserCredentials(*creds))
	}
	nc, err := nats.Connect(*url, opts...)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", *url, err)
	}
	defer nc.Close()
	ex, err := executor.New(executor.Config{})
	if err != nil {
		return err
	}
	defer ex.Close()
	w, err := cluster.NewWorker(ctx, nc, ex, functions(), cluster.WorkerConfig{
		Queue:  cluster.Queue{Name: *queue},
		Name:   *name,
		Slots:  *slots,
		Grace:  *grace,
		Report: func(err error) { log.Print(err) },
	})
	if err != nil {
		return err
	}
	log.Printf("worker %s serves %s", w.Name(), nc.ConnectedUrl())
	return w.Run(ctx)
}
