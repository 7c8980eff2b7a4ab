package bench

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
)

// smallSizes of the programs: the smallest sizes, and some with work for several workers. Those of ep are a batch and
// one more, and cg has no other.
var smallSizes = map[string][]int{
	"fib":        {2, 20},
	"fat":        {1, 2},
	"thin":       {1, 12},
	"nqueens":    {1, 3, 8},
	"skynet":     {1, 9, 57, 5003},
	"sort":       {1, 2, 50_000},
	"scan":       {1, 3, 50_000},
	"mandelbrot": {1, 64},
	"mm":         {1, 100},
	"mi":         {1, 50},
	"raytracer":  {1, 24},
	"clip":       {1, 40},
	"bfs":        {1, 2, 5000},
	"ep":         {1, 17},
	"cg":         {600},
	"loop":       {1},
	"sta":        {1, 3},
	"loopy":      {1, 3},
	"knary":      {1, 4},
	"complement": {1, 4},
	"cholesky":   {1, 60},
	"strassen":   {1, 70},
}

// TestProgramsAgree has every engine run every program in every setting: all results are right.
func TestProgramsAgree(t *testing.T) {
	turn := testkit.Drawer(t).IntN(1000)
	for _, w := range workloads.Programs() {
		require.NotEmpty(t, smallSizes[w.Name])
		for _, n := range smallSizes[w.Name] {
			tasks := int(w.Shape(n).Tasks)
			require.Positive(t, tasks, "%s, n=%d", w.Name, n)
			program, err := w.Program(n, 42, valuesFor(t, w, ""))
			require.NoError(t, err)
			turn++
			for _, e := range Engines() {
				for _, s := range oneIn(turn, e.Settings(axesOf(w, everySetting(t)))) {
					j := openProgramJob(e, s, w.Name, program, tasks)
					r, err := j.repeat(context.Background())
					require.NoError(t, err, "n=%d", n)
					require.True(t, r.Verified)
					require.Equal(t, tasks, r.Tasks)
					require.InDelta(t, float64(r.WallNS)/float64(tasks), r.NSPerTask, 1e-6)
				}
			}
		}
	}
}

// A fakeProgram is right unless wrong is set.
type fakeProgram struct {
	done, wrong bool
	begun       func()        // called when it begins; may be nil
	wait        chan struct{} // nil: does not wait
}

func (f *fakeProgram) run() {
	if f.begun != nil {
		f.begun()
	}
	if f.wait != nil {
		<-f.wait
	}
	f.done = true
}

func (f *fakeProgram) Serial() { f.run() }

func (f *fakeProgram) Goroutines(int) { f.run() }

func (f *fakeProgram) Magpie(*executor.Executor) error { f.run(); return nil }

func (f *fakeProgram) Reset() { f.done = false }

func (f *fakeProgram) Verify() error {
	if f.wrong || !f.done {
		return fmt.Errorf("it is wrong")
	}
	return nil
}

func (f *fakeProgram) workload() *workloads.Workload {
	return &workloads.Workload{
		Name:    "fake",
		Shape:   func(n int) workloads.Shape { return workloads.Shape{Tasks: float64(2 * n)} },
		Program: func(int, uint64, workloads.Values) (workloads.Program, error) { return f, nil },
	}
}

// TestProgramSession: programs are measured in turn as graphs are, and with every way to fork. Nothing is built.
func TestProgramSession(t *testing.T) {
	s, results := session(Engines()...)
	s.Workloads = []*workloads.Workload{chain, (&fakeProgram{}).workload()}
	s.Reps = 2
	var said []string
	s.Step = func(what string, _ time.Duration) { said = append(said, what) }
	require.NoError(t, s.Run(context.Background()))
	var forks []string
	for _, r := range *results {
		require.True(t, r.Verified)
		forks = append(forks, r.Workload+" "+r.Forks)
		if r.Workload == "fake" {
			require.Equal(t, 10, r.N)
			require.Equal(t, 20, r.Tasks)
			require.Zero(t, r.Edges)
			require.Zero(t, r.BuildNS)
		} else {
			require.Positive(t, r.BuildNS)
		}
	}
	require.Equal(t, []string{
		"chain private", "chain none", "chain none", "chain private", "chain none", "chain none",
		"fake private", "fake pushed", "fake none", "fake none",
		"fake private", "fake pushed", "fake none", "fake none",
	}, forks)
	require.Contains(t, said, "preparing fake")
	require.Contains(t, said, "warming up fake on magpie (adaptive, chaselev, private), 1 worker")
}

