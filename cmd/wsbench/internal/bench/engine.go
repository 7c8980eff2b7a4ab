package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
)

// An Engine runs task graphs and programs.
type Engine struct {
	Name     string
	About    string // one line: how it runs graphs
	Programs string // one line: how it runs programs

	// Settings returns the settings, among all combinations of asked, that differ for this engine.
	Settings func(asked Axes) []Setting
	// Bytes estimates the memory that the engine needs besides the graph, if width tasks are ready at once; nil: next
	// to none.
	Bytes func(width float64) float64
	// ProgramBytes is Bytes for a program in which width goroutines can be alive at once.
	ProgramBytes func(width float64) float64
	// ProgramWidth is the maximum number of goroutines in a program; 0: any number.
	ProgramWidth float64
	// Open prepares to run t in setting s, with all the memory that runs need.
	Open func(s Setting, t Target) (Runner, error)
	// OpenProgram prepares to run p in setting s. Its runners count no tasks, and ignore the context.
	OpenProgram func(s Setting, p workloads.Program) Runner
}

// Axes are the values asked for. Every combination is one setting.
type Axes struct {
	Policies []string
	Deques   []string
	Forks    []string
	Workers  []int

	// Of the workloads that are a [workloads.Division]. Without a value they have [DefaultQueue] and their own number
	// of tasks.
	Queues []string
	Tasks  []int

	Verbatim bool // engine magpie runs with executor.Config.Experiment.Verbatim

	Share *ShareSetting // of engine magpie; nil: it does not share the machine
}

// withoutForks returns the axes for workloads that fork nothing: they have the first way to fork only.
func (a Axes) withoutForks() Axes {
	a.Forks = a.Forks[:min(1, len(a.Forks))]
	return a
}

// A Setting is one way to run a graph. Policy, Deque and Forks are [None] where the engine has no choice.
type Setting struct {
	Engine  string
	Policy  string // with options, see parsePolicy
	Deque   string // with options, see parseDeque
	Forks   string
	Workers int
	Share   *ShareSetting // of engine magpie; nil: none
	Again   bool          // for the second time, see [Again]
}

// None is the value of policy, deque or forks for an engine that has no choice.
const None = "none"

func (s Setting) String() string {
	workers := plural(s.Workers, "worker")
	if s.Again {
		workers += ", again"
	}
	switch {
	case s.Policy == None:
		return fmt.Sprintf("%s, %s", s.Engine, workers)
	case s.Share != nil:
		return fmt.Sprintf("%s (%s, %s, %s, shared: %v), %s", s.Engine, s.Policy, s.Deque, s.Forks, s.Share, workers)
	}
	return fmt.Sprintf("%s (%s, %s, %s), %s", s.Engine, s.Policy, s.Deque, s.Forks, workers)
}

// A Runner runs one target or program in one setting. Start and Stop enclose each repetition, so that at no time two
// executors are alive, or one beside another engine.
type Runner interface {
	Start() error
	Run(context.Context) error // the timed part
	Counts() Counts            // since Start; not during Run
	Stop() error
}

// Counts are the counts of a runner.
type Counts struct {
	Tasks  uint64
	Steals uint64
	Parks  uint64
	Peers  experiment.PeerStats
	Share  host.ShareStats
}

// since returns the counts of what happened after before. Those of peers go on, and those of sharing are the latest.
func (c Counts) since(before Counts) Counts {
	c.Tasks -= before.Tasks
	c.Steals -= before.Steals
	c.Parks -= before.Parks
	return c
}

// Engines lists the engines. The first is the one to measure, the others are for comparison.
func Engines() []*Engine {
	return []*Engine{
		{
			Name:        "magpie",
			About:       "this module's executor: workers locked to OS threads that steal from each other",
			Programs:    "a program: executor.Fork and package parallel",
			Settings:    magpieSettings,
			Open:        openMagpie,
			OpenProgram: openMagpieProgram,
		},
		{
			Name:        "serial",
			About:       "the same plan walked by one goroutine, with a stack of ready tasks and plain counters",
			Programs:    "a program: plain recursion, a loop, package slices",
			Settings:    func(Axes) []Setting { return []Setting{{"serial", None, None, None, 1, nil, false}} },
			Open:        openSerial,
			OpenProgram: openSerialProgram,
		},
		{
			Name:         "goroutines",
			About:        "the same plan with a goroutine for each ready task but the first, which runs inline",
			Programs:     "a program: a goroutine for each fork, and a WaitGroup; it stands for errgroup too",
			Settings:     goroutineSettings,
			Bytes:        func(width float64) float64 { return goroutineBytes * min(width, goroutinesAlive) },
			ProgramWidth: workloads.CallsStarted,
			ProgramBytes: func(width float64) float64 { return workloads.CallBytes * min(width, workloads.CallsAlive) },
			Open:         openGoroutines,
			OpenProgram:  openGoroutinesProgram,
		},
	}
}

