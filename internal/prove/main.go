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

	"github.com/magpie-go/magpie/internal/bench"
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
	check := flags.Bool("check", false, "check the claims of README.md against the records")
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
	case *check && (*list || *only != ""):
		err = errors.New("-check goes with no other flag: it looks at all that is claimed")
	}
	if err != nil {
		fmt.Fprintf(stderr, "prove: %v\n", err)
		return exitBadInput
	}
	l, err := newLab(stdout)
	if err == nil {
		defer os.RemoveAll(l.temp)
		l.jobs = *jobs
		switch {
		case *check:
			err = l.check()
		case *list:
			err = l.list(chosen)
		default:
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

func newLab(out io.Writer) (*lab, error) {
	root, err := moduleRoot()
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
	return &lab{root: root, dir: dir, temp: temp, out: out, binaries: make(map[string]string)}, nil
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
			fmt.Fprintf(l.out, "%s: complete since %s\n", y.name, r.Latest.Format(time.DateOnly))
			continue
		}
		err = y.do(ctx, l, r)
		if err := l.writeTable(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recordOf returns the layer's record, or a new one if there is none for this code. A new record of parts keeps the
// parts whose code has not changed.
func (l *lab) recordOf(y *layer) (*record, error) {
	code, err := y.version(l.root)
	if err != nil {
		return nil, err
	}
	r, err := load(l.dir, y.name)
	if err != nil {
		return nil, err
	}
	if r != nil && r.Version == code {
		if r.Commit == "" {
			r.Commit = commit(l.root) // HEAD has the same code
		}
		return r, nil
	}
	anew := &record{
		Layer: y.name, Version: code, Commit: commit(l.root), Machine: machine(),
		Seed: uint64(now().Unix()), Begun: now(),
	}
	if anew.Commit == "" {
		fmt.Fprintf(l.out, "%s: the tree has changes that are not committed: the record will name no commit\n", y.name)
	}
	if r == nil {
		return anew, nil
	}
	begins := "begins anew"
	if y.parts != nil {
		version, err := y.partVersions(l.root)
		if err != nil {
			return nil, err
		}
		all := len(r.Results)
		r.keep(version)
		begins = fmt.Sprintf("goes on with %d of %d programs, which it has not changed", len(r.Results), all)
		anew.Results, anew.Done, anew.Seconds, anew.Latest = r.Results, r.Done, r.Seconds, r.Latest
	}
	fmt.Fprintf(l.out, "%s: the code has changed since %s: %s\n", y.name, r.Latest.Format(time.DateOnly), begins)
	return anew, nil
}

func machine() string {
	e := bench.ReadEnvironment()
	return fmt.Sprintf("%s, %d cores, %s %s, %s/%s, %s", e.CPU, e.Cores, e.GOOS, e.Kernel, e.GOOS, e.GOARCH, e.Go)
}

// list prints how far the chosen layers have come.
func (l *lab) list(chosen []*layer) error {
	for _, y := range chosen {
		r, err := load(l.dir, y.name)
		if err != nil {
			return err
		}
		state := "not begun"
		if r != nil {
			code, err := y.version(l.root)
			if err != nil {
				return err
			}
			state = fmt.Sprintf("%s of %s", y.soFar(r), y.target(r))
			if r.Commit != "" {
				state += ", at commit " + r.Commit
			}
			if code != r.Version {
				state += "; the code has changed since"
			}
		}
		fmt.Fprintf(l.out, "%-18s %s\n%-18s %s\n", y.name, y.what, "", state)
	}
	return nil
}
