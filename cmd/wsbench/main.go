// Command wsbench runs task graphs and fork-join programs on Magpie's executor, serially and on plain goroutines,
// verifies the results and reports the times. It also runs a paper's experiments on single deques, and threads that
// compute beside a measurement.
//
//	wsbench run                 a tour of the graphs, ten seconds, on a busy machine thirty
//	wsbench run WORKLOAD…       run and verify workloads
//	wsbench deque               experiments with deques, without the executor
//	wsbench replay ID…          repeat the experiments of the source documents, and judge their claims
//	wsbench loop                threads that compute until they are told to end
//	wsbench list                workloads, engines, policies, deques, ways to fork, queues, experiments
//	wsbench service             latency of an HTTP service beside work in the background
//	wsbench share               how executors that share the machine divide its processors
//	wsbench cluster COMMAND     servers and workers on one machine that run graphs, with faults
//	wsbench compare OLD NEW     compare two files that run or deque wrote with -format bench or json
//	wsbench env                 describe the machine
//	wsbench version             the version of Magpie, of Go, and the system
//
// Without arguments, or with -h, it prints its usage.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/service"
)

func main() {
	if status, ok := service.Child(os.Stdin, os.Stdout, os.Stderr); ok {
		os.Exit(status) // this is a process of wsbench service
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal cancels the run in progress and those after it. A second ends the process.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1 // a wrong answer, or results that could not be written
	exitBadInput    = 2
	exitInterrupted = 130 // as for a shell command that SIGINT ended
)

// run is the command without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return newTool(stdout, stderr).run(ctx, args)
}

// A tool is the command with everything that it can measure.
type tool struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	workloads      []*workloads.Workload
	probes         []*bench.Probe
	engines        []*bench.Engine
	experiments    []*bench.DequeExperiment
	dequeKinds     []*bench.DequeKind
}

func newTool(stdout, stderr io.Writer) *tool {
	return &tool{
		os.Stdin, stdout, stderr, workloads.All(), bench.Probes(), bench.Engines(),
		bench.DequeExperiments(), bench.DequeKinds(),
	}
}

// A subcommand parses its own arguments. It returns errHelp if they ask for its help.
type subcommand struct {
	name, args, about string
	help              func(*tool) string
	run               func(*tool, context.Context, []string) error
}

var errHelp = errors.New("help requested")

func subcommands() []subcommand {
	return []subcommand{
		{"run", "[WORKLOAD…] [flags]", "run and verify workloads; without any, a tour of the five graphs",
			runHelp, (*tool).runRun},
		{"deque", "[EXPERIMENT…] [flags]", "all kinds of deque alone: owners, thieves, latencies, trees",
			dequeHelp, (*tool).runDeque},
		{"replay", "EXPERIMENT… [flags]", "the experiments of the source documents, judged claim by claim",
			replayHelp, (*tool).runReplay},
		{"loop", "[flags]", "threads that compute until they are told to end",
			loopHelp, (*tool).runLoop},
		{"list", "[SECTION…]", "workloads, probes, engines, policies, deques, forks, queues, experiments",
			listHelp, (*tool).runList},
		{"service", "[flags]", "latencies of an HTTP service beside work in the background",
			serviceHelp, (*tool).runService},
		{"share", "[flags]", "how executors that share the machine divide its processors, live",
			shareHelp, (*tool).runShare},
		{"cluster", "COMMAND [flags]", "servers and workers on one machine that run graphs, with faults",
			clusterHelp, (*tool).runCluster},
		{"compare", "OLD NEW", "compare two files written with -format bench or json", compareHelp, (*tool).runCompare},
		{"env", "[flags]", "the machine, and how much of it may be used", envHelp, (*tool).runEnv},
		{"version", "", "the version of Magpie, of Go, and the system", versionHelp, (*tool).runVersion},
	}
}

func (t *tool) run(ctx context.Context, args []string) int {
	switch {
	case len(args) > 1 && isHelp(args[0]) && !isHelp(args[1]):
		args = append(args[1:len(args):len(args)], "-h") // help run is run -h
	case len(args) == 0 || isHelp(args[0]):
		fmt.Fprint(t.stdout, mainHelp())
		return exitOK
	}
	for _, c := range subcommands() {
		if c.name != args[0] {
			continue
		}
		err := c.run(t, ctx, args[1:])
		if errors.Is(err, errHelp) {
			fmt.Fprint(t.stdout, c.help(t))
			return exitOK
		}
		return t.report(ctx, err)
	}
	return t.report(ctx,
		input.Errorf("%v (wsbench -h explains them)", input.Unknown("command", args[0], commandNames())))
}

// report prints an error on one line, and returns its exit status.
func (t *tool) report(ctx context.Context, err error) int {
	var bad *input.Error
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(t.stderr, "wsbench: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(t.stderr, "wsbench: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	if errors.As(err, &bad) {
		return exitBadInput
	}
	return exitFailed
}

func isHelp(arg string) bool {
	return arg == "-h" || arg == "-help" || arg == "--help" || arg == "help"
}

func commandNames() (names []string) {
	for _, c := range subcommands() {
		names = append(names, c.name)
	}
	return names
}

func mainHelp() string {
	var b strings.Builder
	b.WriteString(`wsbench measures what it costs to run a task of a graph, or of a program that forks:
on Magpie's executor, serially, and on plain goroutines. It measures the deques alone, too.
Every run is verified; no time is ever shown for a wrong answer.

Usage: wsbench COMMAND [arguments]

`)
	for _, c := range subcommands() {
		fmt.Fprintf(&b, "  %-28s %s\n", c.name+" "+c.args, c.about)
	}
	b.WriteString(`
Begin with

  wsbench run

which takes ten seconds, and thirty on a busy machine. wsbench COMMAND -h tells more about a
command.

Exit status: 0 success; 1 a wrong answer, or results that could not be written;
2 bad input, and nothing was measured; 130 interrupted.
`)
	return b.String()
}