// verbatimName is the Engine of settings of engine magpie with executor.Config.Experiment.Verbatim.
const verbatimName = "magpie-verbatim"

func magpieSettings(a Axes) (all []Setting) {
	name := "magpie"
	if a.Verbatim {
		name = verbatimName
	}
	for _, p := range a.Policies {
		for _, d := range a.Deques {
			for _, f := range a.Forks {
				for _, w := range a.Workers {
					all = append(all, Setting{name, p, d, f, w, a.Share, false})
				}
			}
		}
	}
	return all
}

func goroutineSettings(a Axes) (all []Setting) {
	for _, w := range a.Workers {
		all = append(all, Setting{"goroutines", None, None, None, w, nil, false})
	}
	return all
}

// executorFor starts the executor of a setting. One that is to share the machine and does not is an error. Callers are
// idle: what is measured is the workers.
func executorFor(s Setting) (*executor.Executor, error) {
	return executorWith(s, executor.IdleCallers)
}

func executorWith(s Setting, callers executor.Callers) (*executor.Executor, error) {
	cfg, err := parseDeque(s.Deque)
	if err != nil {
		return nil, err
	}
	if err := parsePolicy(s.Policy, &cfg); err != nil {
		return nil, err
	}
	cfg.Workers, cfg.Name, cfg.Callers = s.Workers, threadName, callers
	cfg.Experiment.Forks, cfg.Experiment.Verbatim = s.Forks, s.Engine == verbatimName
	cfg.Host.Share = s.Share.config()
	ex, err := executor.New(cfg)
	if err != nil {
		return nil, err
	}
	if err := s.Share.checkJoined(ex.Stats().Share); err != nil {
		return nil, errors.Join(err, ex.Close())
	}
	return ex, nil
}

// threadName is the prefix of the names of the workers' threads.
const threadName = "wsbench"

// magpie runs a graph or a program on an executor of its own, made anew for each repetition.
type magpie struct {
	setting Setting
	run     func(context.Context, *executor.Executor) error
	ex      *executor.Executor
}

func openMagpie(s Setting, t Target) (Runner, error) {
	return &magpie{setting: s, run: func(ctx context.Context, ex *executor.Executor) error {
		return ex.Run(ctx, t.Graph)
	}}, nil
}

func openMagpieProgram(s Setting, p workloads.Program) Runner {
	return &magpie{setting: s, run: func(_ context.Context, ex *executor.Executor) error { return p.Magpie(ex) }}
}

func (m *magpie) Start() (err error) {
	m.ex, err = executorFor(m.setting)
	return err
}

func (m *magpie) Run(ctx context.Context) error { return m.run(ctx, m.ex) }

func (m *magpie) Counts() Counts {
	s := m.ex.Stats()
	t := s.Total
	return Counts{Tasks: t.Tasks, Steals: t.StealsWon, Parks: t.Parks, Peers: t.Peers, Share: s.Share}
}

func (m *magpie) Stop() error { return m.ex.Close() }

// withProcs sets GOMAXPROCS, and returns a function that sets it back. Setting stops the world, so withProcs leaves a
// value alone that is right already.
func withProcs(n int) (restore func()) {
	old := runtime.GOMAXPROCS(0)
	if old == n {
		return func() {}
	}
	runtime.GOMAXPROCS(n)
	return func() { runtime.GOMAXPROCS(old) }
}

// axesOf returns the axes in which runs of w differ.
func axesOf(w *workloads.Workload, asked Axes) Axes {
	if w.IsProgram() {
		return asked
	}
	return asked.withoutForks()
}
