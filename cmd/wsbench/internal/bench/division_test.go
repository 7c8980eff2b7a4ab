package bench

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/executor/pool"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// everyQueue lists every queue with every way to steal and to be idle, as asked for by -queue.
func everyQueue() (all []string) {
	for _, q := range pool.Queues() {
		all = append(all, q.String(), q.String()+"+spin")
		if q.Steals() {
			for _, s := range stealingOptions() {
				all = append(all, q.String()+"+"+s, q.String()+"+"+s+"+spin")
			}
		}
	}
	return all
}

func divisionSession(n int, engines ...*Engine) (*Session, *[]Result) {
	s, results := session(engines...)
	s.N, s.Reps, s.Axes.Workers = n, 1, []int{2}
	return s, results
}

// TestDivisionsAgree has every engine run every division, from every queue and in several sizes and numbers of tasks
// and workers: all results are right.
func TestDivisionsAgree(t *testing.T) {
	require.Len(t, workloads.Divisions(), 5)
	few := []string{"centralised", "perthread+neighbour+half", "priority+spin"}
	for _, tt := range []struct {
		n, tasks, workers int
		queues            []string
		deque             string
	}{
		{60, 7, 2, testkit.Part(t, everyQueue()), "chaselev"}, {60, 60, 4, few, "padws"}, {20, 20, 1, few, "bwos-fifo"},
		{1, 1, 2, few, "chaselev"},
	} {
		s, results := divisionSession(tt.n, Engines()...)
		s.Workloads = workloads.Divisions()
		s.Params = map[string]string{"view": "3", "unit": "1µs", "hit": "0.4"}
		s.Axes.Queues, s.Axes.Workers, s.Axes.Deques = tt.queues, []int{tt.workers}, []string{tt.deque}
		s.Axes.Tasks = []int{tt.tasks}
		require.NoError(t, s.Run(context.Background()))
		require.Len(t, *results, 5*(len(tt.queues)+2))
		for _, r := range *results {
			require.True(t, r.Verified)
			require.Equal(t, tt.tasks, r.Tasks)
			require.Equal(t, r.Engine == "magpie", r.Pool != nil)
			require.Equal(t, r.Engine != "magpie", r.Queue == None)
			if r.Pool != nil {
				require.Len(t, r.Pool.BusyNS, min(r.Workers, r.Tasks))
			}
			if r.BoundNS != 0 {
				require.GreaterOrEqual(t, float64(r.WallNS)/float64(r.BoundNS), 1.0, "faster than the lower bound")
			}
		}
	}
}

// TestDivisionVerify runs each division correctly, then leaves out tasks and runs one twice.
func TestDivisionVerify(t *testing.T) {
	const n, count = 24, 6
	for _, w := range workloads.Divisions() {
		d := w.Division()
		d.Inputs(n, 42, valuesFor(t, w, "unit=1µs/hit=0.9"))
		p, err := newDivided(w.Name, d, count, None, 42)
		require.NoError(t, err)
		p.Reset()
		require.Error(t, p.Verify(), "%s, nothing done", w.Name)
		p.Serial()
		require.NoError(t, p.Verify(), w.Name)
		p.ran[0].Add(1)
		require.ErrorContains(t, p.Verify(), "task 0 ran 2 times", w.Name)

		p.Reset()
		for _, part := range p.parts[1:] {
			p.work(part)
		}
		if w == search {
			require.NoError(t, p.Verify(), "the word was found without task 0")
			p.ran[5].Store(0)
			p.found.Store(false)
		}
		require.Error(t, p.Verify(), "%s, a task left out", w.Name)
	}
	// The pool's own count is compared.
	d := sleepLinear.Division()
	d.Inputs(n, 42, valuesFor(t, sleepLinear, "unit=1ns"))
	p, err := newDivided("sleep", d, count, "perthread", 42)
	require.NoError(t, err)
	p.Reset()
	p.Serial()
	require.ErrorContains(t, p.Verify(), "the pool counts 0 tasks")
}

// TestSearchEndsAll: the tasks after the hit do not run.
func TestSearchEndsAll(t *testing.T) {
	d := search.Division()
	d.Inputs(1000, 1, valuesFor(t, search, "hit=0.5"))
	p, err := newDivided("search", d, 100, None, 1)
	require.NoError(t, err)
	for _, run := range []func(){p.Serial, func() { p.Goroutines(1) }} {
		p.Reset()
		run()
		require.NoError(t, p.Verify())
		require.EqualValues(t, 1, p.ran[50].Load())
		require.Zero(t, p.ran[51].Load())
	}
}

