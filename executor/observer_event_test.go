package executor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/executor/pool"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// toldEvents keeps what an observer is told of tasks and runs, by the names of their jobs.
type toldEvents struct {
	mu    sync.Mutex
	errs  map[string][]error // by event, job and task
	texts []toldText
	reads sync.WaitGroup
}

// A toldText is the text that an error had when the observer was told.
type toldText struct {
	err  error
	text string
}

func (k *toldEvents) note(event string, e *executor.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := event + " "
	if e.Task != nil {
		name += e.Task.Set.Job + "/" + e.Task.Name
	} else {
		name += e.Run.Name()
	}
	k.errs[name] = append(k.errs[name], e.Err)
	if err := e.Err; err != nil {
		k.texts = append(k.texts, toldText{err, err.Error()})
		k.reads.Go(func() { _ = err.Error() })
	}
}

// sameTexts requires that no error has changed since the observer was told. The run is over.
func (k *toldEvents) sameTexts(t *testing.T) {
	t.Helper()
	k.reads.Wait()
	for _, told := range k.texts {
		require.Equal(t, told.text, told.err.Error())
	}
}

func (k *toldEvents) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.errs = make(map[string][]error)
}

// of returns the only error told of that name.
func (k *toldEvents) of(t *testing.T, name string) error {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	require.Len(t, k.errs[name], 1, "%s in %v", name, k.errs)
	return k.errs[name][0]
}

func newToldEvents() (*toldEvents, *executor.Observer) {
	k := &toldEvents{errs: make(map[string][]error)}
	return k, &executor.Observer{
		RunEnd:   func(e *executor.Event) { k.note("run", e) },
		TaskEnd:  func(e *executor.Event) { k.note("end", e) },
		TaskSkip: func(e *executor.Event) { k.note("skip", e) },
	}
}

var errEvent = errors.New("no")

// failing are the ways in which a function fails, and how observers are told.
var failing = map[string]struct {
	fn   func() error
	told func(t *testing.T, err error)
}{
	"not":  {func() error { return nil }, func(t *testing.T, err error) { require.NoError(t, err) }},
	"with": {func() error { return errEvent }, func(t *testing.T, err error) { require.ErrorIs(t, err, errEvent) }},
	"panics": {func() error { panic(errEvent) }, func(t *testing.T, err error) {
		var p *executor.PanicError
		require.ErrorAs(t, err, &p)
		require.Equal(t, errEvent, p.Value)
		require.Contains(t, string(p.Stack), "observer_event_test.go")
	}},
	"exits": {func() error { runtime.Goexit(); return nil }, func(t *testing.T, err error) {
		require.ErrorIs(t, err, executor.ErrGoexit)
	}},
}

// TestEventErr: the observers are told how each kind of task has ended, and how its run has.
func TestEventErr(t *testing.T) {
	kinds := map[string]func(ctx context.Context, ex *executor.Executor, fn func() error) error{
		"g/task": func(ctx context.Context, ex *executor.Executor, fn func() error) error {
			g := graph.New("g")
			g.Task(func(context.Context) error { return fn() }).Named("task")
			return ex.Run(ctx, g)
		},
		"g/special": func(ctx context.Context, ex *executor.Executor, fn func() error) error {
			g := graph.New("g")
			g.Subflow(func(context.Context, *graph.Graph) error { return fn() }).Named("special")
			return ex.Run(ctx, g)
		},
		"g/chooses": func(ctx context.Context, ex *executor.Executor, fn func() error) error {
			g := graph.New("g")
			g.Condition(func(context.Context) (int, error) { return -1, fn() }).Named("chooses")
			return ex.Run(ctx, g)
		},
		"f/root": func(ctx context.Context, ex *executor.Executor, fn func() error) error {
			return ex.Run(ctx, executor.NewJob("f", func(*executor.Scope) error { return fn() }))
		},
		"f/child": func(ctx context.Context, ex *executor.Executor, fn func() error) error {
			return ex.Run(ctx, executor.NewJob("f", func(s *executor.Scope) error {
				s.Go(func(context.Context) error { return fn() })
				return nil
			}))
		},
		"async/": func(ctx context.Context, ex *executor.Executor, fn func() error) error {
			_, err := executor.Async(ctx, ex, func(context.Context) (int, error) { return 0, fn() }).Wait()
			return err
		},
		"group/": func(ctx context.Context, ex *executor.Executor, fn func() error) error {
			g := executor.NewGroup(ex)
			g.Go(fn)
			return g.Wait()
		},
		"pool/": func(ctx context.Context, ex *executor.Executor, fn func() error) error {
			p, err := pool.New("pool", pool.Options{})
			if err != nil {
				return err
			}
			p.Add(func(*pool.Task) error { return fn() })
			return ex.Run(ctx, p)
		},
		"pipe/stage": func(ctx context.Context, ex *executor.Executor, fn func() error) error {
			p, err := pipeline.New("pipe", 1,
				pipeline.Stage{Name: "first", Mode: pipeline.Serial, Run: func(tok *pipeline.Token) error {
					if tok.Number() == 1 {
						tok.Stop()
					}
					return nil
				}},
				pipeline.Stage{Name: "stage", Mode: pipeline.Serial, Run: func(*pipeline.Token) error { return fn() }})
			if err != nil {
				return err
			}
			return ex.Run(ctx, p)
		},
	}
	for kind, run := range kinds {
		for how, f := range failing {
			t.Run(fmt.Sprint(kind, " fails ", how), func(t *testing.T) {
				k, o := newToldEvents()
				ex := newExecutor(t, executor.Config{
					Workers: 2, Callers: executor.IdleCallers, Observers: []*executor.Observer{o},
				})
				err := run(t.Context(), ex, f.fn)
				require.NoError(t, ex.Close())
				f.told(t, err)
				f.told(t, k.of(t, "end "+kind))
				k.sameTexts(t)
				var ran, told *executor.PanicError
				if errors.As(err, &ran) {
					require.ErrorAs(t, k.of(t, "end "+kind), &told)
					require.Same(t, ran, told)
				}
				for name, errs := range k.errs {
					if name[:3] == "run" {
						require.Len(t, errs, 1)
						f.told(t, errs[0])
					}
				}
			})
		}
	}
}

