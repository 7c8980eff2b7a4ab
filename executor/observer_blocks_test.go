package executor_test

import (
	"context"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// A blocker blocks the first call of wait until it is opened.
type blocker struct{ blocked, gate chan struct{} }

func newBlocker() *blocker { return &blocker{make(chan struct{}, 1), make(chan struct{})} }

func (b *blocker) wait() {
	select {
	case b.blocked <- struct{}{}:
		<-b.gate
	default:
	}
}

// The error of Shutdown, and but for tasks Dump, name the function of an observer that has not returned. Shutdown
// returns in time.
func TestShutdownNamesObservers(t *testing.T) {
	const ofTask = "TaskBegin, TaskEnd or TaskSkip on worker 0"
	for name, c := range map[string]struct {
		set  func(o *executor.Observer, wait func())
		says string
	}{
		"TaskBegin": {func(o *executor.Observer, wait func()) {
			o.TaskBegin = func(*executor.Event) { wait() }
		}, ofTask},
		"TaskEnd": {func(o *executor.Observer, wait func()) {
			o.TaskEnd = func(*executor.Event) { wait() }
		}, ofTask},
		"Park": {func(o *executor.Observer, wait func()) {
			o.Park = func(*executor.Event) { wait() }
		}, "Park on worker 0"},
		"Unpark": {func(o *executor.Observer, wait func()) {
			o.Unpark = func(*executor.Event) { wait() }
		}, "Unpark on worker 0"},
		"RunBegin": {func(o *executor.Observer, wait func()) {
			o.RunBegin = func(*executor.Event) { wait() }
		}, "RunBegin (1)"},
		"RunEnd": {func(o *executor.Observer, wait func()) {
			o.RunEnd = func(*executor.Event) { wait() }
		}, "RunEnd (1)"},
		"Detach": {func(o *executor.Observer, wait func()) { o.Detach = wait }, "Detach (1)"},
	} {
		g := graph.New("g")
		g.Task(func(context.Context) error { return nil })
		for kind, job := range map[string]executor.Job{"function": nothingTo("f"), "graph": g} {
			t.Run(name+" of a "+kind, func(t *testing.T) {
				b, o := newBlocker(), new(executor.Observer)
				c.set(o, b.wait)
				ex := newExecutor(t, executor.Config{Workers: 1, Spares: -1, Observers: []*executor.Observer{o}})
				ex.SetShutdownPatience(5 * time.Millisecond)
				if name == "Unpark" {
					eventually(func() bool { return ex.Parked() == 1 })
				}
				started := make(chan struct{})
				go func() {
					defer close(started)
					run := ex.Start(context.Background(), job)
					if name == "Detach" {
						_ = run.Wait()
						_ = ex.Close() // so that Detach is in progress when Shutdown's patience begins
					}
				}()
				<-b.blocked
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				err := ex.Shutdown(ended)
				require.ErrorIs(t, err, executor.ErrShutdown)
				require.ErrorContains(t, err, ", or functions of observers do not return: "+c.says+")")
				require.NotContains(t, err.Error(), ", in executor_test.", "no task is in a function")
				if c.says != ofTask {
					require.Contains(t, dump(ex), "in functions of observers: "+c.says+"\n")
				}
				close(b.gate)
				<-started
				require.NoError(t, ex.Close())
				require.NotContains(t, dump(ex), "in functions of observers")
			})
		}
	}
}

// The limit that Observer tells: a worker that blocks in Unpark counts as one that looks for work, so the other sleeps
// on, and new runs wait.
func TestObserverBlocksInUnpark(t *testing.T) {
	b := newBlocker()
	o := &executor.Observer{Unpark: func(*executor.Event) { b.wait() }}
	ex := newExecutor(t, executor.Config{Workers: 2, Spares: -1, Observers: []*executor.Observer{o}})
	eventually(func() bool { return ex.Parked() == 2 })
	first := ex.Start(t.Context(), nothingTo("first"))
	<-b.blocked
	second := ex.Start(t.Context(), nothingTo("second"))
	time.Sleep(20 * time.Millisecond)
	require.False(t, first.Progress().Over)
	require.False(t, second.Progress().Over)
	require.Contains(t, dump(ex), "in functions of observers: Unpark on worker")
	close(b.gate)
	within(t, ex, func() {
		require.NoError(t, first.Wait())
		require.NoError(t, second.Wait())
	})
}

// New waits for Attach.
func TestObserverBlocksInAttach(t *testing.T) {
	b := newBlocker()
	o := &executor.Observer{Attach: func(*executor.Executor) { b.wait() }}
	made := make(chan *executor.Executor)
	go func() {
		ex, err := executor.New(executor.Config{Workers: 1, Observers: []*executor.Observer{o}})
		if err != nil {
			t.Error(err)
		}
		made <- ex
	}()
	<-b.blocked
	select {
	case <-made:
		t.Error("New has returned before Attach")
	case <-time.After(20 * time.Millisecond):
	}
	close(b.gate)
	ex := <-made
	require.NoError(t, ex.Run(t.Context(), nothingTo("f")))
	require.NoError(t, ex.Close())
}
