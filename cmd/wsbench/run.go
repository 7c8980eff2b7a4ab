package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/pool"
	"github.com/magpie-go/magpie/internal/procs"
)

// runRun is wsbench run.
func (t *tool) runRun(ctx context.Context, args []string) error {
	o, err := t.parseRun(args)
	if err != nil {
		return err
	}
	return measure(t, &o.request, func(step stepper, emit emitter[bench.Result]) error {
		o.session.Step, o.session.Emit = step, emit
		if o.loop {
			return t.loop(ctx, &o.session)
		}
		return o.session.Run(ctx)
	})
}

// runOptions holds the arguments of wsbench run.
type runOptions struct {
	request
	session bench.Session
	loop    bool
}

// loop repeats the workload of s between a line of standard input and the input's end. An empty line of standard output
// says that it has prepared. If the line is "once", each line is for one repetition instead.
func (t *tool) loop(ctx context.Context, s *bench.Session) error {
	var ended atomic.Bool
	in := bufio.NewReader(t.stdin)
	next := func() bool { return !ended.Load() }
	begin := func() error {
		fmt.Fprintln(t.stdout)
		switch line, err := in.ReadString('\n'); {
		case err != nil:
			ended.Store(true)
		case line == "once\n":
			first := true
			next = func() bool {
				if first {
					first = false
					return true
				}
				_, err := in.ReadString('\n')
				return err == nil
			}
		default:
			go func() {
				_, _ = io.Copy(io.Discard, in)
				ended.Store(true)
			}()
		}
		return nil
	}
	return s.Loop(ctx, begin, func() bool { return next() })
}

func (t *tool) parseRun(args []string) (*runOptions, error) {
	var (
		fs       = newFlags("run")
		workers  = numbers{procs.Base()}
		engines  list
		policies = list{experiment.Policies()[0]}
		deques   = list{deque.KindChaseLev.String()}
		forks    = list{experiment.Forks()[0]}
		queues   list
		tasks    numbers
		params   = make(map[string]string)
		o        = new(runOptions)
		s        = &o.session
	)
	fs.Var(&workers, "workers", "")
	fs.Var(&engines, "engine", "")
	fs.Var(&policies, "policy", "")
	fs.Var(&deques, "deque", "")
	fs.Var(&forks, "forks", "")
	fs.Var(&queues, "queue", "")
	fs.Var(&tasks, "tasks", "")
	for _, p := range workloads.Params(t.workloads) {
		fs.Func(p.Name, "", func(value string) error {
			params[p.Name] = value
			return nil
		})
	}
	verbatim := fs.Bool("verbatim", false, "")
	var share optional
	knobs := make(map[string]string)
	fs.Var(&share, "share", "")
	for _, k := range bench.ShareKnobs() {
		fs.Func(k.Name, "", func(value string) error {
			knobs[k.Name] = value
			return nil
		})
	}
	againFlag(fs, &s.Again)
	fs.DurationVar(&s.Settle, "settle", defaultSettle, "")
	fs.BoolVar(&s.Whole, "whole", false, "")
	fs.BoolVar(&s.Pin, "pin", false, "")
	fs.BoolVar(&s.Profile, "profile", false, "")
	fs.BoolVar(&s.AllProcs, "all-procs", false, "")
	fs.BoolVar(&s.Active, "active", false, "")
	fs.BoolVar(&o.loop, "loop", false, "")
	fs.BoolVar(&s.Keep, "keep", false, "")
	names, err := o.parse(fs, args)
	if err != nil {
		return nil, err
	}
	if isSet(fs, "reps") && !isSet(fs, "settle") {
		s.Settle = 0
	}
	s.N, s.Reps, s.Seed, s.Params = o.n, o.reps, o.seed, params
	s.Axes = bench.Axes{
		Policies: policies, Deques: deques, Forks: forks, Workers: workers, Queues: queues, Tasks: tasks,
		Verbatim: *verbatim,
	}
	if s.Axes.Share, err = shareSetting(share, knobs); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		s.Tour, s.Engines = true, t.engines
		for _, w := range t.workloads {
			if w.Tour > 0 {
				s.Workloads = append(s.Workloads, w)
			}
		}
		o.notes = tourNotes
	} else {
		s.Engines = t.engines[:1]
		if err := t.pick(s, names); err != nil {
			return nil, err
		}
	}
	if o.loop && (o.format != "json" || o.output != "") {
		return nil, input.Errorf("-loop needs -format json, and writes to standard output")
	}
	if s.Keep && (!o.loop || s.Whole) {
		return nil, input.Errorf("-keep is of -loop, and not for -whole")
	}
	if len(engines) > 0 {
		if s.Engines, err = pickNamed("engine", t.engines, engineName, engines); err != nil {
			return nil, err
		}
	}
	if s.Engines[0] != t.engines[0] {
		// Only the executor has these settings. Without it they would be ignored.
		for _, name := range []string{"policy", "deque", "forks", "queue", "verbatim", "share", "active"} {
			if isSet(fs, name) {
				return nil, input.Errorf("-%s is for engine %s, which is not among those to run", name,
					t.engines[0].Name)
			}
		}
	}
	if len(s.Probes) > 0 && s.Engines[0] != t.engines[0] {
		return nil, input.Errorf("%s is a probe of the executor, and engine %s is not among those to run",
			s.Probes[0].Name, t.engines[0].Name)
	}
	return o, nil
}