func TestParseQueue(t *testing.T) {
	for _, q := range everyQueue() {
		o, err := parseQueue(q)
		require.NoError(t, err)
		_, err = pool.New("p", o)
		require.NoError(t, err)
		require.Equal(t, strings.Contains(q, "spin"), o.Idle == pool.Spin)
	}
	o, err := parseQueue("perthread+random+half+spin")
	require.NoError(t, err)
	require.Equal(t, pool.Options{Queue: pool.PerThread, Stealing: pool.RandomHalf, Idle: pool.Spin}, o)
	for asked, want := range map[string]string{
		"x":               `no queue "x": there are centralised, perthread, perthread-fifo, priority`,
		"":                `no queue "": there are centralised`,
		"centralised+one": `queue "centralised+one": what is "one"? After centralised may come +spin`,
		"centralised+random+one": "all workers share the queue centralised, so none steals: use centralised, " +
			"or perthread+random+one",
		"perthread+one": `what is "one"? After perthread may come a way to steal, ` +
			`+neighbour+one, +neighbour+half`,
		"perthread+random":        `what is "random"? After perthread may come`,
		"perthread+one+neighbour": `what is "one+neighbour"?`,
		"perthread++spin":         `what is ""?`,
		// One spelling for each, by which results are compared.
		"perthread+spin+random+half": `write it as perthread+random+half+spin`,
		"priority+off+leave":         `write it as priority`,
		"perthread+spin+leave":       `write it as perthread`,
		"priority+neighbour+all":     `use priority, or perthread+neighbour+all`,
		"perthread+neighbour+some":   `what is "neighbour+some"?`,
	} {
		_, err := parseQueue(asked)
		require.ErrorContains(t, err, want, asked)
		var bad *input.Error
		require.ErrorAs(t, err, &bad)
	}
}

// TestDivisionInput: what does not fit is refused before anything is measured.
func TestDivisionInput(t *testing.T) {
	for want, change := range map[string]func(s *Session){
		"tasks must be at least 1, not 0":                      func(s *Session) { s.Axes.Tasks = []int{0} },
		"sleep with n=10 can be divided into at most 10 tasks": func(s *Session) { s.Axes.Tasks = []int{11} },
		`no queue "x"`: func(s *Session) { s.Axes.Queues = []string{"x"} },
		"are for lists of tasks, and none is asked for: there ": func(s *Session) {
			s.Workloads, s.Axes.Tasks = []*workloads.Workload{chain}, []int{1}
		},
		"matmul-k goes up to n=32768": func(s *Session) {
			s.N, s.Workloads = 1<<16, []*workloads.Workload{matmulK}
		},
	} {
		s, results := divisionSession(10, Engines()...)
		s.Workloads = []*workloads.Workload{sleepLinear}
		change(s)
		require.ErrorContains(t, s.Run(context.Background()), want)
		require.Empty(t, *results)
	}
}

// TestParams: values that are wrong, and parameters that no workload has, are refused before anything is measured.
func TestParams(t *testing.T) {
	for _, tt := range []struct{ workload, name, value, want string }{
		{"mandelbrot-views", "view", "7", "-view 7: choose 0 to 6"},
		{"mandelbrot-views", "view", "-1", "-view -1: choose 0 to 6"},
		{"mandelbrot-views", "view", "two", "-view two: choose 0 to 6"},
		{"sleep", "unit", "0s", "-unit 0s: choose a time of more than 0, and at most 1s"},
		{"sleep-permuted", "unit", "2s", "-unit 2s: choose a time of more than 0, and at most 1s"},
		{"search", "hit", "1.5", "-hit 1.5: choose 0, the beginning, to 1, the end"},
		{"search", "hit", "NaN", "-hit NaN: choose 0"},
		{"sta", "corners", "0", "-corners 0: choose 1 to 256"},
		{"sta", "circuit", "c17", "-circuit c17: choose c6288, c6288-mapped, tv80, b19, or a " +
			"file whose name ends in .bench or .v"},
		{"sta", "circuit", "none.bench", "none.bench: no such file"},
		{"sta", "circuit", "testdata/cut.bench", "testdata/cut.bench:3:20: the line ends where a name is expected: "},
		{"chain", "hit", "0.5", "-hit is for search, which is not to run"},
		{"search", "unit", "1ms", "-unit is for sleep and sleep-permuted, which is not to run"},
	} {
		s, results := divisionSession(10, Engines()...)
		s.Workloads = slices.DeleteFunc(workloads.All(), func(w *workloads.Workload) bool { return w.Name != tt.workload })
		s.Params = map[string]string{tt.name: tt.value}
		err := s.Run(context.Background())
		require.ErrorContains(t, err, tt.want)
		var bad *input.Error
		require.ErrorAs(t, err, &bad)
		require.Empty(t, *results)
	}
}

