// Build makes targets by shell commands, several at a time, each after those that it depends on, as make does.
//
//	build                  makes the first target of the file Buildfile
//	build -j 4 -k test     makes test, four commands at a time, and goes on after a failure with what does not need it
//
// A Buildfile has targets, what they depend on, and indented lines for the shell:
//
//	program: main.o util.o
//		cc -o program main.o util.o
//	main.o: main.c
//		cc -c main.c
//
// A target that is a file is up to date, and left alone, if nothing that it depends on is newer.
//
// It is an example, to copy from: a graph that a file describes, a run that goes on after failures, child processes.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// run builds what args say, and writes to out what it does.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("build", flag.ExitOnError)
	file := flags.String("f", "Buildfile", "the `file` with the targets")
	most := flags.Int("j", executor.Default().Workers(), "the largest `number` of targets that are made at a time")
	keepGoing := flags.Bool("k", false, "go on after a failure with targets that do not depend on it")
	_ = flags.Parse(args) // exits if it fails
	b := &build{graph: graph.New("build"), targets: make(map[string]*target), out: out}
	goals, err := b.read(*file)
	if err != nil {
		return err
	}
	if flags.NArg() > 0 {
		goals = flags.Args()
	}
	if err := b.add(&target{name: "the command line", needs: goals}); err != nil {
		return err
	}
	job := executor.Job(b.graph)
	if *keepGoing {
		job = graph.KeepGoing(b.graph)
	}
	r := executor.Default().Start(ctx, executor.With(job, executor.RunOptions{Workers: max(*most, 1)}))
	err = r.Wait()
	if report := (*graph.Report)(nil); errors.As(err, &report) {
		for _, t := range report.Skipped {
			fmt.Fprintf(out, "skipped %s: it depends on %s, which failed\n", t.Name, t.Cause.Task)
		}
	}
	p, upToDate := r.Progress(), b.upToDate.Load()
	fmt.Fprintf(out, "%d made, %d up to date, %d failed, %d skipped\n", p.Done-upToDate, upToDate, p.Failed, p.Skipped)
	return err
}

// A build has the targets of a file, and the graph of those that are to be made.
type build struct {
	targets         map[string]*target
	graph           *graph.Graph
	out             io.Writer
	begun, upToDate atomic.Int64 // targets
}

type target struct {
	name, script string
	needs        []string   // targets and files
	task         graph.Task // zero if it is not to be made
}

// read reads the targets of a file, and returns the first.
func (b *build) read(file string) (goals []string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var last *target
	for i, line := range strings.Split(string(text), "\n") {
		name, needs, isTarget := strings.Cut(line, ":")
		switch indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"); {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case indented && last != nil:
			last.script += line + "\n"
		case indented || !isTarget || b.targets[name] != nil:
			return nil, fmt.Errorf("%s:%d: want a new target, as in \"program: main.o util.o\", got %q", file, i+1, line)
		default:
			last = &target{name: name, needs: strings.Fields(needs)}
			b.targets[name] = last
			goals = append(goals, name)
		}
	}
	if last == nil {
		return nil, fmt.Errorf("%s has no targets", file)
	}
	return goals[:1], nil
}

// add adds what t needs to the graph, before t.
func (b *build) add(t *target) error {
	for _, name := range t.needs {
		need := b.targets[name]
		if need == nil {
			if _, err := os.Stat(name); err != nil {
				return fmt.Errorf("%s needs %q, which is neither a target nor a file", t.name, name)
			}
			continue
		}
		if need.task == (graph.Task{}) {
			need.task = b.graph.Task(func(ctx context.Context) error { return b.make(ctx, need) }).Named(name)
			if err := b.add(need); err != nil {
				return err
			}
		}
		if t.task != (graph.Task{}) {
			need.task.Precede(t.task)
		}
	}
	return nil
}

// make runs the script of a target that is not up to date.
func (b *build) make(ctx context.Context, t *target) (err error) {
	number := b.begun.Add(1)
	if t.isUpToDate() {
		b.upToDate.Add(1)
		return nil
	}
	script := exec.CommandContext(ctx, "sh", "-ec", t.script)
	script.WaitDelay = time.Second // after an interrupt, for children that hold the output open
	var output []byte
	executor.Blocking(func() { output, err = script.CombinedOutput() })
	fmt.Fprintf(b.out, "[%d/%d] %s\n%s", number, b.graph.Len(), t.name, output)
	return cmp.Or(ctx.Err(), err) // the script was killed if another target has failed
}

// isUpToDate reports whether the target is a file, and all that it needs are files that are not newer.
func (t *target) isUpToDate() bool {
	made, err := os.Stat(t.name)
	return err == nil && !slices.ContainsFunc(t.needs, func(need string) bool {
		file, err := os.Stat(need)
		return err != nil || file.ModTime().After(made.ModTime())
	})
}
