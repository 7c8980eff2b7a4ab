package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/replay"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/pool"
)

// wsbench runs the command as main does.
func wsbench(args ...string) (stdout, stderr string, status int) {
	var out, errs strings.Builder
	status = run(context.Background(), args, &out, &errs)
	return out.String(), errs.String(), status
}

// TestBadInput: one clear line on standard error, status 2, nothing on standard output.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	tests := []struct{ args, want string }{
		{"frob", `no command "frob": there are run, deque, replay, loop, list, service, share, cluster, compare, env, version`},
		{"rnu", `no command "rnu": did you mean run? there are`},
		{"-frob", `no command "-frob"`},
		{"run mandelbort", `no workload "mandelbort": did you mean mandelbrot? there are chain,`},
		{"run fib -policy adaptve", `no policy "adaptve": did you mean adaptive? there are adaptive,`},
		{"run fib -deque chaslev", `no deque "chaslev": did you mean chaselev? there are`},
		{"run fib -engine seriel", `no engine "seriel": did you mean serial? there are`},
		{"run chain -n 1.5", `"1.5" is no whole number`},
		{"replay 000/fg2", `no experiment "000/fg2": did you mean 000/fig2? wsbench replay list has them`},
		{"list polices", `no section "polices": did you mean policies? there are graphs,`},
		{"version 1", `version takes no arguments, got "1"`},
		{"run nope", `no workload "nope": there are chain, btree, dag, fan, matmul, fib, fat,`},
		{"run chain nope", `no workload "nope"`},
		{"run -engine x", `no engine "x": there are magpie, serial, goroutines`},
		{"run chain -engine magpie,x", `no engine "x"`},
		{"run chain -policy x", `no policy "x": there are adaptive, adaptive-published`},
		{"run chain -deque x", `no deque "x": there are chaselev, abp`},
		{"run chain -format x", `no format "x": there are text, bench, json`},
		{"run chain -n 0", "size must be at least 1, not 0"},
		{"run chain -n -5", "size must be at least 1, not -5"},
		{"run -n 0", "size must be at least 1, not 0"},
		{"run chain -n x", `invalid value "x" for flag -n`},
		{"run chain -n 1e-6", `invalid value "1e-6" for flag -n`},
		{"run chain -n 1073741824", "at most 536870911 together fit a graph"},
		{"run matmul -n 9000000", "GiB are available"},
		{"run idle memory -n 1073741824", "at most 536870911 together fit a graph"},
		{"run fib -n 0", "size must be at least 1, not 0"},
		{"run fib -n 1", "fib with n=1 has no tasks: choose a larger n"},
		{"run fib -n 60", "fib with n=60 has 2.5e+12 tasks, which is more than "},
		{"run fib -n 40 -engine serial,goroutines", "engine goroutines is for 3.36e+07 at most"},
		{"run thin sort -n 200", "thin with n=200 has 3.21e+60 tasks, "},
		{"run nqueens -n 17", "nqueens goes up to n=16, not 17: choose a smaller n"},
		{"run mandelbrot -n 9000000", "GiB are available"},
		{"run cg -n 8", "cg has no instance with n=8: choose n=1400, 7000, 14000, 75000"},
		{"run ep -n 41", "ep goes up to n=40, not 41: choose a smaller n"},
		{"run chain -reps 0", "repetitions must be at least 1, not 0"},
		{"run chain -workers 0", "workers must be 1 to 4096, not 0"},
		{"run chain -settle -1s", "the time to settle must be at least 0, not -1s"},
		{"run chain -workers 5000", "workers must be 1 to 4096, not 5000"},
		{"run chain -workers 1,x", `"x" is no whole number`},
		{"run chain -workers 1,,2", "a value is empty"},
		{"run chain -workers", "flag needs an argument: -workers"},
		{"run chain -seed -1", `invalid value "-1" for flag -seed`},
		{"run chain -bogus", "flag provided but not defined: -bogus (wsbench run -h lists the flags)"},
		{"run chain -polcy abp", "not defined: -polcy: did you mean -policy? (wsbench run -h lists the flags)"},
		{"run -bogus chain", "flag provided but not defined: -bogus"},
		{"run chain -o ", "-o needs the name of a file"},
		{"run chain -o " + dir + "/none/file", "none/file: no such file or directory"},
		{"run idle -engine serial", "idle is a probe of the executor, and engine magpie is not among those to run"},
		{"run chain -deque split", `no deque "split": it is deque chaselev with forks private`},
		{"run chain -forks x", `no way to fork "x": there are private, pushed`},
		{"run sleep -queue x", `no queue "x": there are centralised, perthread, perthread-fifo, priority`},
		{"run sleep -queue perthread,centralised+one", `queue "centralised+one": what is "one"?`},
		{"run sleep -queue priority+random+half", "use priority, or perthread+random+half"},
		{"run sleep -tasks 0", "tasks must be at least 1, not 0"},
		{"run sleep -tasks 41", "sleep with n=40 can be divided into at most 40 tasks, not 41"},
		{"run sleep -unit 0s", "-unit 0s: choose a time of more than 0, and at most 1s"},
		{"run chain -engine serial -policy abp", "-policy is for engine magpie, which is not among those to run"},
		{"run sleep -engine goroutines -queue perthread", "-queue is for engine magpie"},
		{"run chain -engine serial -verbatim", "-verbatim is for engine magpie"},
		{"run chain -engine serial -share", "-share is for engine magpie, which is not among those to run"},
		{"run chain -share=", `invalid boolean value "" for -share: a value is empty`},
		{"run chain -share-weight 2", "-share-weight is of -share, which is not given"},
		{"run chain -share=false -share-maximum 2", "-share-maximum is of -share, which is not given"},
		{"run chain -share -share-weight 0", "-share-weight 0: choose 1 to 10000"},
		{"run chain -share -share-minimum -1", "-share-minimum -1: choose 0 to 1048576"},
		{"run chain -share -share-maximum 0", "-share-maximum 0: choose 1 to 1048576"},
		{"run chain -share -share-cycle 10s", "-share-cycle 10s: choose 1ms to 1s"},
		{"run chain -share -share-processors x", "-share-processors x: choose 1 to 1048576"},
		{"run chain -share -share-desire all", "-share-desire all: choose steal-ratio or ready-items"},
		{"run chain -share -share-efficiency NaN", "-share-efficiency NaN: choose a number above 0 and at most 1"},
		{"run chain -again workers", `for flag -again: what is "workers"? A condition is a setting and its values`},
		{"run chain -workers 2 -again workers=3", "-again workers=3: nothing with that is to be measured"},
		{"deque owner -again thieves=2", "-again thieves=2: nothing with that is to be measured"},
		{"run chain -n 5 -workers 1 -again workers=1 -loop -format json", "in one setting, and there are 2 settings"},
		{"run chain -loop", "-loop needs -format json"},
		{"run chain -keep -format json", "-keep is of -loop"},
		{"run chain fib -n 10 -loop -format json", "a loop repeats one workload, and 2 are to run"},
		{"replay", "replay needs experiments, or all"},
		{"replay 000/fig77", "no experiment \"000/fig77\""},
		{"replay -resume /nowhere", "has no replay to resume"},
		{"replay 000 -resume x", "leave out all others"},
		{"replay -report /nowhere", "has no replay"},
		{"replay -report x -resume x", "leave out all others"},
		{"replay -report=", "needs the directory of a replay"},
		{"replay -resume x -full", "leave out all others"},
		{"replay 000 -reps 0", "repetitions must be at least 1, not 0"},
		{"replay 001 -unit 2s", "the unit must be more than 0, and at most 1s, not 2s"},
		{"replay 002/fig2d -o /dev/null", "choose another directory with -o"},
		{"run sleep -unit 5", "-unit 5: choose a time of more than 0, and at most 1s"},
		{"run mandelbrot-views -view 7", "-view 7: choose 0 to 6"},
		{"run search -hit 2", "-hit 2: choose 0, the beginning, to 1, the end"},
		{"run raytracer -picture ", "-picture needs the name of a file"},
		{"run raytracer -picture " + dir + "/none/file", "-picture: " + dir + "/none/file: no such file or directory"},
		{"run raytracer -picture " + dir, "-picture: " + dir + ": is a directory"},
		{"run chain -picture " + dir + "/file", "-picture is for raytracer, which is not to run"},
		{"run sta -circuit c17", "-circuit c17: choose c6288, c6288-mapped, tv80, b19, or a " +
			"file whose name ends in .bench or .v"},
		{"run sta -circuit internal/bench/testdata/cut.bench", "cut.bench:3:20: the line ends where a name is " +
			"expected: complete it; or the file is cut in half"},
		{"run sta -corners 0", "-corners 0: choose 1 to 256"},
		{"run chain -queue perthread", "are for lists of tasks, and none is asked for: there are mandelbrot-views"},
		{"run chain fib -profile", "chain has no profile: there are those of fib, loopy, knary, cholesky, strassen"},
		{"run chain -all-procs", "chain has no profile: there are those of fib, loopy, knary, cholesky, strassen"},
		{"run idle -profile", "idle has no profile: there are those of fib,"},
		{"run fib -profile -whole", "a profile is of the program alone: leave out -whole"},
		{"run fib -n 5 -profile -loop -format json", "one workload in one setting, and there are 2 settings"},
		{"run loopy -n 70000", "loopy goes up to n=65536, not 70000: choose a smaller n"},
		{"run loopy -iterations 0", "-iterations 0: choose 1 to "},
		{"run knary -branching 1", "-branching 1: choose 2 to 16"},
		{"run knary -n 3 -serial 7", "knary with -branching 6 has no 7 serial children: choose -serial 0 to 6"},
		{"run knary -n 30 -branching 3", "knary with n=30 has 1.03e+14 tasks, which is more than "},
		{"run cholesky -n 10 -nonzeros 9", "-nonzeros 9: cholesky with n=10 has 10, on the diagonal, to 55"},
		{"run cholesky -n 10 -nonzeros 56", "-nonzeros 56: cholesky with n=10 has 10, on the diagonal, to 55"},
		{"run cholesky -n 9000000", "GiB are available"},
		{"run strassen -n 40000", "strassen goes up to n=32768, not 40000: choose a smaller n"},
		{"run fib -branching 3", "-branching is for knary, which is not to run"},
		{"run chain -view 2", "-view is for mandelbrot-views, which is not to run"},
		{"deque nope", `no experiment "nope": there are owner, latency, thieves, retries, tree`},
		{"deque owner -deque x",
			`no deque "x": there are chaselev, abp, bwos, bwos-fifo, padws, adws, pdqr, pdqs, locked`},
		{"deque -deque chaselev,x", `no deque "x"`},
		{"deque owner -capacity 0", "capacity must be at least 1, not 0"},
		{"deque owner -capacity -3", "capacity must be at least 1, not -3"},
		{"deque owner -capacity 99999999",
			"Capacity is 99999999: choose 1 to 16777216 for chaselev, or 0 for the default"},
		{"deque owner -capacity 100", "owner needs room for 8 blocks of 64 items: choose a capacity of at least 512"},
		{"deque owner -deque padws -block 0", "a block must have at least 1 item, not 0"},
		{"deque tree -deque padws -block 99999", "BlockSize is 99999: choose 1 to 32768"},
		{"deque owner -block 8,x", `"x" is no whole number`},
		{"deque owner -stolen 101", "the share that is stolen must be 0 to 100 percent, not 101"},
		{"deque owner -stolen -1", "the share that is stolen must be 0 to 100 percent, not -1"},
		{"deque latency -stolen 0", "latency needs something to be stolen: choose a share above 0"},
		{"deque owner -stolen 1 -n 99", "owner: 1% of n=99 is no item: choose a larger n or share"},
		{"deque thieves -thieves 0", "thieves must be 1 to 1024, not 0"},
		{"deque thieves -thieves 1025", "thieves must be 1 to 1024, not 1025"},
		{"deque tree -workers 0", "workers must be 1 to 1024, not 0"},
		{"deque tree -tree oak", `no tree "oak": there are fat, thin, and FANOUT:DEPTH`},
		{"deque tree -tree 2:40", "tree 2:40 has more than 268435456 nodes: choose a smaller one"},
		{"deque tree -work -1", "work must not be negative, but is -1"},
		{"deque -n 0", "size must be at least 1, not 0"},
		{"deque owner -n 2000000000", "size must be 1 to 1073741823, not 2000000000"},
		{"deque thieves -n 1000000000 -capacity 16777216 -thieves 1024", "GiB are available: choose a smaller n"},
		{"deque -reps 0", "repetitions must be at least 1, not 0"},
		{"deque -format x", `no format "x": there are text, bench, json`},
		{"deque owner -o ", "-o needs the name of a file"},
		{"deque -workers x", `invalid value "x" for flag -workers`},
		{"deque -bogus", "flag provided but not defined: -bogus (wsbench deque -h lists the flags)"},
		{"loop x", `loop takes no arguments, got "x"`},
		{"loop -workers 0", "workers must be 1 to 4096, not 0"},
		{"loop -workers 5000", "workers must be 1 to 4096, not 5000"},
		{"loop -workers x", `invalid value "x" for flag -workers`},
		{"loop -n 5", "flag provided but not defined: -n (wsbench loop -h lists the flags)"},
		{"list x", `no section "x": there are graphs, programs, lists, probes,`},
		{"list -x", "flag provided but not defined: -x"},
		{"service x", `service takes no arguments, got "x": -background chooses rows of the table`},
		{"service -background x", `no background "x": there are none, goroutines, errgroup, magpie, magpie-nice5,`},
		{"service -load x", `no load "x": there are pure, allocating, gc`},
		{"service -task 5", "-task 5: choose a time, as 50ms or 100us"},
		{"service -task 1us", "task 1µs: choose 10µs to 1s"},
		{"service -rate 0", "rate 0: choose 1 to 20000 requests a second"},
		{"service -rate NaN", "rate NaN: choose 1 to 20000 requests a second"},
		{"service -seconds 0", "-seconds 0: choose 0.05 to 3600"},
		{"service -seconds -1", "-seconds -1: choose 0.05 to 3600"},
		{"service -seconds 1e99", "-seconds 1e+99: choose 0.05 to 3600"},
		{"service -seconds NaN", "-seconds NaN: choose 0.05 to 3600"},
		{"service -rounds 0", "rounds must be 1 to 1000, not 0"},
		{"service -seconds 3600 -rounds 9", "more than 10000000 requests with one background"},
		{"service -format bench", `no format "bench": there are text, json`},
		{"service -o ", "-o needs the name of a file"},
		{"service -svg ", "-svg : give a file whose name ends in .svg"},
		{"service -svg " + dir + "/none/a.svg", "there is no directory " + dir + "/none"},
		{"share x", `share takes no arguments, got "x": -path names the file`},
		{"share -every 0s", "-every must be more than 0, not 0s"},
		{"share -every x", `invalid value "x" for flag -every`},
		{"share -path ", "-path needs the name of a file"},
		{"share -format bench", `no format "bench": there are text, json`},
		{"env x", `env takes no arguments, got "x"`},
		{"env -format bench", `no format "bench": there are text, json`},
		{"compare", "compare takes two files, OLD and NEW, got 0"},
		{"compare a", "compare takes two files, OLD and NEW, got 1"},
		{"compare a b c", "compare takes two files, OLD and NEW, got 3"},
		{"compare " + dir + "/a " + dir + "/b", "no such file"},
	}
	for _, tt := range tests {
		stdout, stderr, status := wsbench(strings.Split(tt.args, " ")...)
		require.Equal(t, 2, status, tt.args)
		require.Empty(t, stdout, tt.args)
		require.Contains(t, stderr, tt.want, tt.args)
		require.True(t, strings.HasPrefix(stderr, "wsbench: "), tt.args)
		require.Equal(t, 1, strings.Count(stderr, "\n"), tt.args)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestHelp: help that is asked for goes to standard output, and fits a terminal.
func TestHelp(t *testing.T) {
	for _, args := range []string{
		"", "-h", "--help", "help", "help help", "--help -h", "help run", "help cluster",
		"run -h", "run chain -workers 2 -h", "deque -h", "deque owner -h",
		"loop -h", "list -h", "service -h", "share -h", "env -help", "compare -h", "version -h",
	} {
		stdout, stderr, status := wsbench(strings.Fields(args)...)
		require.Zero(t, status, args)
		require.Empty(t, stderr, args)
		require.Contains(t, stdout, "Usage: wsbench ", args)
		for l := range strings.Lines(stdout) {
			require.LessOrEqual(t, len([]rune(l)), 105, "%s: %s", args, l)
		}
	}
	stdout, _, _ := wsbench()
	for _, c := range subcommands() {
		require.Contains(t, stdout, "\n  "+c.name+" ")
	}
	stdout, _, _ = wsbench("run", "-h")
	again, _, _ := wsbench("help", "run")
	require.Equal(t, stdout, again)
	_, stderr, status := wsbench("help", "rum")
	require.Equal(t, exitBadInput, status)
	require.Contains(t, stderr, "did you mean run?")
	for _, f := range strings.Fields(
		"workers engine policy deque forks verbatim share[=FILE] queue tasks picture view unit hit profile iterations " +
			"branching serial nonzeros n reps seed format o") {
		require.Contains(t, stdout, "\n  -"+f+" ")
	}
	stdout, _, _ = wsbench("replay", "-h")
	for _, e := range replay.Experiments() {
		require.Contains(t, stdout, "\n  "+e.ID+" ")
	}
	stdout, _, _ = wsbench("service", "-h")
	for _, f := range strings.Fields("background load task rate seconds rounds seed format o svg") {
		require.Contains(t, stdout, "\n  -"+f+" ")
	}
	stdout, _, _ = wsbench("deque", "-h")
	for _, f := range strings.Fields("deque capacity block stolen thieves workers tree work n reps seed format o") {
		require.Contains(t, stdout, "\n  -"+f+" ")
	}
}

func TestList(t *testing.T) {
	stdout, stderr, status := wsbench("list")
	require.Zero(t, status)
	require.Empty(t, stderr)
	section := ""
	names := make(map[string][]string)
	var replays []string
	for _, e := range replay.Experiments() {
		replays = append(replays, e.ID)
	}
	for l := range strings.Lines(stdout) {
		switch {
		case strings.HasPrefix(l, "    ") || l == "\n":
		case strings.HasPrefix(l, "  "):
			words := strings.Fields(l)
			require.Greater(t, len(words), 1, "%q has no description", l)
			names[section] = append(names[section], words[0])
		default:
			section = strings.Fields(l)[0]
		}
	}
	require.Equal(t, map[string][]string{
		"workloads": {"chain", "btree", "dag", "fan", "matmul"},
		"programs,": strings.Fields("fib fat thin nqueens skynet sort scan mandelbrot mm mi raytracer clip bfs ep " +
			"cg loop sta loopy knary complement cholesky strassen"),
		"probes":   {"call", "call-idle", "few-idle", "submit", "submit-idle", "idle", "sleeper", "awake", "rerun", "memory"},
		"engines":  {"magpie", "serial", "goroutines"},
		"policies": experiment.Policies(),
		"ways":     experiment.Forks(),
		"lists":    {"mandelbrot-views", "matmul-k", "sleep", "sleep-permuted", "search"},
		"queues":   texts(pool.Queues()),
		"stealing": {
			"+neighbour+one", "+neighbour+half", "+neighbour+all", "+random+one", "+random+half", "+random+all",
		},
		"idling": {"+leave", "+spin"},

		"experiments": {"owner", "latency", "thieves", "retries", "tree"},
		"kinds":       texts(deque.Kinds()),
		"replays":     replays,
		"load":        {"loop"},
	}, names)
}

// texts returns the texts of all in list.
func texts[T fmt.Stringer](list []T) (all []string) {
	for _, x := range list {
		all = append(all, x.String())
	}
	return all
}

// TestListSections: a part of the list is as in the whole list.
func TestListSections(t *testing.T) {
	whole, _, _ := wsbench("list")
	joined := ""
	for _, s := range newTool(nil, nil).sections() {
		part, stderr, status := wsbench("list", s.name)
		require.Zero(t, status, stderr)
		require.True(t, strings.HasPrefix(part, s.title+"\n  "), part)
		if joined != "" {
			joined += "\n"
		}
		joined += part
	}
	require.Equal(t, whole, joined)
	two, _, _ := wsbench("list", "engines", "graphs")
	require.True(t, strings.HasPrefix(two, "workloads that are graphs"), "in the order of the list: %s", two)
	require.Contains(t, two, "\n\nengines (-engine)\n")
}

func TestVersion(t *testing.T) {
	stdout, stderr, status := wsbench("version")
	require.Zero(t, status, stderr)
	require.Regexp(t, `^wsbench \S.*, go\S+ \w+/\w+\n$`, stdout)
}

func TestEnv(t *testing.T) {
	stdout, stderr, status := wsbench("env")
	require.Zero(t, status)
	require.Empty(t, stderr)
	require.Contains(t, stdout, "threads sleep on")

	file := filepath.Join(t.TempDir(), "env")
	stdout, _, status = wsbench("env", "-format", "json", "-o", file)
	require.Zero(t, status)
	require.Empty(t, stdout)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var e environment.Environment
	require.NoError(t, json.Unmarshal(text, &e))
	require.Positive(t, e.Cores)
}

// figures matches the parts of a table of results that vary, and the spaces before them, which vary too.
var figures = regexp.MustCompile(` +[0-9.]+( ± [0-9]+%!?|!|ns|µs|ms|s|x)?`)

// looseNote matches the line about figures that vary, which is there if the machine is busy.
var looseNote = regexp.MustCompile(`(?m)\n^! .*\n`)

// TestTour runs all workloads on all engines, in a size that only shows that they work.
func TestTour(t *testing.T) {
	stdout, stderr, status := wsbench("run", "-n", "200", "-workers", "2", "-reps", "5")
	require.Zero(t, status, stderr)
	require.Empty(t, stderr)
	_, table, ok := strings.Cut(looseNote.ReplaceAllString(stdout, ""), "\n\n")
	require.True(t, ok)
	table, notes, ok := strings.Cut(table, "\n\n")
	require.True(t, ok)
	short, notes, ok := strings.Cut(notes, "\n\n")
	require.True(t, ok)
	require.Regexp(t, `^In short, with 2 workers: a task costs [0-9.]+ to [0-9.]+ ns, on goroutines [0-9.]+ to [0-9.]+; `+
		`matmul is [0-9.]+ times as fast as serial\.$`, short)
	require.Equal(t, strings.Join(tourNotes(nil), "\n")+"\n", notes)
	rows := strings.Split(table, "\n")
	require.Equal(t, "workload engine workers n build ns/task ns/task wall CPU util steals parks vs serial verified",
		strings.Join(strings.Fields(rows[0]), " "))
	want := strings.Fields("chain btree dag fan matmul")
	require.Len(t, rows, 1+3*len(want))
	for i, r := range rows[1:] {
		f := strings.Fields(figures.ReplaceAllString(r, " 0"))
		require.Equal(t, want[i/3], f[0], r)
		require.Equal(t, []string{"magpie", "serial", "goroutines"}[i%3], f[1], r)
		require.Equal(t, "yes", f[len(f)-1], r)
	}
}

// TestSettleDefault: what is given a number of repetitions has that number, unless it asks for more.
func TestSettleDefault(t *testing.T) {
	for args, want := range map[string]time.Duration{
		"": defaultSettle, "chain": defaultSettle, "chain -reps 5": 0, "chain -settle 1s": time.Second,
		"chain -reps 5 -settle 1s": time.Second, "chain -settle 0": 0,
	} {
		o, err := newTool(nil, nil).parseRun(strings.Fields(args))
		require.NoError(t, err)
		require.Equal(t, want, o.session.Settle, args)
	}
}

// TestFlagsAnywhere: flags mean the same before, between and after the workloads.
func TestFlagsAnywhere(t *testing.T) {
	tool := newTool(nil, nil)
	want, err := tool.parseRun(strings.Fields("-n 5 -workers 2,1,2 -engine serial,magpie chain fan chain"))
	require.NoError(t, err)
	require.Equal(t, []int{2, 1}, want.session.Axes.Workers)
	require.Equal(t, 5, want.session.N)
	require.EqualValues(t, 42, want.session.Seed)
	require.Equal(t, 5, want.session.Reps)
	require.Len(t, want.session.Workloads, 2)
	require.Equal(t, "magpie", want.session.Engines[0].Name)
	require.Equal(t, "serial", want.session.Engines[1].Name)
	for _, args := range []string{
		"chain fan -n 5 -workers 2,1 -engine magpie,serial",
		"chain -n 5 fan -workers=2,1 --engine=serial,magpie",
		"-engine serial,magpie chain -n=5 -workers 2,1 fan",
	} {
		got, err := tool.parseRun(strings.Fields(args))
		require.NoError(t, err, args)
		require.Equal(t, summary(want), summary(got), args)
	}
}

func summary(o *runOptions) (all []any) {
	s := o.session
	for _, w := range s.Workloads {
		all = append(all, w.Name)
	}
	for _, e := range s.Engines {
		all = append(all, e.Name)
	}
	return append(all, s.Axes, s.N, s.Reps, s.Seed, s.Tour, o.format, o.output)
}

// TestDefaults: without arguments the tour runs.
func TestDefaults(t *testing.T) {
	tool := newTool(nil, nil)
	o, err := tool.parseRun(nil)
	require.NoError(t, err)
	require.True(t, o.session.Tour)
	require.Len(t, o.session.Workloads, 5)
	require.Len(t, o.session.Engines, 3)
	require.Empty(t, o.session.Probes)
	require.NotEmpty(t, o.notes)

	o, err = tool.parseRun([]string{"chain", "idle"})
	require.NoError(t, err)
	require.False(t, o.session.Tour)
	require.Equal(t, []any{"chain", "magpie"}, summary(o)[:2])
	require.Len(t, o.session.Probes, 1)
	require.Empty(t, o.notes)
}
