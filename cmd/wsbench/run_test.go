package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
)

// brokenEngine returns an engine that runs everything and reports one task too few.
func brokenEngine() *bench.Engine {
	serial := bench.Engines()[1]
	return &bench.Engine{
		Name: "broken",
		Settings: func(bench.Axes) []bench.Setting {
			none := bench.None
			return []bench.Setting{{Engine: "broken", Policy: none, Deque: none, Forks: none, Workers: 1}}
		},
		Open: func(s bench.Setting, t bench.Target) (bench.Runner, error) {
			r, err := serial.Open(s, t)
			return miscounting{r}, err
		},
	}
}

type miscounting struct{ bench.Runner }

func (m miscounting) Counts() bench.Counts {
	c := m.Runner.Counts()
	if c.Tasks > 0 {
		c.Tasks--
	}
	return c
}

// TestWrongAnswer: the command prints one line that says what is wrong, and no time, and exits with status 1. An output
// file stays as it was.
func TestWrongAnswer(t *testing.T) {
	for _, format := range bench.Formats() {
		var out, errs bytes.Buffer
		tool := newTool(&out, &errs)
		tool.engines = append(tool.engines, brokenEngine())
		args := strings.Fields("run chain -n 50 -reps 2 -workers 1 -engine magpie,serial,broken -format " + format)
		require.Equal(t, 1, tool.run(context.Background(), args))
		require.Empty(t, out.String())
		require.Equal(t, "wsbench: wrong answer: chain on broken, 1 worker: 49 tasks ran, the graph has 50\n",
			errs.String())

		file := filepath.Join(t.TempDir(), "old")
		require.NoError(t, os.WriteFile(file, []byte("old"), 0o644))
		require.Equal(t, 1, tool.run(context.Background(), append(args, "-o", file)))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, "old", string(text))
		left, err := os.ReadDir(filepath.Dir(file))
		require.NoError(t, err)
		require.Len(t, left, 1)
	}
}

// brokenProgram is fib with a result that is one too large.
type brokenProgram struct{ workloads.Program }

func (brokenProgram) Verify() error { return errors.New("the result is 56, not 55") }

// TestWrongProgram is TestWrongAnswer for a program with a wrong result.
func TestWrongProgram(t *testing.T) {
	for _, format := range bench.Formats() {
		for _, engine := range []string{
			"magpie (adaptive, chaselev, private), 2 workers", "serial, 1 worker", "goroutines, 2 workers",
		} {
			var out, errs bytes.Buffer
			tool := newTool(&out, &errs)
			for i, w := range tool.workloads {
				if w.Name == "fib" {
					broken := *w
					broken.Program = func(n int, seed uint64, v workloads.Values) (workloads.Program, error) {
						p, err := w.Program(n, seed, v)
						return brokenProgram{p}, err
					}
					tool.workloads[i] = &broken
				}
			}
			name := engine[:strings.IndexAny(engine, " ,")]
			args := strings.Fields("run fib -n 10 -reps 2 -workers 2 -engine " + name + " -format " + format)
			require.Equal(t, 1, tool.run(context.Background(), args))
			require.Empty(t, out.String())
			require.Equal(t, "wsbench: wrong answer: fib on "+engine+": the result is 56, not 55\n", errs.String())
		}
	}
}