// valuesFor returns the values of the parameters of w, as in "view=3/unit=1ms". Others than those of w are ignored.
func valuesFor(t *testing.T, w *workloads.Workload, s string) workloads.Values {
	asked := make(map[string]string)
	for pair := range strings.SplitSeq(s, "/") {
		name, value, _ := strings.Cut(pair, "=")
		asked[name] = value
	}
	v, err := w.ReadValues(asked)
	require.NoError(t, err)
	return v
}

// wrongDivision finds nothing and does nothing.
type wrongDivision struct{ workloads.Division }

func (wrongDivision) Work(workloads.Part) bool { return false }

// TestWrongDivision: the error names the queue and the number of tasks, and nothing is emitted.
func TestWrongDivision(t *testing.T) {
	for i, want := range []string{
		"wrong answer: wrong on magpie (adaptive, chaselev, perthread+random+one), 2 workers, 4 tasks: the tasks slept",
		"wrong answer: wrong on serial, 1 worker, 4 tasks: the tasks slept for 0 units",
		"wrong answer: wrong on goroutines, 2 workers, 4 tasks: ",
	} {
		s, results := divisionSession(8, Engines()[i])
		wrong := *sleepLinear
		wrong.Name, wrong.Division = "wrong", func() workloads.Division { return wrongDivision{sleepLinear.Division()} }
		s.Workloads = []*workloads.Workload{&wrong}
		s.Axes.Queues, s.Axes.Tasks = []string{"perthread+random+one"}, []int{4}
		require.ErrorContains(t, s.Run(context.Background()), want)
		require.Empty(t, *results)
	}
}

// TestDivisionReports: the queue and its figures are in every format, and results of other workloads have none of it.
func TestDivisionReports(t *testing.T) {
	s, results := divisionSession(20, Engines()[:2]...)
	s.Workloads = []*workloads.Workload{sleepLinear, mandelbrotViews}
	s.Reps, s.Axes.Queues = 2, []string{"centralised", "perthread+neighbour+one"}
	s.Params = map[string]string{"view": "3", "unit": "1µs"}
	require.NoError(t, s.Run(context.Background()))
	all := append(*results, someResults()...)

	text := report(t, "text", all)
	for _, want := range []string{
		"queue steals", "moved/steal", "lock waits", "vs bound", "busy", "perthread+neighbour+one", "view=3",
		"unit=1µs",
	} {
		require.Contains(t, text, want)
	}
	lines := report(t, "bench", all)
	require.Contains(t, lines, "Run/workload=sleep/engine=magpie/policy=adaptive/deque=chaselev/forks=private/"+
		"workers=2/n=20/unit=1µs/queue=perthread+neighbour+one/tasks=20 ")
	require.Contains(t, lines, "Run/workload=mandelbrot-views/engine=serial/workers=1/n=20/view=3/tasks=20 ")
	for _, unit := range []string{
		"vs-bound", "queue-steals", "moved/steal", "lock-waits", "failed-steals", "busy-most-ns",
	} {
		require.Contains(t, lines, " "+unit)
	}
	var objects []map[string]any
	for l := range strings.Lines(report(t, "json", all)) {
		var o map[string]any
		require.NoError(t, json.Unmarshal([]byte(l), &o))
		objects = append(objects, o)
	}
	for i, o := range objects {
		isDivision := i < len(*results)
		for _, field := range []string{"queue", "inputs"} {
			require.Equal(t, isDivision, o[field] != nil, field)
		}
		require.Equal(t, isDivision && o["engine"] == "magpie", o["pool"] != nil)
		require.Equal(t, o["workload"] == "sleep", o["bound_ns"] != nil)
	}

	// Groups are told apart by the queue, and compared with the serial run of the same tasks.
	var rows []Row
	for _, r := range *results {
		rows = append(rows, r.Row())
	}
	groups := GroupBy(rows, nil)
	require.Len(t, groups, 6)
	for _, g := range groups {
		require.Len(t, g.Rows, 2)
		s := serialOf(g, groups)
		require.Equal(t, "serial", s.Value("engine"))
		require.Equal(t, g.Value("tasks"), s.Value("tasks"))
	}
	// A file in format json gives the same names.
	line, err := json.Marshal((*results)[0])
	require.NoError(t, err)
	again, err := ReadRecord(line)
	require.NoError(t, err)
	require.Equal(t, rows[0], again.Row())
}
