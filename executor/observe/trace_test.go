package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A traceEvent is an event of the Trace Event Format. Times are in nanoseconds.
type traceEvent struct {
	Ph, Name, Cat string
	Pid, Tid      int
	ID            *uint64
	Begin, End    int64
	Bp            string
	Args          map[string]any
	Cname         string
	line          int
}

// A traceFile is a trace as a viewer reads it.
type traceFile struct {
	t      testing.TB
	events []traceEvent
	slices map[[2]int][]traceEvent // by process and thread, in the order of their begin
}

func readTrace(t testing.TB, text []byte) *traceFile {
	t.Helper()
	var raw struct {
		TraceEvents []struct {
			Ph, Name, Cat, Bp, Cname, S string
			Pid, Tid                    int
			Ts, Dur                     *float64
			ID                          *uint64
			ID2                         *struct{ Local string }
			Args                        map[string]any
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&raw), "%.2000s", text)
	f := &traceFile{t: t, slices: make(map[[2]int][]traceEvent)}
	for i, r := range raw.TraceEvents {
		e := traceEvent{Ph: r.Ph, Name: r.Name, Cat: r.Cat, Pid: r.Pid, Tid: r.Tid, ID: r.ID, Bp: r.Bp, Args: r.Args}
		e.Cname = r.Cname
		if r.ID2 != nil {
			id, err := strconv.ParseUint(r.ID2.Local, 0, 64)
			require.NoError(t, err)
			require.Nil(t, r.ID)
			require.Equal(t, "run", r.Cat)
			e.ID = &id
		}
		e.line = i
		require.Positive(t, r.Pid)
		require.Positive(t, r.Tid, "viewers leave the thread 0 out")
		if r.Ph != "M" {
			require.NotNil(t, r.Ts, "%+v", r)
			e.Begin = int64(math.Round(*r.Ts * 1000))
			require.GreaterOrEqual(t, e.Begin, int64(0))
		}
		if r.Ph == "X" {
			require.NotNil(t, r.Dur)
			e.End = e.Begin + int64(math.Round(*r.Dur*1000))
			require.Greater(t, e.End, e.Begin)
			key := [2]int{r.Pid, r.Tid}
			f.slices[key] = append(f.slices[key], e)
		}
		f.events = append(f.events, e)
	}
	for _, s := range f.slices {
		slices.SortFunc(s, func(a, b traceEvent) int { return int(a.Begin - b.Begin) })
	}
	f.checkNesting()
	f.checkArrows()
	return f
}

// checkNesting: two slices of a thread are apart, or one is within the other, and no two have an end in common.
func (f *traceFile) checkNesting() {
	for _, all := range f.slices {
		var stack []traceEvent
		times := make(map[int64]bool)
		for _, s := range all {
			require.False(f.t, times[s.Begin] || times[s.End], "two ends at the same time")
			times[s.Begin], times[s.End] = true, true
			for len(stack) > 0 && stack[len(stack)-1].End < s.Begin {
				stack = stack[:len(stack)-1]
			}
			if n := len(stack); n > 0 {
				require.Less(f.t, s.End, stack[n-1].End, "%+v overlaps %+v", s, stack[n-1])
			}
			stack = append(stack, s)
		}
	}
}

// checkArrows: an arrow that ends has begun before, and ends before a slice.
func (f *traceFile) checkArrows() {
	type key struct {
		pid int
		cat string
		id  uint64
	}
	begun := make(map[key]traceEvent)
	for _, e := range f.events {
		if e.Ph == "s" {
			require.NotNil(f.t, e.ID)
			begun[key{e.Pid, e.Cat, *e.ID}] = e
		}
	}
	for _, e := range f.events {
		if e.Ph != "f" {
			continue
		}
		require.NotNil(f.t, e.ID)
		require.Less(f.t, *e.ID, uint64(1)<<53, "JSON numbers are exact below")
		s, ok := begun[key{e.Pid, e.Cat, *e.ID}]
		require.True(f.t, ok, "an arrow without a begin: %+v", e)
		require.LessOrEqual(f.t, s.Begin, e.Begin)
		require.Equal(f.t, s.Name, e.Name)
	}
}

// of returns the events of a kind.
func (f *traceFile) of(ph, cat string) (all []traceEvent) {
	for _, e := range f.events {
		if e.Ph == ph && e.Cat == cat {
			all = append(all, e)
		}
	}
	return all
}

// around returns the innermost slice of a thread around a time.
func (f *traceFile) around(pid, tid int, at int64) (found traceEvent) {
	for _, s := range f.slices[[2]int{pid, tid}] {
		if s.Begin <= at && at < s.End {
			found = s // a later one begins within the others
		}
	}
	return found
}

