// Command ci runs the steps of .ci/steps, which every change has to pass.
//
//	.ci/run                          all steps, with builds that all clones share
//	go run ./internal/ci -commit     what to run before a commit: format, vet and quick tests of what has changed
//	go run ./internal/ci -list       the steps, and the packages that this change touches
//	go run ./internal/ci -run fuzz   the steps whose names match a regular expression
//	go run ./internal/ci -since REV  the change begins after that commit; without it, four hours before HEAD
//	go run ./internal/ci -k          go on after a step has failed
//
// Steps begin in their order, as many at a time as there are cores. A step that fails tells its failures at once: the
// output of each failed test, the tests that had begun and not ended, and a command that repeats them. When all is over
// come the time of each step and the failures once more.
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
	"regexp"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/magpie-go/magpie/internal/module"
)

// Exit statuses.
const (
	exitOK       = 0
	exitFailed   = 1
	exitBadInput = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("ci", flag.ContinueOnError)
	flags.SetOutput(stderr)
	commit := flags.Bool("commit", false, "only what to run before a commit")
	list := flags.Bool("list", false, "list the steps and what the change touches")
	pattern := flags.String("run", "", "only steps whose names match the `regexp`")
	since := flags.String("since", "", "the `commit` before the change")
	goOn := flags.Bool("k", false, "go on after a step has failed")
	places := flags.Int("places", runtime.NumCPU(), "run `n` steps at a time")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitOK
	} else if err != nil {
		return exitBadInput
	}
	complain := func(err error) int {
		fmt.Fprintf(stderr, "ci: %v\n", err)
		return exitBadInput
	}
	re, err := regexp.Compile(*pattern)
	switch {
	case err != nil:
		return complain(fmt.Errorf("-run: %w", err))
	case flags.NArg() > 0:
		return complain(fmt.Errorf("takes flags only, got %q", flags.Arg(0)))
	case *places < 1:
		return complain(fmt.Errorf("-places %d: at least 1", *places))
	}
	root, err := module.Root(ctx, "")
	if err != nil {
		return complain(err)
	}
	text, err := os.ReadFile(filepath.Join(root, ".ci", "steps"))
	if err != nil {
		return complain(err)
	}
	preamble, steps, err := parse(string(text))
	if err != nil {
		return complain(err)
	}
	var c *change
	if *commit {
		c, err = uncommitted(root)
	} else {
		c, err = committed(root, *since)
	}
	if err != nil {
		return complain(err)
	}
	steps = slices.DeleteFunc(steps, func(s *step) bool { return s.commit != *commit || !re.MatchString(s.name) })
	if len(steps) == 0 {
		return complain(fmt.Errorf("no step's name matches %q: see -list", *pattern))
	}
	fmt.Fprintln(stdout, c)
	if *list {
		for _, s := range steps {
			fmt.Fprintln(stdout, s.name)
		}
		return exitOK
	}
	r := &runner{
		root: root, preamble: preamble, env: c.environ(), out: stdout, places: *places, goOn: *goOn, begun: time.Now(),
	}
	if !r.run(ctx, steps) {
		return exitFailed
	}
	return exitOK
}
