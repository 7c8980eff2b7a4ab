package executor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// An origin is a function or a run of a random program: its parent, and its number among those that the parent has
// started.
type origin struct {
	parent *origin // nil for a future
	seq    int
	kind   string
	kids   int
}

func (o *origin) child(kind string) *origin {
	if o == nil {
		return &origin{kind: kind}
	}
	o.kids++
	return &origin{parent: o, seq: o.kids, kind: kind}
}

func (o *origin) isIn(other *origin) bool {
	for ; o != nil; o = o.parent {
		if o == other {
			return true
		}
	}
	return false
}

// below is the child of top that o comes from, or nil.
func (o *origin) below(top *origin) *origin {
	for ; o != nil && o.parent != top; o = o.parent {
	}
	return o
}

// isJoinable reports whether the function that started o waits for it before it ends, whatever it does.
func (o *origin) isJoinable() bool {
	return o.kind == "fork" || o.kind == "child" || o.kind == "spawned"
}

func (o *origin) String() string {
	if o == nil {
		return "outside"
	}
	return fmt.Sprintf("%s %d < %v", o.kind, o.seq, o.parent)
}

// A frame is a function on a thread's stack.
type frame struct {
	of      *origin
	waits   string             // in what; "" while it runs
	allowed func(*origin) bool // of what it waits for
}

// stacks has the frames of each thread, and what was found wrong.
type stacks struct {
	of    sync.Map // thread ID → *[]frame, which only that thread uses
	mu    sync.Mutex
	wrong []string
}

func (s *stacks) here() *[]frame {
	all, _ := s.of.LoadOrStore(osthread.ID(), new([]frame))
	return all.(*[]frame)
}

// enter is called by each function at its start, and what it returns at its end.
func (s *stacks) enter(o *origin) (leave func()) {
	frames := s.here()
	if n := len(*frames); n > 0 {
		if top := (*frames)[n-1]; top.allowed == nil || !top.allowed(o) {
			s.complain("%v runs on top of %v, which waits in %q", o, top.of, top.waits)
		}
	}
	*frames = append(*frames, frame{of: o})
	return func() {
		if frames := s.here(); (*frames)[len(*frames)-1].of == o {
			*frames = (*frames)[:len(*frames)-1]
		} else {
			s.complain("%v has not ended on top", o)
		}
	}
}

// wait is called by o around each wait, during which the thread may run other functions.
func (s *stacks) wait(o *origin, what string, allowed func(*origin) bool, f func()) {
	if o == nil { // a goroutine from outside, on whatever thread
		f()
		return
	}
	frames := s.here()
	at := len(*frames) - 1
	was := (*frames)[at]
	(*frames)[at].waits, (*frames)[at].allowed = what, allowed
	f()
	(*s.here())[at] = was
}

func (s *stacks) complain(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

// An isolated is a random program that looks at what its threads run. Its methods start something, as part of o.
type isolated struct {
	stacks
	ex *executor.Executor
}

func branch(rng *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())) }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// work passes some time, or none.
func (p *isolated) work(rng *rand.Rand) {
	switch pause := time.Duration(rng.IntN(40)) * time.Microsecond; rng.IntN(8) {
	case 0:
		runtime.Gosched()
	case 1, 2:
		for t := time.Now(); time.Since(t) < pause; {
		}
	case 3:
		executor.Blocking(func() { time.Sleep(pause) })
	}
}

// body is a function without a scope.
func (p *isolated) body(ctx context.Context, rng *rand.Rand, o *origin, depth int) {
	defer p.enter(o)()
	p.work(rng)
	for range rng.IntN(3) {
		if depth > 0 {
			p.start(ctx, rng, o, depth-1)
		}
		p.work(rng)
	}
}

// start starts a run, or futures, and waits for them.
func (p *isolated) start(ctx context.Context, rng *rand.Rand, o *origin, depth int) {
	switch rng.IntN(4) {
	case 0:
		p.graph(ctx, rng, o.child("run"), depth)
	case 1:
		p.futures(rng, o, depth)
	default:
		run, own := o.child("func"), branch(rng)
		p.wait(o, "Run", func(x *origin) bool { return x.isIn(run) }, func() {
			must(p.ex.Run(ctx, executor.NewJob("f", func(s *executor.Scope) error {
				p.scope(s, own, run, depth)
				return nil
			})))
		})
	}
}

func (p *isolated) graph(ctx context.Context, rng *rand.Rand, run *origin, depth int) {
	g := graph.New("g")
	var tasks []graph.Task
	for i := range 1 + rng.IntN(5) {
		task, own := run.child("task"), branch(rng)
		t := g.Task(func(ctx context.Context) error { p.body(ctx, own, task, depth); return nil })
		if i > 0 && rng.IntN(2) == 0 {
			t.Succeed(tasks[rng.IntN(i)])
		}
		tasks = append(tasks, t)
	}
	p.wait(run.parent, "Run of a graph", func(x *origin) bool { return x.isIn(run) }, func() { must(p.ex.Run(ctx, g)) })
}

