package watch

import (
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

const (
	noProgress = 4 * time.Second
	longAfter  = 10 * time.Second
)

// A script feeds a detector with a sample a second.
type script struct {
	t *testing.T
	detector
	sample
	looks int // calls of stacks
}

// newScript has an executor of two workers, of which the first runs a task that waits.
func newScript(t *testing.T) *script {
	s := &script{t: t, detector: detector{opts: Options{NoProgress: noProgress, LongTask: longAfter}}}
	s.now = time.Unix(1e9, 0)
	s.stats.Workers = make([]executor.WorkerStats, 2)
	s.stats.Gauges = executor.Gauges{
		Queued: []int{0, 0},
		States: []executor.WorkerState{executor.WorkerRunning, executor.WorkerParked},
		Runs:   1,
	}
	s.stats.Gauges.Active = 1
	s.where("chan receive", "main.f(0x1)")
	return s
}

// where sets the first worker's stack.
func (s *script) where(state, frames string) {
	s.stacks = func() []string {
		s.looks++
		return []string{"goroutine 7 [" + state + "]:\n" + frames + "\n", "goroutine 8 [syscall]:\nmain.park()\n"}
	}
}

// block puts the first worker into Blocking, at this place.
func (s *script) block(state, frames string) {
	s.where(state, frames)
	s.stats.Gauges.States[0], s.stats.Gauges.Active, s.stats.Gauges.Blocked = executor.WorkerBlocked, 0, 1
}

// steps takes n samples and demands these reports of the last one, and none of the others.
func (s *script) steps(n int, want ...kind) (last []report) {
	s.t.Helper()
	for i := range n {
		last = s.step(s.sample)
		s.now = s.now.Add(time.Second)
		if i < n-1 {
			require.Empty(s.t, last, "after %d samples", i+1)
		}
	}
	var kinds []kind
	for _, r := range last {
		kinds = append(kinds, r.kind)
	}
	require.Equal(s.t, want, kinds)
	return last
}

// A task that waits is a stall, which is reported once, and once more when it is over.
func TestStall(t *testing.T) {
	s := newScript(t)
	r := s.steps(6, stall) // at 0 s the detector begins, at 4 s it looks, at 5 s it finds the same
	require.Equal(t, 5*time.Second, r[0].at.Sub(r[0].since))
	require.Len(t, r[0].stacks, 2)
	s.opts.LongTask = -1
	s.steps(100)
	require.Equal(t, 2, s.looks)
	s.stats.Total.Tasks++
	r = s.steps(1, stallOver)
	require.Equal(t, 106*time.Second, r[0].at.Sub(r[0].since))
	s.steps(5, stall)
}

// What is no stall: a task that computes, a task in Blocking with nothing queued, no work, tasks that end, tasks that
// wait here and there.
func TestNoStall(t *testing.T) {
	for name, set := range map[string]func(s *script, i int){
		"computes":         func(s *script, _ int) { s.where("running", "main.f(0x1)") },
		"is ready":         func(s *script, _ int) { s.where("runnable, locked to thread", "main.f(0x1)") },
		"collects garbage": func(s *script, _ int) { s.where("GC assist wait", "main.f(0x1)") },
		"is scanned":       func(s *script, _ int) { s.where("running (scan), 3 minutes", "main.f(0x1)") },
		"blocks":           func(s *script, _ int) { s.block("chan receive", "main.f(0x1)") },
		"hangs while another blocks": func(s *script, _ int) {
			s.stats.Gauges.Blocked, s.stats.Gauges.States[1] = 1, executor.WorkerBlocked
		},
		"computes while it blocks an item": func(s *script, _ int) {
			s.block("running", "main.f(0x1)")
			s.stats.Gauges.Injected = 1
		},
		"blocks an item here and there": func(s *script, i int) {
			s.block("syscall", "main.f("+string(rune('a'+i%26))+")")
			s.stats.Gauges.Injected = 1
		},
		"has no work": func(s *script, _ int) {
			s.stats.Gauges.States[0], s.stats.Gauges.Active = executor.WorkerSearching, 0
		},
		"ends tasks":      func(s *script, i int) { s.stats.Total.Tasks = uint64(i) / 4 },
		"waits elsewhere": func(s *script, i int) { s.where("chan receive", "main.f("+string(rune('a'+i%26))+")") },
		"tasks begin and end": func(s *script, i int) {
			s.tasks = []running{{uint64(i) / 4, new(executor.TaskInfo), nil}, {}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			s.opts.LongTask = -1
			for i := range 200 {
				set(s, i)
				s.steps(1)
			}
			require.LessOrEqual(t, s.looks, 2*200/4, "each look stops the process")
		})
	}
}

// Without a busy worker, items that no worker takes and waits that do not end are stalls.
func TestStallWithoutBusyWorkers(t *testing.T) {
	for name, set := range map[string]func(g *executor.Gauges){
		"an item submitted": func(g *executor.Gauges) { g.Injected = 1 },
		"an item in a lane": func(g *executor.Gauges) { g.Queued[1] = 1 },
		"a wait":            func(g *executor.Gauges) { g.Waiting = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			s.stats.Gauges.States[0], s.stats.Gauges.Active = executor.WorkerParked, 0
			s.steps(20)
			set(&s.stats.Gauges)
			s.steps(5, stall)
			s.stats.Total.Tasks++
			s.steps(1, stallOver)
		})
	}
}

