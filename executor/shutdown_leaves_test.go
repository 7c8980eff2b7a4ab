package executor_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// startDeaf keeps each worker busy with a run, "deaf 0" and so on, whose task heeds nothing but the gate.
func startDeaf(t *testing.T, ex *executor.Executor, gate <-chan struct{}) (deaf []*executor.Run) {
	var begun sync.WaitGroup
	for i := range ex.Workers() {
		begun.Add(1)
		job := one(func(context.Context) error {
			begun.Done()
			<-gate
			return nil
		})
		name := fmt.Sprint("deaf ", i)
		deaf = append(deaf, ex.Start(t.Context(), executor.With(job, executor.RunOptions{Name: name})))
	}
	begun.Wait()
	return deaf
}

// Shutdown leaves tasks behind that do not heed their context. All other work ends, and the executor is closed when
// the tasks return.
func TestShutdownLeavesBehind(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		ex.SetShutdownPatience(10 * time.Millisecond)
		gate := make(chan struct{})
		deaf := startDeaf(t, ex, gate)
		queued := ex.Start(t.Context(), fan(100, func(context.Context) error { t.Error("begun"); return nil }))
		f := executor.Async(t.Context(), ex, func(context.Context) (int, error) { t.Error("called"); return 0, nil })
		stop, end := deadline(t)
		end()
		start := time.Now()
		err := ex.Shutdown(stop)
		isShutdown(t, err)
		require.Less(t, time.Since(start), testkit.Patience/2)
		if ex.Workers() > 1 { // a spare worker ends the others
			isShutdown(t, queued.Wait())
			_, err := f.Wait()
			isShutdown(t, err)
		}
		for _, r := range deaf {
			require.False(t, closed(r.Done()))
		}
		require.Regexp(t, `tasks run on that have not heeded their context for [\d.]+m?s, in run of "deaf 0"`, err.Error())
		if ex.Workers() == 2 {
			require.ErrorContains(t, err, `in run of "deaf 0", "deaf 1"`)
		}
		require.ErrorContains(t, err, `, in executor_test.startDeaf.func1)`)
		isShutdown(t, ex.Shutdown(stop))
		close(gate)
		require.NoError(t, ex.Close())
		isShutdown(t, queued.Wait())
		_, err = f.Wait()
		isShutdown(t, err)
		for _, r := range deaf {
			isShutdown(t, r.Wait())
		}
	})
}

// TestShutdownNamesSomeRuns: the error names the oldest of the runs that it leaves behind, and counts the others.
func TestShutdownNamesSomeRuns(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 8})
	ex.SetShutdownPatience(10 * time.Millisecond)
	gate := make(chan struct{})
	startDeaf(t, ex, gate)
	stop, end := deadline(t)
	end()
	err := ex.Shutdown(stop)
	close(gate)
	require.ErrorContains(t, err, `in run of "deaf 0", "deaf 1", "deaf 2", "deaf 3", "deaf 4" and 3 more, `+
		`in executor_test.startDeaf.func1)`)
}

// TestShutdownNamesFunctions: the error names the function that a worker is in, wherever it runs: on a caller of Run,
// in a run within a task, as a future, in Blocking.
func TestShutdownNamesFunctions(t *testing.T) {
	var gate chan struct{}
	var begun atomic.Bool
	deafTask := func(context.Context) error { begun.Store(true); <-gate; return nil }
	for name, c := range map[string]struct {
		start func(ex *executor.Executor)
		want  string
	}{
		"run": {func(ex *executor.Executor) { _ = ex.Run(t.Context(), one(deafTask)) }, "func1"},
		"method": {func(ex *executor.Executor) {
			_ = ex.Run(t.Context(), one((&deafOne{&begun, gate}).run))
		}, "(*deafOne).run"},
		"nested": {func(ex *executor.Executor) {
			_ = ex.Run(t.Context(), one(func(ctx context.Context) error { return ex.Run(ctx, one(deafTask)) }))
		}, "func1"},
		"future": {func(ex *executor.Executor) {
			executor.Async(t.Context(), ex, func(ctx context.Context) (int, error) { return 0, deafTask(ctx) })
		}, "func5.1"},
		"blocking": {func(ex *executor.Executor) {
			ex.Start(t.Context(), one(func(ctx context.Context) error {
				executor.Blocking(func() { _ = deafTask(ctx) })
				return nil
			}))
		}, "func6.1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			gate = make(chan struct{})
			begun.Store(false)
			ex := newExecutor(t, executor.Config{Workers: 1})
			ex.SetShutdownPatience(10 * time.Millisecond)
			var all sync.WaitGroup
			all.Go(func() { c.start(ex) })
			testkit.Until(t, "the task has begun", begun.Load)
			stop, end := deadline(t)
			end()
			err := ex.Shutdown(stop)
			close(gate)
			all.Wait()
			t.Log(err)
			require.Regexp(t, `, in executor_test\.\S*`+regexp.QuoteMeta(c.want)+`\)$`, err.Error())
		})
	}
}

// deafOne has a task that does not heed its context.
type deafOne struct {
	begun *atomic.Bool
	gate  chan struct{}
}

func (d *deafOne) run(context.Context) error { d.begun.Store(true); <-d.gate; return nil }

// TestTaskIn: the function that a worker is in is the last that the module has called, and none of a library's.
func TestTaskIn(t *testing.T) {
	const ours, place = "github.com/magpie-go/magpie/executor.(*Worker).run(0xc000012345)", "\t/src/file.go:1 +0x1"
	for name, c := range map[string]struct {
		frames []string // the innermost first
		want   string
	}{
		"none":         {[]string{"runtime.gopark(0x1)", "sync.(*Cond).Wait(0xc0)", ours}, ""},
		"a task":       {[]string{"main.work(...)", ours}, "main.work"},
		"what it does": {[]string{"sync/atomic.(*Int32).Load(...)", "main.work(0x1)", ours}, "main.work"},
		"an atomic step of a thief, as the race detector shows it": {[]string{"sync/atomic.(*Int32).Load(...)", ours}, ""},
		"a clock":                    {[]string{"time.Now()", ours}, ""},
		"a system call":              {[]string{"golang.org/x/sys/unix.Getpid()", ours}, ""},
		"one called by a library":    {[]string{"main.less(0x1, 0x2)", "slices.SortFunc[...](0x1)", ours}, "main.less"},
		"a task in a task":           {[]string{"main.inner()", ours, "main.outer()", ours}, "main.inner"},
		"a name that begins as ours": {[]string{"example.com/timer.Tick()", ours}, "timer.Tick"},
		"one alike a library's":      {[]string{"timetable/plan.Next()", ours}, "plan.Next"},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			for _, f := range c.frames {
				lines = append(lines, f, place)
			}
			require.Equal(t, c.want, executor.TaskIn("goroutine 7 [running]:\n"+strings.Join(lines, "\n")))
		})
	}
}