// TestPrograms runs each program from the command line, and checks the fields that scripts rely on.
func TestPrograms(t *testing.T) {
	stdout, stderr, status := wsbench(strings.Fields("run fib thin nqueens skynet sort scan mandelbrot mm mi " +
		"raytracer clip sta loopy knary complement cholesky strassen -iterations 9 -branching 2 -n 8 -reps 1 " +
		"-workers 2 -engine magpie,serial,goroutines -forks private,pushed -format json")...)
	require.Zero(t, status, stderr)
	require.Empty(t, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, 17*4)
	for i, l := range lines {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(l), &fields))
		for _, f := range strings.Fields("workload engine policy deque forks workers n rep build_ns wall_ns cpu_ns " +
			"ns_per_task cpu_util steals parks vctx ictx peak_rss_bytes verified") {
			require.Contains(t, fields, f)
		}
		require.Equal(t, []string{"private", "pushed", "none", "none"}[i%4], fields["forks"])
	}

	// A column without values is left out.
	table, stderr, status := wsbench(strings.Fields("run fib fat -n 2 -reps 5 -workers 1 -engine magpie,serial")...)
	require.Zero(t, status, stderr)
	require.NotContains(t, table, "build")
	require.Contains(t, table, "vs serial")
	// Beside a graph, which has values, the programs' cells are empty.
	table, stderr, status = wsbench(strings.Fields("run fib chain -n 5 -reps 5 -workers 1 -forks pushed,private")...)
	require.Zero(t, status, stderr)
	rows := strings.Split(strings.TrimSpace(looseNote.ReplaceAllString(table, "")), "\n")
	require.Regexp(t, `^workload +engine +forks +workers +n +build ns/task`, rows[3])
	require.Regexp(t, `^fib +magpie +pushed +1 +5 +- +`, rows[4])
	require.Regexp(t, `^fib +magpie +private +1 +5 +- +`, rows[5])
	require.Regexp(t, `^chain +magpie +pushed +1 +5 +[0-9]`, rows[6])
	require.Len(t, rows, 7)

	text, stderr, status := wsbench(strings.Fields("run fib -n 5 -reps 2 -workers 1 -format bench")...)
	require.Zero(t, status, stderr)
	require.Equal(t, 2, strings.Count(text,
		"\nBenchmarkRun/workload=fib/engine=magpie/policy=adaptive/deque=chaselev/forks=private/workers=1/n=5"))
	require.NotContains(t, text, "build-")
}

// TestProfile runs the programs of document 003 from the command line, with their profiles.
func TestProfile(t *testing.T) {
	run := "run fib loopy knary cholesky strassen -n 5 -iterations 5 -branching 3 -serial 2 -nonzeros 9 -reps 1 " +
		"-workers 1 -engine magpie,serial,goroutines -profile -format "
	stdout, stderr, status := wsbench(strings.Fields(run + "json")...)
	require.Zero(t, status, stderr)
	require.Empty(t, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, 5*4)
	work := map[string][2]float64{"fib": {15, 5}, "loopy": {30, 10}, "knary": {121, 121}, "cholesky": {1, 1},
		"strassen": {125, 125}}
	for i, l := range lines {
		var r bench.Result
		require.NoError(t, json.Unmarshal([]byte(l), &r))
		require.Equal(t, []string{"magpie", "serial", "goroutines", "profile"}[i%4], r.Engine)
		require.True(t, r.Verified)
		if r.Profile != nil {
			require.Equal(t, work[r.Workload], [2]float64{r.Profile.Work, r.Profile.Span}, r.Workload)
		}
		require.Equal(t, r.Engine == "profile", r.Profile != nil)
		require.Equal(t, r.Engine == "magpie", r.AllProcsNS > 0)
	}

	text, stderr, status := wsbench(strings.Fields("run loopy -n 2 -reps 1 -workers 1 -profile")...)
	require.Zero(t, status, stderr)
	require.Regexp(t, `workload +engine .*wall .* work +span +parallelism +in units +all procs +verified`, text)
	require.Contains(t, text, "iterations=1000000")
	text, stderr, status = wsbench(strings.Fields("run knary -n 2 -reps 1 -workers 1 -profile -format bench")...)
	require.Zero(t, status, stderr)
	require.Regexp(t, `Run/workload=knary/engine=profile/workers=1/n=2/branching=6/serial=1 .*parallelism-units`, text)
}

// TestAllProcs: the all-procs time is measured without a profile.
func TestAllProcs(t *testing.T) {
	stdout, stderr, status := wsbench(strings.Fields("run loopy -n 5 -reps 2 -workers 1 -all-procs -format json")...)
	require.Zero(t, status, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, 2)
	for _, l := range lines {
		var r bench.Result
		require.NoError(t, json.Unmarshal([]byte(l), &r))
		require.Nil(t, r.Profile)
		require.Positive(t, r.AllProcsNS)
	}
}