// A task in Blocking is part of a stall while an item is queued, also in a system call.
func TestStallOfBlocking(t *testing.T) {
	for _, state := range []string{"IO wait", "syscall, 2 minutes"} {
		s := newScript(t)
		s.block(state, "main.f(0x1)")
		s.steps(20)
		s.stats.Gauges.Injected = 1
		s.steps(5, stall)
		s.stats.Gauges.Injected = 0
		s.steps(1, stallOver)
	}
}

// A task is long if it runs without a pause. It is reported once, and once more when it is over.
func TestLongTask(t *testing.T) {
	for _, observed := range []bool{false, true} {
		s := newScript(t)
		s.opts.NoProgress = -1
		task := &executor.TaskInfo{Name: "slow"}
		if observed {
			s.tasks = []running{{1, task, nil}, {}}
		}
		next := func() {
			s.stats.Workers[0].Tasks++
			if observed {
				s.tasks[0].begins++
			}
		}
		for range 10 {
			s.steps(9)
			next()
		}
		r := s.steps(11, longTask)
		require.Equal(t, longAfter, r[0].at.Sub(r[0].since))
		require.Zero(t, r[0].worker)
		require.Len(t, r[0].stacks, 1)
		require.Contains(t, r[0].stacks[0], "main.f(")
		require.Equal(t, observed, r[0].running.task == task)
		s.steps(50)
		require.Equal(t, 1, s.looks)
		next()
		r = s.steps(1, longTaskOver)
		require.Equal(t, 61*time.Second, r[0].at.Sub(r[0].since))
		require.Equal(t, observed, r[0].running.task == task)
		for range 10 { // pauses start the count anew
			s.steps(9)
			s.stats.Gauges.States[0] = executor.WorkerBlocked
			s.steps(1)
			s.stats.Gauges.States[0] = executor.WorkerRunning
		}
		if observed {
			s.tasks[0].task = nil
			s.steps(30)
		}
	}
}

// A worker that comes later is watched too.
func TestLongTaskOfASpare(t *testing.T) {
	s := newScript(t)
	s.opts.NoProgress = -1
	s.stats.Gauges.States[0] = executor.WorkerBlocked
	s.steps(5)
	s.stats.Workers = append(s.stats.Workers, executor.WorkerStats{})
	s.stats.Gauges.States = append(s.stats.Gauges.States, executor.WorkerRunning)
	s.stats.Gauges.Queued = append(s.stats.Gauges.Queued, 0)
	r := s.steps(11, longTask)
	require.Equal(t, 2, r[0].worker)
	require.Empty(t, r[0].stacks, "the spare had no stack yet")
}

func TestPeriod(t *testing.T) {
	for _, c := range []struct{ noProgress, longTask, want time.Duration }{
		{0, 0, time.Second},
		{-1, -1, time.Second},
		{2 * time.Second, 0, 500 * time.Millisecond},
		{-1, 40 * time.Millisecond, 10 * time.Millisecond},
		{1, 1, time.Millisecond},
	} {
		require.Equal(t, c.want, Options{NoProgress: c.noProgress, LongTask: c.longTask}.withDefaults().period())
	}
}

// The innermost task of each worker is the one that it runs. A worker that sleeps without a task keeps no run alive.
func TestTasks(t *testing.T) {
	var all tasks
	a, b := new(executor.TaskInfo), new(executor.TaskInfo)
	one, two := new(executor.Run), new(executor.Run)
	all.end(0) // of a task that began before
	all.park(0)
	require.Equal(t, []running{{}, {}}, all.read(2))
	all.begin(1, one, a)
	require.Equal(t, []running{{}, {1, a, one}}, all.read(2))
	all.begin(1, two, b)
	require.Equal(t, []running{{}, {2, b, two}}, all.read(2))
	all.park(1)
	require.Equal(t, []running{{}, {2, b, two}}, all.read(2), "the task waits")
	all.end(1)
	require.Equal(t, []running{{}, {2, a, one}}, all.read(2))
	all.begin(1, nil, b)
	require.Equal(t, []running{{}, {3, b, nil}}, all.read(2))
	all.end(1)
	all.end(1)
	require.Equal(t, []running{{}, {3, nil, nil}}, all.read(2))
	all.park(1)
	require.Nil(t, all.cells[1].Load().run.Load())
}

// BenchmarkTask is what an observed task pays.
func BenchmarkTask(b *testing.B) {
	o := New(Options{}).Observer()
	task := new(executor.TaskInfo)
	for b.Loop() {
		o.TaskBegin(&executor.Event{Task: task})
		o.TaskEnd(&executor.Event{Task: task})
	}
}

// BenchmarkSample is what a sample costs, once a second.
func BenchmarkSample(b *testing.B) {
	ex, err := executor.New(executor.Config{Workers: 2})
	require.NoError(b, err)
	defer ex.Close()
	w := New(Options{})
	for b.Loop() {
		s := w.sample(ex)
		w.detector.step(s)
	}
}
