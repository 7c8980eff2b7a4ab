package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/circuit"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/sta"
	"github.com/magpie-go/magpie/executor"
)

// smallSizes of the programs: the smallest sizes, and some with work for several workers.
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
	"ep":         {1, epBatch + 1},
	"cg":         {cgSmall},
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
	turn := 0
	for _, w := range programs() {
		require.NotEmpty(t, smallSizes[w.Name])
		for _, n := range smallSizes[w.Name] {
			tasks := int(w.Shape(n).Tasks)
			require.Positive(t, tasks, "%s, n=%d", w.Name, n)
			program, err := w.Program(n, 42, valuesFor(t, w, ""))
			require.NoError(t, err)
			turn++
			for _, e := range Engines() {
				for _, s := range oneIn(turn, e.Settings(w.axes(everySetting(t)))) {
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

// TestProgramVerify runs each program correctly, then leaves out everything, and then spoils the result in every way.
func TestProgramVerify(t *testing.T) {
	type spoil struct {
		name string
		do   func()
	}
	places := 10 // where a result is spoilt
	if testkit.Quick() {
		places = 3
	}
	for _, w := range programs() {
		n := smallSizes[w.Name][len(smallSizes[w.Name])-1]
		p, err := w.Program(n, 42, valuesFor(t, w, ""))
		require.NoError(t, err)
		var spoils []spoil
		each := func(from, to int, name string, do func(i int)) {
			for i := from; i < to; i += max(1, (to-from)/places) {
				spoils = append(spoils, spoil{fmt.Sprintf("%s %d", name, i), func() { do(i) }})
			}
		}
		of := func(got *int64) {
			spoils = append(spoils, spoil{"one more", func() { *got++ }}, spoil{"one less", func() { *got-- }})
		}
		switch p := p.(type) {
		case *recursion[int]:
			of(&p.got)
		case *recursion[span]:
			of(&p.got)
		case *recursion[board]:
			of(&p.got)
		case *recursion[spawns]:
			of(&p.got)
		case *recursion[knaryNode]:
			of(&p.got)
		case *recursion[knaryPair]:
			of(&p.got)
		case *choleskyProgram:
			entry := func(i, j int) *float64 { return p.factor.entry(p.levels, i, j) }
			each(0, n, "last bit", func(i int) { *entry(i, i) = math.Nextafter(*entry(i, i), 9) })
			each(0, n, "no number", func(i int) { *entry(n-1, i) = math.NaN() })
			each(0, 1, "left out", func(int) { p.factor.quarters[1][0] = nil })
		case *strassenProgram:
			each(0, n*n, "larger", func(i int) { p.c.row(i / n)[i%n]++ })
			each(0, n*n, "left out", func(i int) { p.c.row(i / n)[i%n] = math.NaN() })
		case *sortProgram:
			each(1, n, "changed places", func(i int) { p.s[i-1], p.s[i] = p.s[i], p.s[i-1] })
			each(1, n, "twice", func(i int) { p.s[i] = p.s[i-1] })
		case *scanProgram:
			each(0, n, "larger", func(i int) { p.dst[i]++ })
			each(0, n, "left out", func(i int) { p.dst[i] = 0 })
		case *timingProgram:
			each(p.timer.Circuit().Inputs(), p.timer.Circuit().Len(), "another size", func(i int) {
				p.timer.Resize(circuit.Net(i), 16)
			})
			each(p.timer.Circuit().Inputs(), p.timer.Circuit().Len(), "one change more", func(i int) {
				changes := p.changes
				p.changes = []sta.Change{{Gate: circuit.Net(i), Size: 16}}
				p.Serial()
				p.changes = changes
			})
			each(0, 10, "other slacks", func(i int) { p.slacks ^= 1 << i })
			each(0, 1, "an error", func(int) { p.err = errors.New("an error") })
		case *mandelbrotProgram:
			each(0, n*n, "other pixel", func(i int) { p.steps[i] ^= 1 })
			each(0, n, "row left out", func(i int) { p.steps[i*n] = mandelbrotSteps + 1 })
		case *mmProgram:
			each(0, n*n, "larger", func(i int) { p.c[i]++ })
			each(0, n*n, "left out", func(i int) { p.c[i] = math.NaN() })
		case *miProgram:
			each(0, n, "last bit", func(i int) { p.rows[i][i] = math.Nextafter(p.rows[i][i], 9) })
			each(1, n, "changed places", func(i int) { p.rows[i-1], p.rows[i] = p.rows[i], p.rows[i-1] })
		case *clipProgram:
			each(0, n, "larger intersection", func(i int) { p.got[i].intersections *= 1 + 0x1p-52 })
			each(0, n, "larger union", func(i int) { p.got[i].unions *= 1 + 0x1p-52 })
		case *raytracerProgram:
			each(0, len(p.picture.Pix), "other pixel", func(i int) { p.picture.Pix[i] ^= 1 })
		case *loopProgram:
			each(0, 1, "too few", func(int) { p.made = p.rounds - 1 })
		case *bfsProgram:
			each(0, n, "farther", func(i int) { p.distance[i]++ })
			each(0, n, "left out", func(i int) { p.distance[i], p.parent[i] = p.distance[i]-1, -1 })
			each(1, n, "its own parent", func(i int) { p.parent[i] = int32(i) })
			each(1, n, "no edge", func(i int) { p.parent[i] = notTo(p, int32(i)) })
		case *epProgram:
			each(0, 5, "one pair more", func(i int) { p.got.counts[i]++ })
			each(0, 3, "changed sum", func(i int) { p.got.x *= 1 + 1e-7 })
			each(0, 3, "changed other sum", func(i int) { p.got.y *= 1 - 1e-7 })
			each(0, 2, "batch left out", func(i int) { p.batches[i] = epTally{}; p.sum() })
		case *cgProgram:
			each(0, 3, "larger", func(i int) { p.zeta *= 1 + 1e-9 })
			each(0, 3, "smaller", func(i int) { p.zeta *= 1 - 1e-9 })
			each(0, 3, "not solved", func(i int) { p.residual = 1e-9 })
		}
		require.NotEmpty(t, spoils, w.Name)
		for _, s := range spoils {
			p.Reset()
			require.Error(t, p.Verify(), "%s, nothing done", w.Name)
			p.Serial()
			require.NoError(t, p.Verify(), w.Name)
			s.do()
			require.Error(t, p.Verify(), "%s, %s", w.Name, s.name)
		}
	}
}

// notTo returns a node other than 0 that is as near as a parent of node has to be, or farther, and has no edge to it.
func notTo(b *bfsProgram, node int32) int32 {
	for p := int32(1); ; p++ {
		if b.distance[p] >= b.distance[node]-1 && !slices.Contains(b.edges(p), node) {
			return p
		}
	}
}

// TestProgramShapes pins the numbers of tasks by which figures are divided, and counts the tasks where the number is
// not the size.
func TestProgramShapes(t *testing.T) {
	for w, want := range map[*Workload]float64{
		fib: 14930351, fat: 17043521, thin: 8388607, nqueens: 4674889, skynet: 1111111,
		sorting: 10000000, scan: 10000000, mandelbrot: 2048,
		mm: 32 * 32 * 32, mi: 800 * 800, raytracer: 360, clip: 100000,
		bfs: 1 << 20, ep: 1 << 24, cg: 15 * 26 * 7000, threadLoop: 500000, timing: 500,
		loopy: 64, knary: 12093235, complement: 575662, cholesky: 2048, strassen: 16807,
	} {
		require.Equal(t, want, w.Shape(w.Default).Tasks, w.Name)
	}
	require.Len(t, programs(), 22)

	var forks func(n int) float64
	forks = func(n int) float64 {
		if n < 2 {
			return 0
		}
		return 1 + forks(n-1) + forks(n-2)
	}
	for n := range 20 {
		require.Equal(t, forks(n), fib.Shape(n).Tasks, "fib, n=%d", n)
	}
	var placed func(b board) float64
	placed = func(b board) (n float64) {
		for c := range b.n {
			if b.rows < b.n && b.free(c) {
				n += 1 + placed(b.with(c))
			}
		}
		return n
	}
	for n := 1; n <= 10; n++ {
		require.Equal(t, placed(board{n: int8(n)}), nqueens.Shape(n).Tasks, "nqueens, n=%d", n)
	}
	var parts func(p span) float64
	parts = func(p span) float64 {
		n := 1.0
		for i := int64(0); i < skynetChildren && p.size > 1; i++ {
			if c := p.child(i); c.size > 0 {
				n += parts(c)
			}
		}
		return n
	}
	for n := 1; n < 3000; n += 1 + n/10 {
		require.Equal(t, parts(span{0, int64(n)}), skynet.Shape(n).Tasks, "skynet, n=%d", n)
	}
	var nodes func(k knaryNode) float64
	nodes = func(k knaryNode) float64 {
		n := 1.0
		for range k.branching {
			if !k.isLeaf() {
				n += nodes(k.child())
			}
		}
		return n
	}
	for n := 1; n <= 5; n++ {
		require.Equal(t, nodes(knaryNode{n, knaryBranching, 1}), knary.Shape(n).Tasks, "knary, n=%d", n)
		three := knary.shape(n, valuesFor(t, knary, "branching=3"))
		require.Equal(t, nodes(knaryNode{n, 3, 1}), three.Tasks, "knary, n=%d", n)
	}
	// Even the largest size gives a shape, which is refused later.
	for _, w := range programs() {
		if w.Most == 0 && w.Sizes == nil {
			s := w.Shape(math.MaxInt)
			require.Greater(t, max(s.Tasks, s.Data), 1e9, w.Name)
		}
	}
}

// TestKnownResults compares the values by which programs are verified with published ones.
func TestKnownResults(t *testing.T) {
	require.EqualValues(t, 9227465, fibonacci[int64](35))
	require.EqualValues(t, 73712, queens[13].solutions)
	require.Equal(t, int64(499999500000), sumBelow(1000000))
	require.EqualValues(t, 3, sumBelow(3))
	require.EqualValues(t, 1, sumBelow(2))
}

// TestSpawner: there are never more goroutines than allowed, and a function without one is called all the same.
func TestSpawner(t *testing.T) {
	for _, most := range []int64{0, 1, 3, 1000} {
		g := &spawner{most: most}
		require.EqualValues(t, 6765, fibGoroutines(g, 20))
		require.Zero(t, g.alive.Load())
		require.EqualValues(t, 4161, fatGoroutines(g, 2))
		require.EqualValues(t, 92, queensGoroutines(g, board{n: 8}))
	}
	g := &spawner{most: 5}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 5 {
		g.start(&wg, func() { <-stop })
	}
	inline := 0
	for range 10 {
		g.start(&wg, func() { inline++ })
	}
	require.Equal(t, 10, inline)
	require.EqualValues(t, 5, g.alive.Load())
	close(stop)
	wg.Wait()
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

func (f *fakeProgram) Serial()                         { f.run() }
func (f *fakeProgram) Goroutines(int)                  { f.run() }
func (f *fakeProgram) Magpie(*executor.Executor) error { f.run(); return nil }
func (f *fakeProgram) Reset()                          { f.done = false }

func (f *fakeProgram) Verify() error {
	if f.wrong || !f.done {
		return fmt.Errorf("it is wrong")
	}
	return nil
}

func (f *fakeProgram) workload() *Workload {
	return &Workload{
		Name:    "fake",
		Shape:   func(n int) Shape { return Shape{Tasks: float64(2 * n)} },
		Program: func(int, uint64, Values) (Program, error) { return f, nil },
	}
}

// TestProgramSession: programs are measured in turn as graphs are, and with every way to fork. Nothing is built.
func TestProgramSession(t *testing.T) {
	s, results := session(Engines()...)
	s.Workloads = []*Workload{chain, (&fakeProgram{}).workload()}
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
		s.Workloads = []*Workload{(&fakeProgram{wrong: true}).workload()}
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
		e.OpenProgram = func(s Setting, p Program) Runner { return tellingRunner{open(s, p), stopped} }
		s, results := session(e)
		s.Workloads = []*Workload{f.workload()}
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
	w.Program = func(int, uint64, Values) (Program, error) {
		cancel()
		<-wait
		return nil, nil
	}
	s.Workloads = []*Workload{w}
	require.ErrorIs(t, s.Run(ctx), context.Canceled)
	require.Empty(t, *results)
}

func TestProgramFits(t *testing.T) {
	require.NoError(t, programFits("x", 1, Shape{Tasks: 1}, 5, 5))
	require.NoError(t, programFits("x", 1, Shape{Tasks: mostTasks}, 5, 5))
	require.EqualError(t, programFits("x", 1, Shape{}, 0, 5), "x with n=1 has no tasks: choose a larger n")
	require.ErrorContains(t, programFits("x", 1, Shape{Tasks: 2 * mostTasks}, 0, 5), " tasks, which is more than ")
	require.EqualError(t, programFits("x", 1, Shape{Tasks: 1}, 3<<30, 2<<30),
		"x with n=1 needs about 3.0 GiB, and 2.0 GiB are available: choose a smaller n")

	// Each goroutine counts, up to the bound of a spawner; graphs do not.
	require.EqualValues(t, 100*callBytes, Engines()[2].ProgramBytes(100))
	require.Equal(t, float64(callsAlive*callBytes), Engines()[2].ProgramBytes(1e12))
	s, _ := session(Engines()...)
	s.N = 1000
	require.NoError(t, s.validateSize(scan, 16*1000+executor.MaxWorkers*callBytes))
	require.Error(t, s.validateSize(scan, 16*1000+executor.MaxWorkers*callBytes-1))
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
	for _, w := range programs() {
		require.NoError(t, s.validateSize(w, math.MaxInt), "%s, default size", w.Name)
	}
}
