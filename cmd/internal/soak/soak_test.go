package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/dag"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestSoak runs the command. The chaos affects the whole process: no other test runs meanwhile.
func TestSoak(t *testing.T) {
	n := testkit.Count(t, 12_000_000)
	stderr := io.Writer(os.Stderr)
	var quiet bytes.Buffer
	if !testing.Verbose() {
		stderr = &quiet
	}
	r, err := soakFor(t.Context(), defaults(int64(n), testkit.Seed(t), stderr))
	var told strings.Builder
	r.write(&told)
	t.Log(told.String())
	require.NoError(t, err, "%s", quiet.String())
	require.False(t, r.stopped)
	testkit.Proved(t, int(r.tasks), "tasks under stress")
	if n < 10_000_000 {
		return // not enough for everything to have happened
	}
	for _, tallies := range [][]tally{r.runs, r.played, r.acts, r.chores, r.chaos} {
		for _, happened := range tallies {
			require.Positive(t, happened.n, "%s: never", happened.name)
		}
	}
	if niceToo {
		require.Positive(t, r.beset, "no competitor beside nice workers")
	}
}

// TestNothingIsLeft: after a soak everything that the chaos changes in the process is as before.
func TestNothingIsLeft(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	gc := debug.SetGCPercent(77)
	defer debug.SetGCPercent(gc)
	for _, one := range testkit.Part(t, disturbances()) {
		ctx, cancel := context.WithCancel(t.Context())
		o := defaults(1<<40, testkit.Seed(t), os.Stderr)
		o.drivers = 1
		o.storms = []disturbance{one}
		o.play = []scenario{{"until it was on", func(d *driver) {
			d.nested()
			if one.missing != "" || d.chaos.times[0].Load() > 0 {
				cancel()
			}
		}}}
		r, err := soakFor(ctx, o)
		require.NoError(t, err)
		require.True(t, r.stopped)
		require.Equal(t, procs, runtime.GOMAXPROCS(0), one.name)
		require.Equal(t, 77, debug.SetGCPercent(77), one.name)
		checkAffinity(t)
	}
}

// hang makes a soak with a task that does not end before the test does.
func hang(t *testing.T, drivers int) (s *soak, stderr *bytes.Buffer) {
	stderr = new(bytes.Buffer)
	s = newSoak(options{stderr: stderr, drivers: drivers, tasks: 1}, func() {})
	life, err := s.open(executor.Config{Workers: 1})
	require.NoError(t, err)
	stuck, release := make(chan struct{}), make(chan struct{})
	var l *lane
	l = newLane(s, newForm(&dag.Form{Shape: "loose", Tasks: 1}), func(context.Context) *lane {
		close(stuck)
		theStuckTask(release)
		return l
	})
	l.prepare(trip{life: life, pulse: &s.pulses[0].Int64})
	l.start(t.Context())
	t.Cleanup(func() {
		close(release)
		_ = l.handle.Wait()
		s.close(life)
	})
	<-stuck
	return s, stderr
}

//go:noinline
func theStuckTask(release chan struct{}) { <-release }

// TestWatchdog: a hang is reported, with the executors' state and all stacks.
func TestWatchdog(t *testing.T) {
	s, stderr := hang(t, 1)
	ticks := make(chan time.Time)
	told := make(chan error)
	go func() { told <- s.watch(nil, ticks) }()
	for err := error(nil); err == nil; {
		select {
		case ticks <- time.Time{}:
		case err = <-told:
			require.ErrorContains(t, err, "no progress for 10s")
		}
	}
	for _, part := range []string{
		"executor soak1 (1 workers", "worker 0: running", "notifier: ", "runs in progress: 1",
		"run of \"loose.", "theStuckTask",
	} {
		require.Contains(t, stderr.String(), part)
	}
}

// TestWatchdogPerDriver: a driver that hangs is noticed although another progresses.
func TestWatchdogPerDriver(t *testing.T) {
	s, stderr := hang(t, 2)
	ticks := make(chan time.Time)
	told := make(chan error)
	go func() { told <- s.watch(nil, ticks) }()
	for {
		s.pulses[1].Add(1)
		select {
		case ticks <- time.Time{}:
			continue
		case err := <-told:
			require.ErrorContains(t, err, "no progress of driver 0 for 1m0s")
		}
		break
	}
	require.Contains(t, stderr.String(), "theStuckTask")
}

// TestWatchdogEnds: a soak that is over is not watched, and one that progresses is not reported.
func TestWatchdogEnds(t *testing.T) {
	s := newSoak(options{drivers: 1}, func() {})
	ticks, finished := make(chan time.Time), make(chan struct{})
	told := make(chan error)
	go func() { told <- s.watch(finished, ticks) }()
	for range 10 * patience {
		s.pulses[0].Add(1)
		ticks <- time.Time{}
	}
	close(finished)
	require.NoError(t, <-told)
}

