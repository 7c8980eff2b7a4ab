package observe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// Times of tasks in tasks, on two workers, by hand.
func TestTimes(t *testing.T) {
	testkit.Fits(t, func() string { return timesByHand(t) })
}

// timesByHand returns how the order of the tasks is wrong. A task that does nothing is the longest if its thread waits
// meanwhile.
func timesByHand(t *testing.T) (wrong string) {
	times := observe.NewTimes()
	require.Empty(t, times.Snapshot())
	p := player{times.Observer(), newRun(t, t.Context(), "run")}
	a, b := set("a", []string{"long", "", "never"}), set("b", []string{"in"})
	const pause = 2 * time.Millisecond
	nap := func() { time.Sleep(pause) }
	for worker := range 2 {
		p.task(worker, a, 0, nap, func() { p.task(worker, b, 0, nap, nap) }, nap)
		p.task(worker, a, 1)
	}
	p.o.TaskEnd(&executor.Event{Task: &a.Tasks[2]}) // its begin was not told

	all := times.Snapshot()
	require.Len(t, all, 3)
	var names []string
	for i, task := range all {
		names = append(names, task.Task.Set.Job+"/"+task.Task.Name)
		require.Equal(t, uint64(2), task.Count)
		require.GreaterOrEqual(t, task.Max, task.Mean())
		require.LessOrEqual(t, task.Max, task.Total)
		require.LessOrEqual(t, task.Self, task.Total)
		if i > 0 {
			require.LessOrEqual(t, task.Total, all[i-1].Total)
		}
	}
	if !slices.Equal(names, []string{"a/long", "b/in", "a/"}) {
		return fmt.Sprint("the order of the tasks: ", names)
	}
	long, in := all[0], all[1]
	require.GreaterOrEqual(t, long.Total, 8*pause)
	require.GreaterOrEqual(t, in.Total, 4*pause)
	require.Equal(t, in.Total, in.Self)
	require.Equal(t, long.Total-in.Total, long.Self)
	require.Zero(t, observe.TaskTime{}.Mean())

	i := 0
	for task := range times.All() {
		require.Equal(t, all[i], task)
		if i++; i == 2 {
			break
		}
	}
	return ""
}

func TestTimesTable(t *testing.T) {
	testkit.Fits(t, func() string { return timesTable(t) })
}

// timesTable returns how the order of the lines is wrong: see timesByHand.
func timesTable(t *testing.T) (wrong string) {
	times := observe.NewTimes()
	p := player{times.Observer(), nil}
	s := set("", []string{"first", ""})
	p.task(0, s, 0, func() { time.Sleep(2 * time.Millisecond) })
	p.task(0, s, 1)
	p.task(1, set("", []string{"again", ""}), 1) // of the same name
	p.task(1, set("", []string{"again", ""}), 1)
	var out bytes.Buffer
	require.NoError(t, times.WriteTable(&out, 0))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 3, "%s", out.String())
	require.Equal(t, []string{"total", "self", "max", "mean", "count", "job", "and", "task"}, strings.Fields(lines[0]))
	if !strings.Contains(lines[1], "  1  job first") {
		return out.String()
	}
	require.Contains(t, lines[2], "  3  job #1")
	out.Reset()
	require.NoError(t, times.WriteTable(&out, 1))
	require.Equal(t, 2, strings.Count(out.String(), "\n"))
	fails := errors.New("no")
	require.ErrorIs(t, times.WriteTable(writerFunc(func([]byte) (int, error) { return 0, fails }), 0), fails)
	return ""
}

// A snapshot may be taken at any time. In the end every task is counted.
func TestTimesAtTheSameTime(t *testing.T) {
	times := observe.NewTimes()
	run := newRun(t, t.Context(), "run")
	sets := []*executor.TaskSet{set("a", []string{"x", "y"}), set("b", []string{"z"})}
	const workers = 3
	n := testkit.Scale(20000)
	var all sync.WaitGroup
	p := player{times.Observer(), run}
	for worker := range workers {
		all.Go(func() {
			for i := range n {
				s := sets[i%2]
				p.task(worker, s, i/2%len(s.Tasks))
			}
		})
	}
	for range 100 {
		total := uint64(0)
		for task := range times.All() {
			total += task.Count
		}
		require.LessOrEqual(t, total, uint64(workers*n))
	}
	all.Wait()
	total := uint64(0)
	for task := range times.All() {
		total += task.Count
	}
	require.Equal(t, uint64(workers*n), total)
}

// Of more sets than MaxSets the rest is counted together.
func TestTimesManySets(t *testing.T) {
	times := observe.NewTimes()
	p := player{times.Observer(), nil}
	for i := range observe.MaxSets + 10 {
		s := set(fmt.Sprint("job ", i), []string{"a", "b"})
		p.task(0, s, 1)
		p.task(0, s, 0)
	}
	all := times.Snapshot()
	require.Len(t, all, 2*observe.MaxSets+1)
	for _, task := range all {
		if task.Task.Name == "others" {
			require.Equal(t, uint64(20), task.Count)
			return
		}
		require.Equal(t, uint64(1), task.Count)
	}
	require.Fail(t, "no others")
}

// The colours of a drawing: the longest task is red, one that has not run is white, and all have a tip.
func TestShades(t *testing.T) {
	testkit.Fits(t, func() string { return shades(t) })
}

// shades returns which task has a wrong colour: see timesByHand.
func shades(t *testing.T) (wrong string) {
	times := observe.NewTimes()
	p := player{times.Observer(), nil}
	for range 2 { // graphs of one name
		s := set("shop", []string{"long", "short", "never"})
		p.task(0, s, 0, func() { time.Sleep(20 * time.Millisecond) })
		p.task(1, s, 1)
	}
	p.task(0, set("other", []string{"longer"}), 0, func() { time.Sleep(20 * time.Millisecond) })
	shade := times.Shades("shop")
	long, short := shade(0)[1], shade(1)[1]
	if red := [2]string{"fillcolor", "0.000 0.900 1.000"}; long != red || short == red {
		return fmt.Sprintf("the long task has %v, the short one %v", long, short)
	}
	require.Contains(t, shade(0)[2][1], "2 times, total ")
	for _, i := range []int{-1, 2, 3, 1000} {
		require.Equal(t, [2]string{"fillcolor", "white"}, shade(i)[1])
	}
	require.Equal(t, [2]string{"fillcolor", "white"}, times.Shades("unknown")(0)[1])

	g := graph.New("shop")
	for range 4 {
		g.Task(func(context.Context) error { return nil }).Priority(graph.High)
	}
	var out bytes.Buffer
	require.NoError(t, g.WriteDOTWith(&out, shade))
	require.Equal(t, 4, strings.Count(out.String(), `style="bold,filled" fillcolor="`))
	return ""
}