// shareSetting returns the setting that the flags of sharing ask for, nil if they ask for none.
func shareSetting(share optional, knobs map[string]string) (*bench.ShareSetting, error) {
	if share.given {
		return bench.NewShareSetting(share.value, knobs)
	}
	for _, k := range bench.ShareKnobs() {
		if _, ok := knobs[k.Name]; ok {
			return nil, input.Errorf("-%s is of -share, which is not given", k.Name)
		}
	}
	return nil, nil
}

// pick adds the workloads and probes of these names to s.
func (t *tool) pick(s *bench.Session, names []string) error {
	seen := make(map[string]bool)
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		found := false
		for _, w := range t.workloads {
			if w.Name == name {
				s.Workloads, found = append(s.Workloads, w), true
			}
		}
		for _, p := range t.probes {
			if p.Name == name {
				s.Probes, found = append(s.Probes, p), true
			}
		}
		if !found {
			return input.Unknown("workload", name, t.workloadNames())
		}
	}
	return nil
}

func engineName(e *bench.Engine) string { return e.Name }

func (t *tool) workloadNames() (names []string) {
	for _, w := range t.workloads {
		names = append(names, w.Name)
	}
	for _, p := range t.probes {
		names = append(names, p.Name)
	}
	return names
}

func runHelp(t *tool) string {
	graphs, programs, lists := t.kinds()
	var params strings.Builder
	for _, p := range workloads.Params(t.workloads) {
		about := p.About
		if p.Default != "" {
			about += " (default " + p.Default + ")"
		}
		fmt.Fprintf(&params, "  %-15s %s\n", "-"+p.Name+" "+p.Unit, about)
	}
	var shareKnobs strings.Builder
	for _, k := range bench.ShareKnobs() {
		about := strings.ReplaceAll(k.About, "\n", "\n"+strings.Repeat(" ", 20))
		if k.Default != "" {
			about += " (default " + k.Default + ")"
		}
		fmt.Fprintf(&shareKnobs, "    -%s %s\n%20s%s\n", k.Name, k.Unit, "", about)
	}
	workloadName := func(w *workloads.Workload) string { return w.Name }
	return fmt.Sprintf(`Usage: wsbench run [WORKLOAD…] [flags]

Builds each graph, has every engine check the order of its edges in an untimed run, then
measures repetitions of all combinations in turn and verifies each. Programs, and lists of
tasks, are verified by their results. Without a workload it runs a tour of the graphs, in
small sizes on all engines.

Graphs:   %s
Programs: %s
Lists:    %s
Probes:   %s
(wsbench list explains them)

Flags, before or after the workloads. A LIST is separated by commas, and every
combination is run.
  -workers LIST   number of workers (default GOMAXPROCS, here %d)
  -engine LIST    %s (default %s; the tour: all)
  -policy LIST    adaptive, abp … (default %v): how idle workers look for work and
                  sleep; wsbench list has all policies. After the name may come
                  +threshold=N, +yields=HOW, +busywakes and +check, as in
                  mbws+threshold=128; see package executor/experiment
  -deque LIST     chaselev, padws … (default %s): the kind of deque for ready tasks;
                  wsbench list has all kinds. After the name may come options: how much
                  a thief takes (+half or +block), +capacity=N and +blocksize=N, as in
                  padws+half+capacity=256+blocksize=16; see package
                  executor/experiment
  -forks LIST     %s (default %v): when programs push forks; graphs and
                  probes have no forks, and run with the first only. Deques that hide
                  tasks and that thieves cannot ask, as bwos and pdqs, push them always
  -verbatim       engine magpie in the form of the paper that policy adaptive-published
                  is from: no spans of tasks, no polling, and so on; see package
                  executor/experiment. Its results are those of magpie-verbatim
  -share[=FILE]   the executors share the machine with others that have this flag or a
                  Config.Host.Share, by the table in FILE (default: where wsbench share looks). Results
                  have the last desire, allotment, usage and efficiency. A run that cannot share
                  fails. These flags go with it:
%s  -whole          time everything that a process does: building the graph, making the
                  executor, running, closing. This is the window of perf stat in document 000
  -profile        for %s: also the work, the span and
                  the parallelism, by a serial run with a timer, the engine profile. The
                  parallelism "in units" is that in the program's own units, and exact. Runs
                  on engine magpie get the time until all workers have had work: "all procs"
  -all-procs      the latter without a profile
  -pin            as many processors as workers, dealt over the processor packages, as
                  with taskset in document 000
  -active         count the workers that run items, four times a millisecond: their mean
                  number, and in format json that of each twentieth of the time
  -loop           for a program that runs several wsbench at once: write an empty line when
                  all is prepared, wait for a line, then repeat one workload in one setting
                  until standard input ends (with -format json only). If the line is once,
                  it repeats once, and once more for each further line
  -keep           with -loop: all repetitions on one executor
  -queue LIST     %s (default
                  %s): the queue of a list of tasks. After perthread may
                  come a way to steal, and after any queue +spin, busy-waiting, as in
                  perthread+random+half+spin; wsbench list explains them
  -tasks LIST     number of tasks of a list (default: each workload's own)
  -again SETTINGS measure these settings a second time, in turn with the others, as in
                  policy=abp|mbws,workers=2: the two differ by noise. There are engine, policy,
                  deque, forks, workers, queue and tasks
%s  -n SIZE         size of every workload (default: each workload's own)
  -reps N         repetitions of each combination (default %d)
  -settle TIME    go on repeating a workload for that long while a median of ns/task, or of
                  what a probe measures first, may be off by more than 10 %%, by its confidence
                  interval (default %v; 0 if -reps is given). A figure that still may be is
                  marked: ± 23%%!
  -seed S         seed of random graphs and data (default %d)
  -format FORMAT  text: a table; bench: the Go benchmark format, as benchstat and
                  wsbench compare read it; json: one object per line and repetition
                  (default text)
  -o FILE         write to FILE, which is replaced only if the command succeeds

Examples:
  wsbench run
  wsbench run btree fan -workers 1,2 -engine magpie,serial,goroutines
  wsbench run fib fat thin -engine magpie,serial -forks private,pushed
  wsbench run loopy knary cholesky strassen -profile -workers 1,2
  wsbench run btree -deque padws,padws+half,padws+block,padws+blocksize=8
  wsbench run dag -reps 10 -format bench -o new.txt
  wsbench run sleep sleep-permuted -workers 4 -queue centralised,perthread,perthread+neighbour+half
  wsbench run search -queue centralised,priority -tasks 16,64,256
  wsbench run call-idle submit-idle idle
  wsbench run knary -share -share-maximum 1 & wsbench run knary -share; wsbench share
`,
		names(graphs, workloadName), wrapped(names(programs, workloadName), 10), names(lists, workloadName),
		names(t.probes, func(p *bench.Probe) string { return p.Name }), procs.Base(), names(t.engines, engineName),
		t.engines[0].Name, experiment.Policies()[0],
		deque.KindChaseLev, strings.Join(experiment.Forks(), ", "), experiment.Forks()[0],
		shareKnobs.String(), names(bench.Profiled(), workloadName), names(pool.Queues(), pool.Queue.String),
		bench.DefaultQueue, params.String(), defaultReps, defaultSettle, defaultSeed)
}