// next returns the first slice of a thread that begins after a time.
func (f *traceFile) next(pid, tid int, at int64) traceEvent {
	for _, s := range f.slices[[2]int{pid, tid}] {
		if s.Begin > at {
			return s
		}
	}
	return traceEvent{}
}

func (f *traceFile) names(pid, tid int) (names []string) {
	for _, s := range f.slices[[2]int{pid, tid}] {
		names = append(names, s.Name)
	}
	return names
}

// diamond has a task, two after it, and one after both.
func diamond() *executor.TaskSet {
	return set("diamond", []string{"a", "", `c "quoted"`, "d\x01\xffé"}, []int{1, 2}, []int{3}, []int{3}, nil)
}

// A player plays the part of an executor.
type player struct {
	o   *executor.Observer
	run *executor.Run
}

func (p player) task(worker int, s *executor.TaskSet, i int, inside ...func()) {
	p.o.TaskBegin(&executor.Event{Worker: worker, Run: p.run, Task: &s.Tasks[i]})
	for _, f := range inside {
		f()
	}
	p.o.TaskEnd(&executor.Event{Worker: worker, Run: p.run, Task: &s.Tasks[i]})
}

// All kinds of events, by hand.
func TestTrace(t *testing.T) {
	var out bytes.Buffer
	trace := observe.NewTrace(&out, observe.TraceOptions{Edges: true, Parks: true, Sample: -1})
	s, inner, run := diamond(), set("inner", []string{"x"}), newRun(t, t.Context(), "diamond")
	o := trace.Observer()
	p := player{o, run}
	o.Attach(executor.NewInline(1))
	o.RunBegin(&executor.Event{Run: run})
	p.task(0, s, 0)
	o.Park(&executor.Event{Worker: 1})
	o.Unpark(&executor.Event{Worker: 1})
	o.TaskBegin(&executor.Event{Run: run, Task: &s.Tasks[1]})
	o.Steal(&executor.Event{Worker: 1, Victim: 0, Items: 3})
	p.task(1, s, 2)
	o.Steal(&executor.Event{Worker: 0, Victim: -1, Items: 1}) // the victim is not known
	p.task(0, inner, 0, func() { o.Park(&executor.Event{Worker: 0}); o.Unpark(&executor.Event{Worker: 0}) })
	o.TaskEnd(&executor.Event{Run: run, Task: &s.Tasks[1]})
	p.task(1, s, 3)
	o.TaskEnd(&executor.Event{Run: run, Task: &s.Tasks[3]}) // its begin was not told
	o.RunEnd(&executor.Event{Run: run, Err: errors.New("c \"failed\"")})
	other := newRun(t, t.Context(), "")
	o.RunBegin(&executor.Event{Run: other})
	require.NoError(t, trace.Close())
	require.NoError(t, trace.Close(), "again")
	p.task(0, s, 0) // not traced, and harmless
	o.Steal(&executor.Event{Worker: 0, Victim: 1, Items: 1})
	o.RunEnd(&executor.Event{Run: other})

	f := readTrace(t, out.Bytes())
	require.Equal(t, []string{"a", "#1", "x", "parked"}, f.names(1, 1))
	require.Equal(t, []string{"parked", `c "quoted"`, "d\x01\ufffdé"}, f.names(1, 2))
	require.Len(t, f.of("X", "diamond"), 4)
	require.Len(t, f.of("X", "inner"), 1)
	require.Len(t, f.of("X", "worker"), 2)

	var edges [][2]string
	begins := f.of("s", "edge")
	for _, e := range f.of("f", "edge") {
		i := slices.IndexFunc(begins, func(s traceEvent) bool { return *s.ID == *e.ID })
		from := f.around(1, begins[i].Tid, begins[i].Begin)
		edges = append(edges, [2]string{from.Name, f.next(1, e.Tid, e.Begin).Name})
	}
	require.ElementsMatch(t, [][2]string{
		{"a", "#1"}, {"a", `c "quoted"`}, {"#1", "d\x01\ufffdé"}, {`c "quoted"`, "d\x01\ufffdé"},
	}, edges)

	require.Len(t, f.of("f", "steal"), 1)
	steal := f.of("f", "steal")[0]
	require.Equal(t, "#1", f.around(1, 1, f.of("s", "steal")[0].Begin).Name)
	require.Equal(t, 2, steal.Tid)
	require.Equal(t, `c "quoted"`, f.next(1, 2, steal.Begin).Name)
	require.Equal(t, map[string]any{"items": 3.0}, steal.Args)
	require.Empty(t, steal.Bp, "the arrow ends at the next slice")

	begun, ended := f.of("b", "run"), f.of("e", "run")
	require.Len(t, begun, 2)
	require.Len(t, ended, 1, "the other run has not ended")
	require.Equal(t, begun[0].ID, ended[0].ID)
	require.Equal(t, map[string]any{"error": "c \"failed\""}, begun[0].Args)
	require.Equal(t, "terrible", begun[0].Cname)
	require.Empty(t, begun[1].Args)
	require.Equal(t, []string{"diamond", "job"}, []string{begun[0].Name, begun[1].Name})
	require.NotEqual(t, begun[0].ID, begun[1].ID)
	var named []string
	for _, e := range f.of("M", "") {
		named = append(named, fmt.Sprint(e.Name, " ", e.Pid, " ", e.Tid, " ", e.Args["name"]))
	}
	require.ElementsMatch(t, []string{
		"process_name 1 1 inline", "thread_name 1 1 worker 0", "thread_name 1 2 worker 1",
	}, named)
}

