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
	"strings"
	"syscall"
	"time"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/internal/module"
)

// Exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1
	exitBadInput    = 2
	exitInterrupted = 130 // as for a shell command that SIGINT ended
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("prove", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("only", "", "run the layers whose names begin with one of these comma-separated `names`")
	list := flags.Bool("list", false, "list the layers, and how far each has come")
	jobs := flags.Int("jobs", 1, "explore `n` model programs at a time")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		return exitBadInput
	}
	chosen, err := choose(*only)
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("takes flags only, got %q", flags.Arg(0))
	case *jobs < 1:
		err = fmt.Errorf("-jobs %d: at least 1", *jobs)
	}
	if err != nil {
		fmt.Fprintf(stderr, "prove: %v\n", err)
		return exitBadInput
	}
	l, err := newLab(ctx, stdout)
	if err == nil {
		defer os.RemoveAll(l.temp)
		l.jobs = *jobs
		if *list {
			err = l.list(chosen)
		} else {
			err = l.prove(ctx, chosen)
		}
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "prove: interrupted; what was done is kept")
		return exitInterrupted
	case err != nil:
		fmt.Fprintf(stderr, "prove: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// choose picks layers by the beginnings of their names.
func choose(only string) (chosen []*layer, err error) {
	for _, prefix := range strings.Split(only, ",") {
		found := false
		for i := range layers {
			if strings.HasPrefix(layers[i].name, prefix) {
				chosen, found = append(chosen, &layers[i]), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no layer's name begins with %q: see -list", prefix)
		}
	}
	return chosen, nil
}

func newLab(ctx context.Context, out io.Writer) (*lab, error) {
	root, err := module.Root(ctx, "")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(root, "testdata", "proof")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "prove")
	if err != nil {
		return nil, err
	}
	return &lab{
		root: root, dir: dir, temp: temp, out: out, binaries: make(map[string]string),
		commit: func() string { return commitOf(root) },
	}, nil
}

// prove does the rest of the chosen layers.
func (l *lab) prove(ctx context.Context, chosen []*layer) error {
	if err := l.writeTable(); err != nil {
		return err
	}
	for _, y := range chosen {
		r, err := l.recordOf(y)
		if err != nil {
			return err
		}
		if r.isComplete(y) {
			l.tell("%s: complete since %s\n", y.name, r.Latest.Format(time.DateOnly))
			continue
		}
		err = errors.Join(y.do(ctx, l, r), l.disown(y, r))
		if err := l.writeTable(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// disown takes the commit out of a record if the tree has changed since the layer was taken up.
func (l *lab) disown(y *layer, r *record) error {
	if r.Commit == "" || r.Done == 0 || l.commit() == r.Commit {
		return nil
	}
	l.tell("%s: the tree is no longer that of commit %s: the record names no commit\n", y.name, r.Commit)
	r.Commit = ""
	return r.save(l.dir)
}

// recordOf returns the layer's record, or a new one if there is none for the tree as it is now.
func (l *lab) recordOf(y *layer) (*record, error) {
	r, err := load(l.dir, y.name)
	if err != nil {
		return nil, err
	}
	head := l.commit()
	if r.holdsFor(head) {
		return r, nil
	}
	switch {
	case r != nil:
		l.tell("%s: the record of %s holds for %s; begins anew for %s\n",
			y.name, r.Latest.Format(time.DateOnly), named(r.Commit), named(head))
	case head == "":
		l.tell("%s: begins for %s\n", y.name, named(head))
	}
	return &record{Layer: y.name, Commit: head, Machine: machine(), Seed: uint64(now().Unix()), Begun: now()}, nil
}

func machine() string {
	e := environment.Read()
	return fmt.Sprintf("%s, %d cores, %s %s, %s/%s, %s", e.CPU, e.Cores, e.GOOS, e.Kernel, e.GOOS, e.GOARCH, e.Go)
}

// list prints how far the chosen layers have come.
func (l *lab) list(chosen []*layer) error {
	head := l.commit()
	for _, y := range chosen {
		r, err := load(l.dir, y.name)
		if err != nil {
			return err
		}
		state := "not begun"
		if r != nil {
			state = fmt.Sprintf("%s of %s on %s, for %s",
				y.soFar(r), y.target(r), r.Latest.Format(time.DateOnly), named(r.Commit))
			if !r.holdsFor(head) {
				state += "; begins anew"
			}
		}
		l.tell("%-18s %s\n%-18s %s\n", y.name, y.what, "", state)
	}
	return nil
}
