package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// A node is a function of a random program.
type node struct {
	id     int
	kind   nodeKind
	steps  []programStep
	parent *node
	top    *node // of the run that it is part of
}

type nodeKind uint8

const (
	forkedInt nodeKind = iota
	forkedStruct
	spawned
	leaf
	nested
)

// A programStep starts a node, or joins a fork, or waits for the children.
type programStep struct {
	start    *node
	join     int  // else if not negative: the index of a fork of the node
	recovers bool // the join does
}

// A program is a tree of nodes.
type program struct{ nodes []*node }

// randomProgram makes a program of about n nodes.
func randomProgram(rng *rand.Rand, n int) *program {
	p := &program{}
	p.add(nil, nested)
	for tries := 0; len(p.nodes) < n && tries < n; tries++ {
		if at := p.nodes[rng.IntN(len(p.nodes))]; at.kind != leaf && len(at.steps) == 0 {
			p.fill(rng, at, 1+rng.IntN(5))
		}
	}
	return p
}

// add makes a node that parent starts.
func (p *program) add(parent *node, kind nodeKind) *node {
	n := &node{id: len(p.nodes), kind: kind, parent: parent}
	if n.top = n; kind != nested {
		n.top = parent.top
	}
	p.nodes = append(p.nodes, n)
	return n
}

// fill gives n what it does: starts, in between joins in whatever order, and waits.
func (p *program) fill(rng *rand.Rand, n *node, starts int) {
	var open []int // forks that are not joined
	forks := 0
	join := func() {
		i := rng.IntN(len(open))
		if rng.IntN(2) == 0 {
			i = len(open) - 1 // as one should
		}
		n.steps = append(n.steps, programStep{join: open[i], recovers: rng.IntN(4) == 0})
		open = append(open[:i], open[i+1:]...)
	}
	for range starts {
		kind := [...]nodeKind{forkedInt, forkedInt, forkedInt, forkedStruct, forkedStruct, spawned, spawned, leaf,
			nested}[rng.IntN(9)]
		n.steps = append(n.steps, programStep{start: p.add(n, kind), join: -1})
		if kind <= forkedStruct {
			open = append(open, forks)
			forks++
		}
		if len(open) > 0 && rng.IntN(4) == 0 {
			join()
		}
		if rng.IntN(6) == 0 {
			n.steps = append(n.steps, programStep{join: -1})
		}
	}
	for len(open) > 0 && rng.IntN(8) > 0 {
		join()
	}
}

// value is what the node returns if nothing goes wrong: the oracle.
func (n *node) value() int {
	v := n.id
	var forks []*node
	for _, st := range n.steps {
		switch {
		case st.start == nil && st.join >= 0:
			v += 3 * forks[st.join].value()
		case st.start != nil && st.start.kind <= forkedStruct:
			forks = append(forks, st.start)
		case st.start != nil && st.start.kind == nested:
			v += st.start.value()
		}
	}
	return v
}

func (n *node) String() string {
	s := fmt.Sprintf("%d%c(", n.id, "itcln"[n.kind])
	for _, st := range n.steps {
		switch {
		case st.start != nil:
			s += st.start.String() + " "
		case st.join >= 0:
			s += fmt.Sprintf("j%d", st.join)
			if st.recovers {
				s += "r"
			}
			s += " "
		default:
			s += "w "
		}
	}
	return s + ")"
}

type faultKind uint8

const (
	noFault faultKind = iota
	errorFault
	panicFault
	goexitFault
	cancelFault
	faultKinds
)

// A fault is what goes wrong, before a step of a node.
type fault struct {
	kind faultKind
	node int
	step int // len(steps): at the end
}

type faultError struct{ node int }

func (e *faultError) Error() string { return fmt.Sprintf("fault in node %d", e.node) }

// An execution is one of a program, with one fault or none.
type execution struct {
	*program
	ex     *executor.Executor
	fault  fault
	err    error // the fault's
	cancel context.CancelCauseFunc
	states []nodeState

	struck, caught atomic.Bool // the fault happened; a Join recovered from it
	wrong          atomic.Pointer[string]

	mu   sync.Mutex
	runs map[*node]*executor.Run
}

type nodeState struct {
	ran, forked, returned atomic.Int32
	value                 atomic.Int64
}

func (e *execution) complain(format string, args ...any) {
	told := fmt.Sprintf(format, args...)
	e.wrong.CompareAndSwap(nil, &told)
}

type structArg struct {
	n   *node
	pad [3]int
}

type structResult struct {
	value int
	of    *node
}

func (e *execution) asInt(s *executor.Scope, n *node) int { return e.must(e.do(s, n)) }

func (e *execution) asStruct(s *executor.Scope, a structArg) structResult {
	return structResult{e.must(e.do(s, a.n)), a.n}
}

