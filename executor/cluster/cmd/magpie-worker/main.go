// Command magpie-worker is a worker of a queue, to be copied: put your own functions into functions.go. A program that
// submits graphs registers the same functions.
//
// It connects to the server of NATS_URL, and runs until it gets an interrupt or SIGTERM. It then finishes what it has
// within -grace, or gives it back. With -http it serves its metrics for Prometheus at /metrics, the pages of package
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
	"regexp"
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
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("magpie-worker", flag.ContinueOnError)
	url := flags.String("nats", os.Getenv("NATS_URL"), "the `URL` of the server; the default is NATS_URL")
	creds := flags.String("creds", "", "a `file` with the credentials of the user, if the server asks for them")
	ca := flags.String("ca", "", "a `file` with the authority that has signed the server's certificate, if it is your own")
	inbox := flags.String("inbox", "_INBOX", "the `prefix` that the user may listen on")
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
	case *url == "":
		return errors.New("no server: set NATS_URL, or -nats")
	}
	opts := []nats.Option{nats.Name("magpie-worker"), nats.MaxReconnects(-1), nats.CustomInboxPrefix(*inbox)}
	if *creds != "" {
		opts = append(opts, nats.UserCredentials(*creds))
	}
	if *ca != "" {
		opts = append(opts, nats.RootCAs(*ca))
	}
	nc, err := nats.Connect(*url, opts...)
	if err != nil {
		return fmt.Errorf("connect to %s: %w%s", secret.ReplaceAllString(*url, "…@"), err, howToLogIn(err))
	}
	defer nc.Close()
	ex, err := executor.New(executor.Config{})
	if err != nil {
		return err
	}
	defer ex.Close()
	w, err := cluster.NewWorker(ctx, nc, ex, functions(), cluster.WorkerConfig{
		Queue:  cluster.Queue{Name: *queue, Replicas: *replicas},
		Name:   *name,
		Slots:  *slots,
		Grace:  *grace,
		Report: func(err error) { log.Print(err) },
	})
	if err != nil {
		return err
	}
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

// howToLogIn says what is to be set after a server has refused the user, and is "" after another error.
func howToLogIn(err error) string {
	for _, refused := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked,
		nats.ErrAccountAuthExpired} {
		if errors.Is(err, refused) {
			return ": the server refuses the user: -nats, or NATS_URL, must have the password, as in " +
				"nats://USER:PASSWORD@HOST, or -creds must name a file with credentials that are valid"
		}
	}
	return ""
}

// secret is what is not printed of a URL.
var secret = regexp.MustCompile(`[^/@,]+@`)
