package executor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// A wild builds random graphs whose tasks note in a tally that they run.
type wild struct {
	tally
	rng   *rand.Rand
	ex    *executor.Executor
	names int
	bare  map[string]bool // tasks without a function: they are told and note nothing

	mu     sync.Mutex
	asyncs []executor.Awaitable
}

func (x *wild) name() string {
	x.names++
	return fmt.Sprint("t", x.names)
}

// end ends a task, in a way that how chooses if it is small.
func end(how int) error {
	switch how {
	case 0:
		return errObserved
	case 1:
		panic(errObserved)
	case 2:
		runtime.Goexit()
	}
	return nil
}

// scope returns a function that starts children and forks.
func (x *wild) scope(kind string, depth int) func(*executor.Scope) error {
	how, leaves := x.rng.IntN(80), x.rng.IntN(4)
	var spawned []func(*executor.Scope) error
	for range x.rng.IntN(4 - depth) {
		spawned = append(spawned, x.scope("child", depth+1))
	}
	return func(s *executor.Scope) error {
		x.note(kind)
		for _, fn := range spawned {
			s.Spawn(fn)
		}
		for i := range leaves {
			f := executor.Fork(s, func(_ *executor.Scope, i int) int { return i }, i)
			s.Go(x.task("child"))
			f.Join(s)
		}
		return end(how)
	}
}

// graph returns a random graph.
func (x *wild) graph(depth int) *graph.Graph {
	g := graph.New(x.name())
	permits := graph.NewSemaphore(1 + x.rng.IntN(3))
	fails := []int{20, 300, 300}[x.rng.IntN(3)]
	var all []graph.Task
	for range 1 + x.rng.IntN(24>>depth) {
		name, how, kind := x.name(), x.rng.IntN(fails), x.rng.IntN(16)
		do := func(context.Context) error { x.note(name); return end(how) }
		task := graph.Task{}
		switch {
		case kind == 0 && depth < 2:
			inner := x.graph(depth + 1)
			task = g.Task(func(ctx context.Context) error { x.note(name); return x.ex.Run(ctx, inner) })
		case kind == 1:
			job := executor.NewJob("f", x.scope("root", 0))
			task = g.Task(func(ctx context.Context) error { x.note(name); return x.ex.Run(ctx, job) })
		case kind <= 3:
			names := []string{x.name(), x.name()}
			build := func(ctx context.Context, sub *graph.Graph) error {
				for _, name := range names {
					x.add(sub, name)
				}
				return do(ctx)
			}
			if kind == 2 {
				task = g.Subflow(build)
			} else {
				task = g.DetachedSubflow(build)
			}
		case kind == 4 && depth < 2:
			sub := x.graph(depth + 1)
			task, name = g.Module(sub), sub.Name()
			x.bare[name] = true
		case kind == 5:
			task = graph.Source(g, func(ctx context.Context) (int, error) { return 0, do(ctx) }).Task()
		case kind == 6:
			task = g.Task(func(ctx context.Context) error {
				x.note(name)
				f := executor.Async(ctx, x.ex, func(context.Context) (int, error) { x.note("async#0"); return 0, end(how) })
				x.mu.Lock()
				defer x.mu.Unlock()
				x.asyncs = append(x.asyncs, f)
				return nil
			})
		case kind == 7:
			// The condition is a source, and the tasks that it chooses have no other predecessor.
			c := g.Condition(func(ctx context.Context) (int, error) { return how % 3, do(ctx) }).Named(name)
			c.Precede(x.add(g, x.name()), x.add(g, x.name()))
			continue
		default:
			task = g.Task(do)
		}
		task.Named(name)
		if x.rng.IntN(5) == 0 {
			task.Hold(permits)
		}
		if x.rng.IntN(40) == 0 {
			task.Priority(graph.High)
		}
		for _, before := range all {
			if x.rng.IntN(4) == 0 {
				before.Precede(task)
			}
		}
		all = append(all, task)
	}
	return g
}

// run runs a random graph until it is over, and everything that it has started.
func (x *wild) run(ctx context.Context) {
	g := x.graph(0)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(x.rng.IntN(5000))*time.Microsecond)
	defer cancel()
	over := make(chan bool)
	go func() { // a goroutine of its own: Goexit in a task of an inline executor ends it
		defer close(over)
		_ = x.ex.Run(ctx, g)
	}()
	<-over
	eventually(func() bool { return x.ex.RunsInProgress() == 0 })
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, f := range x.asyncs {
		<-f.Done()
	}
}

// Random graphs with failures, cancellation, conditions and nested runs tell each task that runs, once, and each begin
// has its end.
func TestObservedRandom(t *testing.T) {
	guests.None(t)
	seed, total := testkit.Seed(t), 0
	for round := range testkit.Count(t, 100) {
		rng := rand.New(rand.NewPCG(seed, uint64(round)))
		c := newChecker()
		observers := []*executor.Observer{{}, c.observer()}
		var ex *executor.Executor
		if rng.IntN(5) == 0 {
			ex = executor.NewInline(rng.Uint64(), observers...)
		} else {
			ex = newExecutor(t, executor.Config{
				Workers: 1 + rng.IntN(4),
				Experiment: experiment.Options{
					Policy: oneOf(rng, usable()), Deque: oneOf(rng, deque.Kinds()), Verbatim: rng.IntN(4) == 0,
				},
				Observers: observers,
			})
		}
		for range 10 {
			x := &wild{rng: rng, ex: ex, bare: map[string]bool{}}
			x.ran = map[string]int{}
			within(t, ex, func() { x.run(t.Context()) })
			settled(t, c)
			told := map[string]int{}
			for name, n := range c.counts(t) {
				name = name[strings.LastIndexByte(name, '/')+1:] // without the module
				if name != "fork" && !x.bare[name] && (name == "async#0" || !strings.Contains(name, "#")) {
					told[name] += n
					total += n
				}
			}
			require.Equal(t, x.ran, told, "round %d", round)
		}
		within(t, ex, func() { require.NoError(t, ex.Close()) })
		c.counts(t)
		require.True(t, c.detached)
	}
	testkit.Proved(t, total, "tasks told to an observer")
}