// Workers at the same time, with tasks in tasks at random, several executors, and small buffers. In the trace is what
// happened, but for the events that it says it lacks.
func TestTraceRandom(t *testing.T) {
	seed := testkit.Seed(t)
	const workers, executors = 3, 2
	for _, wait := range []bool{false, true} {
		t.Run(fmt.Sprintf("wait=%v", wait), func(t *testing.T) {
			var out bytes.Buffer
			trace := observe.NewTrace(&out, observe.TraceOptions{Buffer: 1, Wait: wait, Sample: time.Millisecond})
			run, s := newRun(t, t.Context(), "job"), set("job", []string{"a", "b", "c"})
			var all sync.WaitGroup
			var played [executors][workers]int
			for x := range executors {
				o := trace.Observer()
				for w := range workers {
					all.Go(func() {
						rng := rand.New(rand.NewPCG(seed, uint64(x*workers+w)))
						var play func(depth int)
						play = func(depth int) {
							played[x][w]++
							player{o, run}.task(w, s, rng.IntN(3), func() {
								for depth < 5 && rng.IntN(5) < 2 {
									play(depth + 1)
								}
							})
						}
						for range testkit.Scale(3000) {
							play(0)
						}
					})
				}
			}
			all.Wait()
			err := trace.Close()
			total, traced := 0, 0
			f := readTrace(t, out.Bytes())
			for x := range executors {
				for w := range workers {
					n := len(f.slices[[2]int{x + 1, w + 1}])
					require.LessOrEqual(t, n, played[x][w])
					total, traced = total+played[x][w], traced+n
				}
			}
			if wait || err == nil {
				require.NoError(t, err)
				require.Equal(t, total, traced)
				return
			}
			var dropped *observe.DroppedError
			require.ErrorAs(t, err, &dropped)
			require.Equal(t, uint64(total-traced), dropped.Events)
			last := f.of("C", "")[len(f.of("C", ""))-1]
			require.Equal(t, "dropped events", last.Name)
			require.Equal(t, float64(dropped.Events), last.Args["events"])
		})
	}
}

// Sets that a program makes again and again are not kept.
func TestTraceForgetsSets(t *testing.T) {
	var out bytes.Buffer
	trace := observe.NewTrace(&out, observe.TraceOptions{Edges: true, Sample: -1, Wait: true})
	run := newRun(t, context.Background(), "job")
	p := player{trace.Observer(), run}
	alive := make([]weak.Pointer[executor.TaskSet], 200)
	for i := range alive {
		s := diamond()
		alive[i] = weak.Make(s)
		p.task(0, s, 0)
	}
	testkit.Until(t, "no set is kept", func() bool {
		runtime.GC()
		return !slices.ContainsFunc(alive, func(w weak.Pointer[executor.TaskSet]) bool { return w.Value() != nil })
	})
	require.NoError(t, trace.Close())
}

// Memory does not grow with the number of tasks.
func TestTraceMemory(t *testing.T) {
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var size atomic.Int64
	trace := observe.NewTrace(writerFunc(func(b []byte) (int, error) {
		size.Add(int64(len(b)))
		return len(b), nil
	}), observe.TraceOptions{Wait: true, Edges: true})
	s := diamond()
	o := trace.Observer()
	n := max(30_000, testkit.Count(t, 300_000)) // of fewer, the whole text is within the bound
	play := func() {
		run := newRun(t, t.Context(), "diamond")
		p := player{o, run}
		o.RunBegin(&executor.Event{Run: run})
		for i := range 1000 {
			p.task(i/4%2, s, i%4)
		}
		o.RunEnd(&executor.Event{Run: run})
	}
	play()
	before := live()
	for range n / 1000 {
		play()
	}
	if after := live(); !testkit.Race {
		require.Less(t, int64(after)-int64(before), int64(4<<20), "grown from %d", before)
	}
	require.NoError(t, trace.Close())
	require.Greater(t, size.Load(), int64(60*n))
}