// TestTaskSkip: the observers are told which tasks are not run, and why.
func TestTaskSkip(t *testing.T) {
	k, o := newToldEvents()
	ex := newExecutor(t, executor.Config{
		Workers: 1, Spares: -1, Callers: executor.IdleCallers, Observers: []*executor.Observer{o},
	})
	g := graph.New("g")
	bad := g.Task(func(context.Context) error { return errEvent }).Named("bad")
	after := g.Task(func(context.Context) error { return nil }).Named("after")
	bad.Precede(after)
	require.ErrorIs(t, ex.Run(t.Context(), g), errEvent)
	require.ErrorIs(t, k.of(t, "skip g/after"), errEvent)

	k.forget()
	g.Task(func(context.Context) error { return nil }).Named("beside")
	require.ErrorIs(t, ex.Run(t.Context(), graph.KeepGoing(g)), errEvent)
	require.ErrorIs(t, k.of(t, "skip g/after"), errEvent)
	require.NoError(t, k.of(t, "end g/beside"))

	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := ex.Run(ctx, executor.NewJob("f", func(s *executor.Scope) error {
		s.Go(func(context.Context) error { return nil })
		cancel(stop)
		for s.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		return nil
	}))
	require.ErrorIs(t, err, stop)
	require.ErrorIs(t, k.of(t, "skip f/child"), stop)

	group, _ := executor.GroupWithContext(t.Context(), ex)
	gate := make(chan struct{})
	group.Go(func() error { <-gate; return errEvent })
	group.GoContext(func(context.Context) error { return nil })
	close(gate)
	require.ErrorIs(t, group.Wait(), errEvent)
	require.ErrorIs(t, k.of(t, "skip group/"), errEvent)
}

type eventKey struct{}