func (e *execution) must(v int, err error) int {
	if err != nil {
		panic(err)
	}
	return v
}

// strike has the fault happen, if it is at this step.
func (e *execution) strike(n *node, step int) error {
	if e.fault.kind == noFault || e.fault.node != n.id || e.fault.step != step {
		return nil
	}
	e.struck.Store(true)
	switch e.fault.kind {
	case errorFault:
		return e.err
	case panicFault:
		panic(e.err)
	case goexitFault:
		runtime.Goexit()
	case cancelFault:
		e.cancel(e.err)
	}
	return nil
}

// do is the function of a node.
func (e *execution) do(s *executor.Scope, n *node) (v int, err error) {
	st := &e.states[n.id]
	st.ran.Add(1)
	v = n.id
	var joins []func() int
	for i, step := range n.steps {
		if err := e.strike(n, i); err != nil {
			return 0, err
		}
		switch {
		case step.start != nil:
			e.start(s, step.start, &joins, &v)
		case step.join >= 0 && step.recovers:
			func() {
				defer e.recover()
				v += 3 * joins[step.join]()
			}()
		case step.join >= 0:
			v += 3 * joins[step.join]()
		default:
			if err := s.Wait(); err != nil && !e.struck.Load() {
				e.complain("node %d: Wait returned %v", n.id, err)
			}
		}
		if s != nil {
			if wrong := s.CheckForks(); wrong != "" {
				e.complain("node %d: %s", n.id, wrong)
			}
		}
	}
	if err := e.strike(n, len(n.steps)); err != nil {
		return 0, err
	}
	st.value.Store(int64(v))
	st.returned.Add(1)
	return v, nil
}

// recover is deferred by functions that expect the fault. Any other panic fails the execution.
func (e *execution) recover() {
	switch value := recover(); {
	case value == nil: // or Goexit, on this stack
	case value == any(e.err) || value == any(executor.ErrGoexit) && e.fault.kind == goexitFault:
		e.caught.Store(true)
	default:
		e.complain("a Join panicked with %v\n%s", value, debug.Stack())
	}
}

// start starts n with scope s, and appends a function that joins it.
func (e *execution) start(s *executor.Scope, n *node, joins *[]func() int, v *int) {
	e.states[n.id].forked.Add(1)
	joined := func(got int) int {
		if st := &e.states[n.id]; st.returned.Load() != 1 || int(st.value.Load()) != got {
			e.complain("joining node %d returned %d", n.id, got)
		}
		return got
	}
	switch n.kind {
	case forkedInt:
		f := executor.Fork(s, e.asInt, n)
		*joins = append(*joins, func() int { return joined(f.Join(s)) })
	case forkedStruct:
		f := executor.Fork(s, e.asStruct, structArg{n: n})
		*joins = append(*joins, func() int {
			r := f.Join(s)
			if r.of != n {
				e.complain("joining node %d returned another's result", n.id)
			}
			return joined(r.value)
		})
	case spawned:
		s.Spawn(func(s *executor.Scope) error { _, err := e.do(s, n); return err })
	case leaf:
		s.Go(func(context.Context) error { _, err := e.do(nil, n); return err })
	case nested:
		if e.launch(s.Context(), n).Wait() == nil {
			*v += int(e.states[n.id].value.Load())
		}
	}
}

// launch starts the run of which n is the first function.
func (e *execution) launch(ctx context.Context, n *node) *executor.Run {
	r := e.ex.Start(ctx, executor.NewJob(fmt.Sprint(n.id), func(s *executor.Scope) error {
		_, err := e.do(s, n)
		return err
	}))
	e.mu.Lock()
	e.runs[n] = r
	e.mu.Unlock()
	return r
}

// execute runs the program with a fault and says what is wrong with what it did.
func (p *program) execute(ex *executor.Executor, f fault) error {
	e := &execution{program: p, ex: ex, fault: f, err: &faultError{f.node}, states: make([]nodeState, len(p.nodes))}
	e.runs = make(map[*node]*executor.Run)
	ctx, cancel := context.WithCancelCause(context.Background())
	e.cancel = cancel
	defer cancel(nil)
	_ = e.launch(ctx, p.nodes[0]).Wait()
	for { // also runs that the fault has left alone, which may have started others
		known := len(e.known())
		for _, r := range e.known() {
			_ = r.Wait()
		}
		if len(e.known()) == known {
			break
		}
	}
	if told := e.wrong.Load(); told != nil {
		return errors.New(*told)
	}
	if told := ex.ForksLeft(); told != "" {
		return errors.New(told)
	}
	return errors.Join(e.checkNodes(), e.checkRuns())
}

func (e *execution) known() map[*node]*executor.Run {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make(map[*node]*executor.Run, len(e.runs))
	for n, r := range e.runs {
		all[n] = r
	}
	return all
}