// TestLoopOnce: after a first line once, each line is for one repetition.
func TestLoopOnce(t *testing.T) {
	for input, want := range map[string]int{"": 0, "once\n": 1, "once\nonce\nonce\n": 3} {
		var out, errs bytes.Buffer
		tool := newTool(&out, &errs)
		tool.stdin = strings.NewReader(input)
		status := tool.run(t.Context(), strings.Fields("run fib -n 5 -loop -keep -format json"))
		require.Zero(t, status, errs.String())
		require.Equal(t, want, strings.Count(out.String(), `"workload":"fib"`), input)
	}
}

// TestPicture: the picture is there in any format, is no input of the results, and no part of them.
func TestPicture(t *testing.T) {
	for _, format := range bench.Formats() {
		file := filepath.Join(t.TempDir(), "a.png")
		stdout, stderr, status := wsbench(
			strings.Fields("run raytracer -n 40 -reps 1 -workers 2 -format " + format + " -picture " + file)...)
		require.Zero(t, status, stderr)
		require.NotContains(t, stdout, "picture")
		f, err := os.Open(file)
		require.NoError(t, err)
		picture, err := png.Decode(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Equal(t, image.Pt(40, 30), picture.Bounds().Size())
	}
}

// TestLists runs lists of tasks from the command line, and checks the fields that scripts rely on.
func TestLists(t *testing.T) {
	stdout, stderr, status := wsbench(strings.Fields("run sleep sleep-permuted search matmul-k mandelbrot-views " +
		"-n 16 -reps 1 -workers 2 -unit 10us -queue centralised,perthread+random+half,priority -tasks 4,16 " +
		"-format json")...)
	require.Zero(t, status, stderr)
	require.Empty(t, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, 5*3*2)
	for i, l := range lines {
		var r struct {
			Queue    string
			Tasks    int
			Verified bool
			BoundNS  int64 `json:"bound_ns"`
			Pool     map[string]any
		}
		require.NoError(t, json.Unmarshal([]byte(l), &r))
		require.Equal(t, []string{"centralised", "perthread+random+half", "priority"}[i/2%3], r.Queue)
		require.Equal(t, []int{4, 16}[i%2], r.Tasks)
		require.True(t, r.Verified)
		require.Equal(t, i < 12, r.BoundNS > 0)
		for _, f := range strings.Fields("tasks busy_ns steals moved failed_steals lock_waits lock_wait_ns looks") {
			require.Contains(t, r.Pool, f)
		}
	}
	stdout, stderr, status = wsbench(
		strings.Fields("run sleep -n 4 -reps 1 -workers 2 -unit 1us -engine magpie,serial")...)
	require.Zero(t, status, stderr)
	require.Regexp(t, `workload +engine +queue +workers +n +tasks +ns/task.* busy +queue steals +.*vs bound`, stdout)
}

// TestVerbatim: results with -verbatim, and no others, are those of an engine with a name of its own.
func TestVerbatim(t *testing.T) {
	text, stderr, status := wsbench(
		strings.Fields("run fan sleeper -n 5 -reps 1 -workers 1 -verbatim -engine magpie,serial -format bench")...)
	require.Zero(t, status, stderr)
	require.Contains(t, text, "workload=fan/engine=magpie-verbatim/policy=adaptive/")
	require.Contains(t, text, "workload=sleeper/engine=magpie-verbatim/policy=adaptive/")
	require.Contains(t, text, "workload=fan/engine=serial/")
	require.NotContains(t, text, "engine=magpie/")

	text, stderr, status = wsbench(strings.Fields("run fan -n 5 -reps 1 -workers 1 -format bench")...)
	require.Zero(t, status, stderr)
	require.NotContains(t, text, "verbatim")
}

// TestInterrupted: the status is 130, and a file stays as it was. Results that were complete are shown.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var out, errs bytes.Buffer
	tool := newTool(&out, &errs)
	interrupting := *tool.workloads[1]
	original := interrupting.Make
	interrupting.Make = func(n int, seed uint64) workloads.Work {
		cancel()
		return original(n, seed)
	}
	tool.workloads[1] = &interrupting
	file := filepath.Join(t.TempDir(), "old")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o644))
	require.Equal(t, 130, tool.run(ctx, strings.Fields("run chain btree -n 50 -reps 1 -o "+file)))
	require.Equal(t, "wsbench: interrupted\n", errs.String())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "old", string(text))

	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	require.Equal(t, 130, tool.run(ctx, strings.Fields("run chain btree -n 50 -reps 1 -format json")))
	require.Equal(t, 1, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), `"workload":"chain"`)
}

