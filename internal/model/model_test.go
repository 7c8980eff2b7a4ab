package model

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A cell is a word for these tests: load and store access it atomically, read and write plainly.
type cell struct{ v int }

func (c *cell) p() unsafe.Pointer { return unsafe.Pointer(&c.v) }

func (c *cell) load() int {
	Point(Load, c.p())
	defer Done(Load, c.p())
	return c.v
}

func (c *cell) store(v int) {
	Point(Store, c.p())
	c.v = v
	Done(Store, c.p())
}

func (c *cell) add(d int) {
	Point(Update, c.p())
	c.v += d
	Done(Update, c.p())
}

// cas returns the value that it found.
func (c *cell) cas(old, new int) int {
	Point(Update, c.p())
	found := c.v
	if found != old {
		Done(Load, c.p())
		return found
	}
	c.v = new
	Done(Update, c.p())
	return found
}

func (c *cell) read() int {
	Read(c.p())
	return c.v
}

func (c *cell) write(v int) {
	Write(c.p())
	c.v = v
}

// lostUpdate is the classic case: two threads load, add and store.
func lostUpdate() {
	c := new(cell)
	inc := func() { c.store(c.load() + 1) }
	join := Go(inc)
	inc()
	join()
	Assert(c.load() == 2, "counted %d of 2", c.v)
}

// unordered has one thread access a cell after another, with nothing that orders the two accesses.
func unordered(first, second func(*cell)) func() {
	return func() {
		c, news := new(cell), new(cell)
		join := Go(func() { first(c); news.store(1) })
		for news.v == 0 {
			Spin()
		}
		second(c)
		join()
	}
}

func (c *cell) touch()  { c.store(1) }
func (c *cell) glance() { c.read() }

func TestFindsAndReplays(t *testing.T) {
	for _, c := range []struct {
		name    string
		program func()
		want    string
	}{
		{"assertion", lostUpdate, "assertion: counted 1 of 2"},
		{"panic", func() {
			c := new(cell)
			join := Go(func() { c.store(1) })
			if c.load() == 1 {
				panic("seen")
			}
			join()
		}, "panic in thread 0: seen"},
		{"data race", func() {
			c, flag := new(cell), new(cell)
			join := Go(func() { c.write(1); flag.store(1) })
			flag.load() // it sees the store or not
			c.read()
			join()
		}, "data race: "},
		{"plain read, atomic store before", unordered((*cell).touch, (*cell).glance), "has stored to"},
		{"atomic store, plain read before", unordered((*cell).glance, (*cell).touch), "has read"},
		{"atomic load, plain write before",
			unordered(func(c *cell) { c.write(1) }, func(c *cell) { c.load() }), "has written"},
		{"plain write, atomic load before",
			unordered(func(c *cell) { c.load() }, func(c *cell) { c.write(1) }), "has loaded"},
		{"deadlock", func() {
			// The waiter looks, then sleeps; the wake may come in between, and no thread looks again.
			c := new(cell)
			join := Go(func() {
				if c.load() == 0 {
					FutexWait(c.p(), func() bool { return true }, false)
				}
			})
			c.store(1)
			FutexWake(c.p())
			join()
		}, "deadlock: thread 0 waits, thread 1 sleeps"},
		{"livelock", func() {
			c := new(cell)
			for c.load() == 0 {
			}
		}, "livelock: "},
		{"stuck spin", func() {
			c := new(cell)
			for c.load() == 0 {
				Spin()
			}
		}, "deadlock: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := Explore(Config{Preemptions: 2}, c.program)
			require.NotNil(t, res.Failure, "not found in %d executions", res.Executions)
			require.Contains(t, res.Failure.What, c.want)
			require.Contains(t, res.Failure.Trace, "model_test.go")
			require.NotContains(t, res.Failure.Trace, "not deterministic")
			for _, bound := range []int{-1, 0, 2} { // the schedule's own bound counts
				again := Explore(Config{Preemptions: bound, Replay: res.Failure.Schedule}, c.program)
				require.NotNil(t, again.Failure)
				require.Equal(t, firstLine(res.Failure.What), firstLine(again.Failure.What))
				require.Equal(t, res.Failure.Schedule, again.Failure.Schedule)
				require.Equal(t, res.Failure.Trace, again.Failure.Trace)
			}
		})
	}
}

// adders returns a program of two threads that each add k times to a cell.
func adders(k int) func() {
	return func() {
		c := new(cell)
		join := Go(func() {
			for range k {
				c.add(1)
			}
		})
		for range k {
			c.add(1)
		}
		join()
		Assert(c.v == 2*k, "lost one")
	}
}