// TestEventContext: what TaskBegin puts in the place of a task's context reaches the function, the observers behind it
// and TaskEnd. An observer that puts nil there changes nothing.
func TestEventContext(t *testing.T) {
	var ends sync.Map
	first := &executor.Observer{TaskBegin: func(e *executor.Event) {
		around, _ := e.Context.Value(eventKey{}).(string)
		e.Context = context.WithValue(e.Context, eventKey{}, around+e.Task.Set.Job+"/"+e.Task.Name)
	}}
	second := &executor.Observer{
		TaskBegin: func(e *executor.Event) {
			if e.Context.Value(eventKey{}) == nil {
				panic("the second observer does not see the value")
			}
		},
		TaskEnd: func(e *executor.Event) { ends.Store(e.Context.Value(eventKey{}), true) },
	}
	ex := newExecutor(t, executor.Config{Workers: 2, Observers: []*executor.Observer{first, second}})
	want := map[any]bool{}
	sees := func(ctx context.Context, name string) {
		require.Equal(t, name, ctx.Value(eventKey{}))
		of, ok := executor.FromContext(ctx)
		require.True(t, ok && of == ex)
		want[name] = true
	}

	g := graph.New("g")
	a := g.Task(func(ctx context.Context) error { sees(ctx, "g/a"); return nil }).Named("a")
	b := g.External(func(ctx context.Context, done func(error)) error {
		sees(ctx, "g/b")
		done(nil)
		return nil
	}).Named("b")
	c := g.Subflow(func(ctx context.Context, _ *graph.Graph) error { sees(ctx, "g/c"); return nil }).Named("c")
	a.Precede(b)
	b.Precede(c)
	require.NoError(t, ex.Run(t.Context(), g))
	require.NoError(t, ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
		sees(s.Context(), "f/root")
		s.Go(func(ctx context.Context) error { sees(ctx, "f/rootf/child"); return nil })
		return s.Wait()
	})))
	_, err := executor.Async(t.Context(), ex, func(ctx context.Context) (int, error) {
		sees(ctx, "async/")
		return 0, nil
	}).Wait()
	require.NoError(t, err)
	group := executor.NewGroup(ex)
	group.GoContext(func(ctx context.Context) error { sees(ctx, "group/"); return nil })
	require.NoError(t, group.Wait())
	p, err := pool.New("pool", pool.Options{})
	require.NoError(t, err)
	p.Add(func(task *pool.Task) error { sees(task.Context(), "pool/"); return nil })
	require.NoError(t, ex.Run(t.Context(), p))
	for name := range want {
		_, ok := ends.Load(name)
		require.True(t, ok, name)
	}
	require.Len(t, want, 8)

	erases := &executor.Observer{TaskBegin: func(e *executor.Event) { e.Context = nil }}
	other := newExecutor(t, executor.Config{Workers: 1, Observers: []*executor.Observer{erases}})
	g = graph.New("g")
	g.Task(func(ctx context.Context) error { return ctx.Err() })
	require.NoError(t, other.Run(t.Context(), g))
}

// TestEventContextWithoutEnd: a child that is skipped has failed, whatever context TaskBegin has put in the place of
// the root's.
func TestEventContextWithoutEnd(t *testing.T) {
	k, told := newToldEvents()
	endless := &executor.Observer{TaskBegin: func(e *executor.Event) { e.Context = context.WithoutCancel(e.Context) }}
	ex := newExecutor(t, executor.Config{
		Workers: 1, Spares: -1, Callers: executor.IdleCallers, Observers: []*executor.Observer{endless, told},
	})
	var waited error
	require.ErrorIs(t, ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
		s.Go(func(context.Context) error { return nil })
		s.Fail(errEvent)
		waited = s.Wait()
		return nil
	})), errEvent)
	require.ErrorIs(t, waited, errEvent)
	require.ErrorIs(t, k.of(t, "skip f/child"), errEvent)
}

// TestObservedPanicNil: with GODEBUG=panicnil=1 a panic with nil is a failure too, although recover returns nil.
func TestObservedPanicNil(t *testing.T) {
	if os.Getenv("MAGPIE_PANICNIL") == "" {
		test := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestObservedPanicNil$", "-test.count=1")
		test.Env = append(os.Environ(), "GODEBUG=panicnil=1", "MAGPIE_PANICNIL=1")
		out, err := test.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	k, o := newToldEvents()
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.IdleCallers, Observers: []*executor.Observer{o}})
	require.ErrorIs(t, ex.Run(t.Context(), one(func(context.Context) error { panic(nil) })), executor.ErrGoexit)
	require.ErrorIs(t, k.of(t, "end one/"), executor.ErrGoexit)
}

// TestEventTime: the observers of one event are told the same time, and those of the next a later one.
func TestEventTime(t *testing.T) {
	var first, second []time.Time
	note := func(times *[]time.Time) *executor.Observer {
		return &executor.Observer{
			TaskBegin: func(e *executor.Event) { *times = append(*times, e.Time()) },
			TaskEnd:   func(e *executor.Event) { *times = append(*times, e.Time()) },
		}
	}
	ex := newExecutor(t, executor.Config{Workers: 1, Observers: []*executor.Observer{note(&first), note(&second)}})
	require.NoError(t, ex.Run(t.Context(), executor.NewJob("f", func(*executor.Scope) error {
		time.Sleep(time.Millisecond)
		return nil
	})))
	require.Equal(t, first, second)
	require.Len(t, first, 2)
	require.GreaterOrEqual(t, first[1].Sub(first[0]), time.Millisecond)
}