// TestOutput writes each format to a file instead of standard output.
func TestOutput(t *testing.T) {
	for _, format := range bench.Formats() {
		file := filepath.Join(t.TempDir(), "new")
		args := "run fan -n 20 -reps 2 -workers 1,2 -engine magpie,serial -format " + format + " -o " + file
		stdout, stderr, status := wsbench(strings.Fields(args)...)
		require.Zero(t, status, stderr)
		require.Empty(t, stdout)
		require.Empty(t, stderr)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		switch format {
		case "json":
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			require.Len(t, lines, 6)
			for _, l := range lines {
				var r bench.Result
				require.NoError(t, json.Unmarshal([]byte(l), &r))
				require.Equal(t, 22, r.Tasks)
			}
		case "bench":
			require.Equal(t, 6, strings.Count(string(text), "\nBenchmarkRun/workload=fan/"))
		case "text":
			require.Equal(t, 3, strings.Count(string(text), "\nfan "))
		}
	}
}

// TestCompareRuns compares two runs by the command alone.
func TestCompareRuns(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"old", "new"} {
		args := "run chain -n 30 -reps 6 -workers 1 -engine serial -format bench -o " + dir + "/" + name
		_, stderr, status := wsbench(strings.Fields(args)...)
		require.Zero(t, status, stderr)
	}
	stdout, stderr, status := wsbench("compare", dir+"/old", dir+"/new")
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "sec/task, lower is better")
	require.Contains(t, stdout, "Run/workload=chain/engine=serial")
	require.Contains(t, stdout, "n=6)")
	all, _, status := wsbench("compare", "-all", dir+"/old", dir+"/new")
	require.Zero(t, status)
	require.Greater(t, len(all), len(stdout))
}

// TestProbe runs a probe from the command line.
func TestProbe(t *testing.T) {
	stdout, stderr, status := wsbench(strings.Fields("run submit -n 20 -reps 1 -workers 1,2")...)
	require.Zero(t, status, stderr)
	require.Equal(t, 2, strings.Count(stdout, "p50-ns"))
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// TestUnwritable: results that cannot be written are a failure.
func TestUnwritable(t *testing.T) {
	for _, args := range []string{"run chain -n 5 -reps 1", "run chain -n 5 -reps 1 -format json", "list", "env"} {
		var errs strings.Builder
		require.Equal(t, 1, run(context.Background(), strings.Fields(args), brokenPipe{}, &errs), args)
		require.Equal(t, "wsbench: broken pipe\n", errs.String(), args)
	}
}

// TestProgress: only long measurements are announced, and the line is removed before any other output.
func TestProgress(t *testing.T) {
	var b strings.Builder
	p := &progress{w: &b}
	p.step("short", slow-1)
	require.Empty(t, b.String())
	p.step("long", 2*time.Second)
	require.Equal(t, "long, about 2s to the end …", b.String())
	p.step("short", 0)
	require.Equal(t, "long, about 2s to the end …\r\x1b[K", b.String())
	p.clear()
	require.Equal(t, "long, about 2s to the end …\r\x1b[K", b.String())

	// The line is never so long that a terminal would wrap it.
	b.Reset()
	p.step(strings.Repeat("long ", 50), time.Hour)
	require.Len(t, []rune(b.String()), lineWidth)

	// Without a terminal there is no line.
	require.False(t, isTerminal(&b))
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer file.Close()
	require.False(t, isTerminal(file))
	p = newProgress(file)
	p.step("long", time.Hour)
	p.clear()
	info, err := file.Stat()
	require.NoError(t, err)
	require.Zero(t, info.Size())
}