func TestCommand(t *testing.T) {
	run := func(ctx context.Context, args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		status := run(ctx, args, &stdout, &stderr)
		return status, stdout.String(), stderr.String()
	}
	status, stdout, stderr := run(t.Context(), "-tasks", "10000", "-seed", "5", "-chaos", "gc,competitor")
	require.Equal(t, exitOK, status, stderr)
	require.Contains(t, stdout, "soak: seed 5: ")
	require.Contains(t, stdout, "chaos: gc ")

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	status, stdout, stderr = run(ctx, "-tasks", "1000000000000", "-chaos", "none")
	require.Equal(t, exitInterrupted, status, stderr)
	require.Contains(t, stdout, " tasks in ", "what was done is told")
	require.Contains(t, stderr, "interrupted")

	for _, args := range [][]string{{"-tasks", "0"}, {"-tasks", "x"}, {"-chaos", "weather"}, {"more"}} {
		status, _, stderr = run(t.Context(), args...)
		require.Equal(t, exitBadInput, status, "%q", args)
		require.NotEmpty(t, stderr)
	}
	status, _, _ = run(t.Context(), "-h")
	require.Equal(t, exitOK, status)
}

func TestChoose(t *testing.T) {
	all := []disturbance{{name: "rain"}, {name: "snow", missing: "too warm"}, {name: "wind"}}
	got, err := choose(all, "wind,rain")
	require.NoError(t, err)
	require.Len(t, got, 2)
	_, err = choose(all, "snow")
	require.ErrorContains(t, err, "too warm")
	got, err = choose(all, "all")
	require.NoError(t, err)
	require.Len(t, got, 3)
}

// TestChecksBite: the checks notice what a broken executor might do to a lane. The lane is a chain of three tasks; run
// plays the executor and returns the run's result.
func TestChecksBite(t *testing.T) {
	failure := &fault{actError, 1}
	cause := errors.New("why")
	visit := func(l *lane, tasks ...uint32) {
		for _, i := range tasks {
			_ = l.visit(context.Background(), i)
		}
	}
	began := func(l *lane) { l.began = true }
	for name, c := range map[string]struct {
		run  func(l *lane) error
		want string // part of the error; "" means no error
	}{
		"complete":     {func(l *lane) error { began(l); visit(l, 0, 1, 2); return nil }, ""},
		"a task twice": {func(l *lane) error { began(l); visit(l, 0, 1, 1, 2); return nil }, "task 1 ran twice"},
		"a task too early": {
			func(l *lane) error { began(l); visit(l, 1, 0, 2); return nil }, "task 1 ran before task 0"},
		"a task missing": {func(l *lane) error { began(l); visit(l, 0, 1); return nil }, "not all tasks ran"},
		"an error for no reason": {
			func(l *lane) error { began(l); visit(l, 0, 1, 2); return failure }, "nobody cancelled"},
		"a failure lost": {
			func(l *lane) error { began(l); visit(l, 0, 1, 2); l.noteFailure(failure); return nil },
			"tasks have failed"},
		"another failure told": {func(l *lane) error { began(l); l.noteFailure(failure); return cause }, "not told"},
		"cancelled": {
			func(l *lane) error {
				began(l)
				l.mayBeCancelledBy(cause)
				return errors.Join(context.Canceled, cause)
			}, ""},
		"cancelled by nobody": {func(l *lane) error { began(l); return context.Canceled }, "nobody cancelled"},
		"cancelled otherwise": {
			func(l *lane) error { began(l); l.mayBeCancelledBy(cause); return context.Canceled },
			"nobody cancelled"},
		"cancelled from around":   {func(l *lane) error { began(l); l.lenient = true; return context.Canceled }, ""},
		"not begun":               {func(l *lane) error { l.life.closing.Store(true); return executor.ErrClosed }, ""},
		"not begun for no reason": {func(l *lane) error { return executor.ErrClosed }, "no reason"},
		"not begun, tasks ran": {
			func(l *lane) error { l.life.closing.Store(true); visit(l, 0); return executor.ErrClosed },
			"never began"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSoak(options{drivers: 1}, func() {})
			chain := &dag.Form{Tasks: 3, Edges: []dag.Edge{{From: 0, To: 1}, {From: 1, To: 2}}}
			l := newLane(s, newForm(chain), nil)
			l.prepare(trip{life: &life{}, pulse: &s.pulses[0].Int64})
			l.check(c.run(l))
			if c.want == "" {
				require.NoError(t, s.err)
			} else {
				require.ErrorContains(t, s.err, c.want)
			}
		})
	}
}

// TestCloseBites: close notices an executor whose statistics do not agree.
func TestCloseBites(t *testing.T) {
	s := newSoak(options{drivers: 1}, func() {})
	l, err := s.open(executor.Config{Workers: 2})
	require.NoError(t, err)
	l.expected.Add(1)
	s.close(l)
	require.ErrorContains(t, s.err, "Stats tells 0 tasks, its runs had 1")
	require.Empty(t, s.living())
}