// TestCounts checks the number of executions where it is known: two threads of k operations each interleave in (2k over
// k) ways; without preemptions only the one interleaving is left in which each thread runs to its end.
func TestCounts(t *testing.T) {
	for _, c := range []struct{ k, bound, want int }{
		{1, 0, 1}, {3, 0, 1}, {1, -1, 2}, {2, -1, 6}, {3, -1, 20}, {4, -1, 70},
	} {
		res := Explore(Config{Preemptions: c.bound, Full: true}, adders(c.k))
		require.Nil(t, res.Failure)
		require.Equal(t, c.want, res.Executions, "k=%d bound=%d", c.k, c.bound)
	}
}

// TestProgress: an exploration tells of ever more executions, and of a share that grows to the whole.
func TestProgress(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		last float64 // the least share that is told last
	}{
		"all":     {Config{Preemptions: -1, Full: true}, 0.9}, // 12,870 executions
		"bounded": {Config{Preemptions: 3, Full: true}, 0.3},
		"random":  {Config{Random: 2000}, 0.9},
	} {
		var told []Progress
		c.cfg.Progress, c.cfg.Interval = func(p Progress) { told = append(told, p) }, time.Nanosecond
		res := Explore(c.cfg, adders(8))
		require.Nil(t, res.Failure)
		require.Len(t, told, (res.Executions-1)/100, name)
		for i, p := range told {
			require.Equal(t, 100*(i+1), p.Executions, name)
			require.Less(t, p.Share, 1.0, name)
			if i > 0 {
				require.Greater(t, p.Share, told[i-1].Share, name)
			}
		}
		require.Greater(t, told[len(told)-1].Share, c.last, name)
	}
}

// TestOrder: a thread that has loaded a store may plainly read the words that were written before it.
func TestOrder(t *testing.T) {
	res := Explore(Config{Preemptions: -1}, func() {
		c, flag := new(cell), new(cell)
		join := Go(func() { c.write(1); flag.store(1) })
		if flag.load() == 1 {
			Assert(c.read() == 1, "read %d", c.v)
		}
		join()
		Assert(c.read() == 1, "after the join")
	})
	require.Nil(t, res.Failure)
}

func TestRandomFinds(t *testing.T) {
	res := Explore(Config{Random: 1000, Preemptions: 2, Seed: 1}, lostUpdate)
	require.NotNil(t, res.Failure)
	require.Contains(t, res.Failure.What, "counted 1 of 2")
	again := Explore(Config{Replay: res.Failure.Schedule}, lostUpdate)
	require.NotNil(t, again.Failure)
	require.Equal(t, res.Failure.What, again.Failure.What)
}

// manyPreemptions fails only if the threads take turns.
func manyPreemptions() {
	c := new(cell)
	step := func(from int) {
		for i := from; i < 6; i += 2 {
			if c.load() == i {
				c.store(i + 1)
			}
		}
	}
	join := Go(func() { step(1) })
	step(0)
	join()
	Assert(c.load() != 6, "they took turns")
}

// TestReplayOfManyPreemptions: the bound decides where there is a decision to take, so it is part of the schedule.
func TestReplayOfManyPreemptions(t *testing.T) {
	res := Explore(Config{Preemptions: 2}, manyPreemptions)
	require.Nil(t, res.Failure)
	res = Explore(Config{Preemptions: 5}, manyPreemptions)
	require.NotNil(t, res.Failure)
	again := Explore(Config{Preemptions: 2, Replay: res.Failure.Schedule}, manyPreemptions)
	require.NotNil(t, again.Failure)
	require.Equal(t, res.Failure.What, again.Failure.What)
}

// TestCheckerIsNotRecovered: code under test that recovers from panics does not hide that the checker has given up.
func TestCheckerIsNotRecovered(t *testing.T) {
	runs := 0
	for name, c := range map[string]struct {
		replay  string
		program func()
		want    string
	}{
		"schedule": {"2:7", func() {
			c := new(cell)
			defer Go(c.touch)()
			defer func() { _ = recover() }()
			c.load()
		}, "decision 1 of the schedule is 7"},
		"not deterministic": {"", func() {
			c := new(cell)
			defer Go(c.touch)()
			if runs++; runs > 1 {
				defer Go(c.touch)()
			}
			defer func() { _ = recover() }()
			c.load()
		}, "not deterministic"},
		"threads": {"", func() {
			c := new(cell)
			defer func() { _ = recover() }()
			for range maxThreads {
				defer Go(c.touch)()
			}
		}, "more than 8 threads"},
	} {
		res := Explore(Config{Preemptions: 2, Replay: c.replay}, c.program)
		require.NotNil(t, res.Failure, name)
		require.Contains(t, res.Failure.What, c.want)
	}
}

func TestSpuriousWaits(t *testing.T) {
	woke := make(map[bool]bool)
	res := Explore(Config{Preemptions: 2}, func() {
		c := new(cell)
		join := Go(func() {
			FutexWait(c.p(), func() bool { return c.v == 0 }, true)
			woke[c.v == 0] = true
		})
		c.store(1)
		FutexWake(c.p())
		join()
	})
	require.Nil(t, res.Failure)
	require.True(t, woke[true] && woke[false], "waits ended %v", woke)
}