func (p *isolated) futures(rng *rand.Rand, by *origin, depth int) {
	var all []*executor.Future[int]
	var before [][]*origin // the future itself, and those that it comes after
	for i := range 1 + rng.IntN(4) {
		o, own := &origin{kind: "future"}, branch(rng)
		needs := []*origin{o}
		var after []executor.Awaitable
		if i > 0 && rng.IntN(2) == 0 {
			j := rng.IntN(i)
			after = append(after, all[j])
			needs = append(needs, before[j]...)
		}
		all = append(all, executor.Async(context.Background(), p.ex, func(ctx context.Context) (int, error) {
			p.body(ctx, own, o, depth)
			return 0, nil
		}, after...))
		before = append(before, needs)
	}
	for _, i := range rng.Perm(len(all)) {
		p.wait(by, "Future.Wait", func(x *origin) bool { return slices.ContainsFunc(before[i], x.isIn) }, func() {
			_, err := all[i].Wait()
			must(err)
		})
	}
}

// scope is a function with a scope. It joins forks in any order, or not.
func (p *isolated) scope(s *executor.Scope, rng *rand.Rand, o *origin, depth int) {
	defer p.enter(o)()
	type forked struct {
		executor.Forked[int, int]
		o *origin
	}
	var forks []forked
	children := 0 // seq of the first that is not waited for, or 0
	started := func(kind string) (*origin, *rand.Rand) {
		x := o.child(kind)
		if kind != "fork" && children == 0 {
			children = x.seq
		}
		return x, branch(rng)
	}
	join := func(i int) {
		f := forks[i]
		forks = slices.Delete(forks, i, i+1)
		p.wait(o, "Join", func(x *origin) bool {
			b := x.below(o)
			return x.isIn(f.o) || b != nil && b.isJoinable() && (b.kind != "fork" || b.seq > f.o.seq)
		}, func() { f.Join(s) })
	}
	type startedRun struct {
		*executor.Run
		o *origin
	}
	var runs []startedRun
	waitForRun := func() {
		i := rng.IntN(len(runs))
		r := runs[i]
		runs = slices.Delete(runs, i, i+1)
		p.wait(o, "Run.Wait", func(x *origin) bool { return x.isIn(r.o) }, func() { must(r.Wait()) })
	}
	for range rng.IntN(6) {
		p.work(rng)
		if len(runs) > 0 && rng.IntN(6) == 0 {
			waitForRun()
		}
		kind := rng.IntN(9)
		if depth <= 0 {
			kind = 4 + rng.IntN(2)
		}
		switch kind {
		case 0, 1:
			x, own := started("fork")
			f := executor.Fork(s, func(s *executor.Scope, _ int) int { p.scope(s, own, x, depth-1); return 1 }, 1)
			forks = append(forks, forked{f, x})
		case 2:
			x, own := started("child")
			s.Go(func(ctx context.Context) error { p.body(ctx, own, x, depth-1); return nil })
		case 3:
			x, own := started("spawned")
			s.Spawn(func(s *executor.Scope) error { p.scope(s, own, x, depth-1); return nil })
		case 4:
			if n := len(forks); n > 0 && rng.IntN(4) > 0 {
				join(n - 1)
			} else if n > 0 {
				join(rng.IntN(n))
			}
		case 5:
			p.wait(o, "Scope.Wait", func(x *origin) bool {
				b := x.below(o)
				return b != nil && b.isJoinable() && (b.kind != "fork" || b.seq > children)
			}, func() { must(s.Wait()) })
			children = 0
		case 6:
			p.start(s.Context(), rng, o, depth-1)
		default:
			x, own := o.child("func"), branch(rng)
			runs = append(runs, startedRun{p.ex.Start(s.Context(), executor.NewJob("f", func(s *executor.Scope) error {
				p.scope(s, own, x, depth-1)
				return nil
			})), x})
		}
	}
	for i := len(forks) - 1; i >= 0; i-- {
		if rng.IntN(8) > 0 { // else nobody joins it
			join(i)
		}
	}
	for len(runs) > 0 && rng.IntN(8) > 0 { // else nobody waits for it
		waitForRun()
	}
	frames := *p.here() // from here on the end of the call runs what is left of it
	frames[len(frames)-1].allowed = func(x *origin) bool { b := x.below(o); return b != nil && b.isJoinable() }
	frames[len(frames)-1].waits = "its end"
	must(s.Wait())
}

// TestIsolationRandom: while a function waits, its thread runs only what comes from the work that it waits for.
// Programs of forks, children, runs, futures and Blocking, with every kind of deque and policy.
func TestIsolationRandom(t *testing.T) {
	seed, programs := testkit.Seed(t), testkit.Count(t, 100)
	for i := range programs {
		own := seed + uint64(i)*0x9E3779B97F4A7C15
		rng := rand.New(rand.NewPCG(own, 1))
		cfg := oneOf(rng, forkStores).in(executor.Config{
			Workers:    1 + rng.IntN(5),
			Experiment: experiment.Options{Policy: oneOf(rng, usable())},
			Spares:     30,
		})
		if cfg.Experiment.Deque.Batches() && rng.IntN(2) == 0 {
			cfg.Experiment.Steal = []deque.Batch{deque.Half, deque.Block}[rng.IntN(2)]
		}
		ex := newWatched(t, cfg)
		p := &isolated{ex: ex}
		within(t, ex, func() {
			var submitters sync.WaitGroup
			for range 1 + rng.IntN(4) {
				own := branch(rng)
				submitters.Go(func() {
					for range 3 {
						p.start(context.Background(), own, nil, 5)
					}
				})
			}
			submitters.Wait()
		})
		require.NoError(t, ex.Close())
		require.Empty(t, p.wrong, "with %+v; %s\n%s", cfg, testkit.Only(t, own), strings.Join(p.wrong, "\n"))
	}
	testkit.Proved(t, programs, "random programs whose threads run only what they wait for")
}
