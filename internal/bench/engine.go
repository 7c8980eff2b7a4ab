package bench

import (
	"context"
	"fmt"
	"runtime"

	"github.com/magpie-go/magpie/executor"
)

// An Engine runs task graphs.
type Engine struct {
	Name  string
	About string // one line

	// Settings lists, of all that is asked for, what differs for this engine.
	Settings func(asked Axes) []Setting
	// Bytes estimates what the engine needs, besides the graph, where width tasks are ready at once; nil: next to nothing.
	Bytes func(width float64) float64
	// Open prepares to run t in setting s, with all the memory that runs need.
	Open func(s Setting, t Target) (Runner, error)
}

// Axes are the values asked for; every combination is one setting.
type Axes struct {
	Policies []string
	Deques   []string
	Workers  []int
}

// A Setting is one way to run a graph. Policy and Deque are [None] where the engine has none.
type Setting struct {
	Engine  string
	Policy  string
	Deque   string
	Workers int
}

// None stands where an engine has no choice of policy or deque.
const None = "none"

// Deques lists the kinds of deque there are.
func Deques() []string { return []string{"chaselev"} }

func (s Setting) String() string {
	if s.Policy == None {
		return fmt.Sprintf("%s, %s", s.Engine, plural(s.Workers, "worker"))
	}
	return fmt.Sprintf("%s (%s, %s), %s", s.Engine, s.Policy, s.Deque, plural(s.Workers, "worker"))
}

// A Runner runs one target in one setting. Start and Stop enclose each repetition, so that never two executors are
// alive, nor one beside an engine that uses none.
type Runner interface {
	Start() error
	Run(context.Context) error // the timed part
	Counts() Counts            // since Start; not during Run
	Stop() error
}

// Counts is what a runner counts.
type Counts struct {
	Tasks  uint64
	Steals uint64
	Parks  uint64
}

// Engines lists the engines. The first is the one to measure, the others are what to compare it with.
func Engines() []*Engine {
	return []*Engine{
		{
			Name:     "magpie",
			About:    "this module's executor: workers locked to OS threads that steal from each other",
			Settings: magpieSettings,
			Open:     openMagpie,
		},
		{
			Name:     "serial",
			About:    "the same plan walked by one goroutine, with a stack of ready tasks and plain counters",
			Settings: func(Axes) []Setting { return []Setting{{"serial", None, None, 1}} },
			Open:     openSerial,
		},
		{
			Name:     "goroutines",
			About:    "the same plan with a goroutine for each ready task but the first, which runs inline",
			Settings: goroutineSettings,
			Bytes:    func(width float64) float64 { return goroutineBytes * min(width, goroutinesAlive) },
			Open:     openGoroutines,
		},
	}
}

func magpieSettings(a Axes) (all []Setting) {
	for _, p := range a.Policies {
		for _, d := range a.Deques {
			for _, w := range a.Workers {
				all = append(all, Setting{"magpie", p, d, w})
			}
		}
	}
	return all
}

func goroutineSettings(a Axes) (all []Setting) {
	for _, w := range a.Workers {
		all = append(all, Setting{"goroutines", None, None, w})
	}
	return all
}

// executorFor starts the executor of a setting.
func executorFor(s Setting) (*executor.Executor, error) {
	p, err := executor.ParsePolicy(s.Policy)
	if err != nil {
		return nil, err
	}
	return executor.New(executor.Config{Workers: s.Workers, Policy: p, Name: threadName})
}

// threadName is the prefix of the names of the workers' threads.
const threadName = "wsbench"

// magpie runs graphs on an executor of its own, made anew for each repetition.
type magpie struct {
	setting Setting
	target  Target
	ex      *executor.Executor
}

func openMagpie(s Setting, t Target) (Runner, error) { return &magpie{setting: s, target: t}, nil }

func (m *magpie) Start() (err error) {
	m.ex, err = executorFor(m.setting)
	return err
}

func (m *magpie) Run(ctx context.Context) error { return m.ex.Run(ctx, m.target.Graph) }

func (m *magpie) Counts() Counts {
	t := m.ex.Stats().Total
	return Counts{Tasks: t.Tasks, Steals: t.StealsWon, Parks: t.Parks}
}

func (m *magpie) Stop() error { return m.ex.Close() }

// withProcs sets GOMAXPROCS, and returns a function that sets it back. It stops the world, so it leaves alone what is
// right already.
func withProcs(n int) (restore func()) {
	old := runtime.GOMAXPROCS(0)
	if old == n {
		return func() {}
	}
	runtime.GOMAXPROCS(n)
	return func() { runtime.GOMAXPROCS(old) }
}