func TestScheduleRoundTrip(t *testing.T) {
	for _, d := range [][]int{nil, {0}, {1}, {0, 0, 0}, {2, 0, 0, 1, 0}, {0, 3, 12, 0}} {
		want := schedule{len(d) - 1, d}
		got, err := parseSchedule(want.String())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{
		"", "z5", "1.2", "x:1", ":1", "-2:1", "2:x9", "2:-1", "2:z-5", "2:1..1", "2:1.", "2:z9999999999", "2:z2000000",
	} {
		_, err := parseSchedule(text)
		require.ErrorContains(t, err, "schedule", text)
	}
}

// A report records what Check tells the test.
type report struct{ logged, fatal string }

func (r *report) Helper()                         {}
func (r *report) Name() string                    { return "TestA/b/W=1" }
func (r *report) Logf(format string, args ...any) { r.logged += fmt.Sprintf(format, args...) }
func (r *report) Fatalf(format string, args ...any) {
	r.fatal += fmt.Sprintf(format, args...)
	panic(r)
}

func TestCheck(t *testing.T) {
	tell := func(f func(T)) (r *report) {
		r = new(report)
		defer func() { require.Contains(t, []any{nil, r}, recover()) }()
		f(r)
		return r
	}
	check := func(program func()) *report { return tell(func(r T) { Check(r, program) }) }
	fine := func() { new(cell).load() }
	require.Equal(t, "TestA/b/W=1: 1 schedules, 0 states, 1 steps, at most 2 preemptions", check(fine).logged)

	said := check(lostUpdate).fatal
	require.Regexp(t, `(?s)counted 1 of 2.*\nagain, in model: MAGPIE_MODEL_REPLAY=\S+ `+
		`go test -tags modelcheck -run '\^TestA\$/\^b\$/\^W=1\$'$`, said)
	_, schedule, _ := strings.Cut(said, "MAGPIE_MODEL_REPLAY=")
	schedule, _, _ = strings.Cut(schedule, " ")
	t.Setenv("MAGPIE_MODEL_REPLAY", schedule)
	require.Contains(t, check(lostUpdate).fatal, "counted 1 of 2")
	t.Setenv("MAGPIE_MODEL_REPLAY", "2:")
	require.Equal(t, "TestA/b/W=1: took one schedule again, without a failure", check(fine).logged)

	t.Setenv("MAGPIE_MODEL_REPLAY", "x9")
	require.Equal(t, `MAGPIE_MODEL_REPLAY: schedule "x9" does not begin with its bound, as in 2:z5.1; `+
		`want what a failure printed`, check(fine).fatal)
	t.Setenv("MAGPIE_MODEL_REPLAY", "")
	for _, bound := range []string{"-7", "two"} {
		t.Setenv("MAGPIE_MODEL_BOUND", bound)
		require.Contains(t, check(fine).fatal, "is no number of preemptions")
	}
	t.Setenv("MAGPIE_MODEL_BOUND", "")

	reached := func(n int) string { return tell(func(r T) { Reached(r, n, "something") }).fatal }
	require.Equal(t, "never: something", reached(0))
	require.Empty(t, reached(1))
	t.Setenv("MAGPIE_MODEL_BOUND", "0")
	require.Empty(t, reached(0))
}

// TestFailuresLeaveNoGoroutines: threads that have ended leave no goroutines, neither those of a failed execution nor
// those of its replay.
func TestFailuresLeaveNoGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		res := Explore(Config{}, func() {
			for range 5 {
				Go(func() {})()
			}
			panic("oops")
		})
		require.Contains(t, res.Failure.What, "oops")
	}
	testkit.Until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}

// TestFewerThreads: a program that starts fewer threads the second time is reported as not deterministic.
func TestFewerThreads(t *testing.T) {
	runs := 0
	res := Explore(Config{Preemptions: 2}, func() {
		c := new(cell)
		joins := []func(){Go(c.touch)}
		if runs++; runs == 1 {
			joins = append(joins, Go(c.touch), Go(c.touch))
		}
		c.load()
		for _, join := range joins {
			join()
		}
	})
	require.NotNil(t, res.Failure)
	require.Contains(t, res.Failure.What, "not deterministic")
}

// TestPanicAtOnce: no thread goes on after a panic in a thread that has not come to an operation.
func TestPanicAtOnce(t *testing.T) {
	for range 10 {
		runs, steps := 0, 0
		res := Explore(Config{}, func() {
			runs++
			c := new(cell)
			Go(func() { panic("early") })
			c.load()
			steps++
		})
		require.Contains(t, res.Failure.What, "early")
		require.Equal(t, 2, runs) // the second run is for the trace
		require.Zero(t, steps)
	}
}