// TestWrongProgram: a wrong result on any engine ends the session, and nothing of the workload is emitted.
func TestWrongProgram(t *testing.T) {
	for _, e := range Engines() {
		s, results := session(e)
		s.Workloads = []*workloads.Workload{(&fakeProgram{wrong: true}).workload()}
		var wrong *WrongAnswer
		require.ErrorAs(t, s.Run(context.Background()), &wrong)
		require.ErrorContains(t, wrong, "it is wrong")
		require.Equal(t, e.Name, wrong.Setting.(Setting).Engine)
		require.Empty(t, *results)
	}
}

// TestCancelledProgram ends the context while a program runs, which ignores it: the session does not wait for it. When
// the program ends, its engine is stopped.
func TestCancelledProgram(t *testing.T) {
	for _, e := range Engines() {
		ctx, cancel := context.WithCancel(context.Background())
		f := &fakeProgram{begun: cancel, wait: make(chan struct{})}
		stopped := make(chan error)
		open := e.OpenProgram
		e.OpenProgram = func(s Setting, p workloads.Program) Runner { return tellingRunner{open(s, p), stopped} }
		s, results := session(e)
		s.Workloads = []*workloads.Workload{f.workload()}
		require.ErrorIs(t, s.Run(ctx), context.Canceled)
		require.Empty(t, *results)
		require.False(t, f.done)
		close(f.wait)
		require.NoError(t, <-stopped)
		require.True(t, f.done)
	}
}

// A tellingRunner sends on a channel when it has been stopped.
type tellingRunner struct {
	Runner
	stopped chan<- error
}

func (r tellingRunner) Stop() error {
	err := r.Runner.Stop()
	r.stopped <- err
	return err
}

// TestCancelledPreparation: the session does not wait for a preparation either.
func TestCancelledPreparation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s, results := session(Engines()...)
	wait := make(chan struct{})
	defer close(wait)
	w := (&fakeProgram{}).workload()
	w.Program = func(int, uint64, workloads.Values) (workloads.Program, error) {
		cancel()
		<-wait
		return nil, nil
	}
	s.Workloads = []*workloads.Workload{w}
	require.ErrorIs(t, s.Run(ctx), context.Canceled)
	require.Empty(t, *results)
}

func TestProgramFits(t *testing.T) {
	require.NoError(t, programFits("x", 1, workloads.Shape{Tasks: 1}, 5, 5))
	require.NoError(t, programFits("x", 1, workloads.Shape{Tasks: workloads.MostTasks}, 5, 5))
	require.EqualError(t, programFits("x", 1, workloads.Shape{}, 0, 5), "x with n=1 has no tasks: choose a larger n")
	require.ErrorContains(t, programFits("x", 1, workloads.Shape{Tasks: 2 * workloads.MostTasks}, 0, 5),
		" tasks, which is more than ")
	require.EqualError(t, programFits("x", 1, workloads.Shape{Tasks: 1}, 3<<30, 2<<30),
		"x with n=1 needs about 3.0 GiB, and 2.0 GiB are available: choose a smaller n")

	// Each goroutine counts, up to the bound of a spawner; graphs do not.
	require.EqualValues(t, 100*workloads.CallBytes, Engines()[2].ProgramBytes(100))
	require.Equal(t, float64(workloads.CallsAlive*workloads.CallBytes), Engines()[2].ProgramBytes(1e12))
	s, _ := session(Engines()...)
	s.N = 1000
	require.NoError(t, s.validateSize(scan, 16*1000+executor.MaxWorkers*workloads.CallBytes))
	require.Error(t, s.validateSize(scan, 16*1000+executor.MaxWorkers*workloads.CallBytes-1))
	s.Engines = s.Engines[:2]
	require.NoError(t, s.validateSize(scan, 16*1000))

	// A size with too many goroutines is possible on the other engines.
	s, _ = session(Engines()...)
	s.N = 37
	require.EqualError(t, s.validateSize(fib, math.MaxInt),
		"fib with n=37 has 3.91e+07 tasks, engine goroutines is for 3.36e+07 at most: "+
			"choose a smaller n or another engine")
	s.Engines = s.Engines[:2]
	require.NoError(t, s.validateSize(fib, 0))
	s, _ = session(Engines()...)
	s.N = 0
	if strconv.IntSize == 32 {
		s.Engines = s.Engines[:2] // half a million goroutines do not fit
	}
	for _, w := range workloads.Programs() {
		require.NoError(t, s.validateSize(w, math.MaxInt), "%s, default size", w.Name)
	}
}