// checkNodes: every function ran once, if nothing went wrong or it was forked by functions that all returned.
func (e *execution) checkNodes() error {
	struck := e.struck.Load()
	for i, n := range e.nodes {
		st := &e.states[i]
		ran := st.ran.Load()
		must := !struck
		// Goexit unwinds functions that have returned, too: what a scope does at its end is on the stack.
		if struck && e.fault.kind != goexitFault && n.kind <= forkedStruct && st.forked.Load() == 1 {
			must = true
			for at := n.parent; at != nil; at = at.parent {
				must = must && e.states[at.id].returned.Load() == 1
			}
		}
		if ran > 1 || must && ran != 1 {
			return fmt.Errorf("node %d ran %d times", i, ran)
		}
		if !struck && (st.returned.Load() != 1 || int(st.value.Load()) != n.value()) {
			return fmt.Errorf("node %d returned %d, want %d", i, st.value.Load(), n.value())
		}
	}
	return nil
}

// checkRuns: every run's result is what the fault makes of it.
func (e *execution) checkRuns() error {
	struck, caught := e.struck.Load(), e.caught.Load()
	at := e.nodes[e.fault.node]
	for n, r := range e.known() {
		err := r.Wait()
		own := n == at.top // the fault is in this run
		switch kind := e.fault.kind; {
		case !struck:
			if err != nil {
				return fmt.Errorf("run %d: %w", n.id, err)
			}
		case kind == cancelFault:
			if own && n.id == 0 && !errors.Is(err, e.err) {
				return fmt.Errorf("run %d was cancelled, and its result is %w", n.id, err)
			}
		case kind == goexitFault: // besides, it ends what it meets on the stack
			if own && !caught && !errors.Is(err, executor.ErrGoexit) ||
				err != nil && !stems(err, e.err) && !errors.Is(err, executor.ErrGoexit) {
				return fmt.Errorf("run %d after Goexit: %w", n.id, err)
			}
		case own && !caught:
			if !errors.Is(err, e.err) || len(parts(err)) != 1 {
				return fmt.Errorf("run %d, where node %d failed: %w", n.id, at.id, err)
			}
		case own || !n.within(at.top):
			if err != nil {
				return fmt.Errorf("run %d, where nothing failed for good: %w", n.id, err)
			}
		}
	}
	return nil
}

// stems reports whether err is that of a run that another's failure has ended.
func stems(err, failure error) bool {
	return errors.Is(err, failure) || errors.Is(err, context.Canceled)
}

// within reports whether n was started by the run of which top is the first, or below.
func (n *node) within(top *node) bool {
	for ; n != nil; n = n.parent {
		if n.top == top {
			return true
		}
	}
	return false
}

// TestRandomForks: random programs do what the sequential program does, and with a fault in any node the rest of it.
func TestRandomForks(t *testing.T) {
	guests.None(t)
	seed, programs := testkit.Seed(t), testkit.Count(t, 300)
	type site struct {
		name string
		cfg  executor.Config
		ex   *executor.Executor // nil until a program comes to it
	}
	var sites []*site
	for _, policy := range testkit.Some(t, usable()) {
		for _, s := range forkStores {
			for _, w := range someWorkers {
				sites = append(sites, &site{name: fmt.Sprintf("%v/W=%d/%v", policy, w, s),
					cfg: s.in(executor.Config{Workers: w, Experiment: experiment.Options{Policy: policy}})})
			}
		}
	}
	seeds := []uint64{
		// A run was over while a fork of it waited: the fork had a level that forks of the runs around it had.
		9811995331058573393,
	}
	for i := range programs {
		seeds = append(seeds, seed+uint64(i)*0x9E3779B97F4A7C15)
	}
	for i, own := range seeds {
		rng := rand.New(rand.NewPCG(own, 0))
		at := sites[rng.IntN(len(sites))]
		if at.ex == nil {
			at.ex = newExecutor(t, at.cfg)
		}
		ex := at.ex
		p := randomProgram(rng, 1+rng.IntN(60))
		only := testkit.Only(t, own)
		within(t, ex, func() {
			faults := []fault{{}}
			for range 12 {
				n := p.nodes[rng.IntN(len(p.nodes))]
				f := fault{1 + faultKind(rng.IntN(int(faultKinds)-1)), n.id, rng.IntN(len(n.steps) + 1)}
				faults = append(faults, f, fault{})
			}
			for _, f := range faults {
				require.NoError(t, p.execute(ex, f),
					"program %d on %s with fault %v; %s\n%v", i, at.name, f, only, p.nodes[0])
			}
		})
	}
	for _, at := range sites {
		if at.ex != nil {
			within(t, at.ex, func() { meetApart(t, at.ex) })
		}
	}
	testkit.Proved(t, programs, "random programs of forks, children and runs")
}
