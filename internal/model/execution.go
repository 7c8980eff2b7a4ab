package model

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"unsafe"
)

// Kind is the kind of an operation.
type Kind uint8

const (
	Load Kind = iota
	Store
	Update // reads and writes in one step
	Lock
	Wait // sleeps until woken
	Wake
	Yield
	Join // waits for other threads
)

func (k Kind) String() string {
	return [...]string{"load", "store", "update", "lock", "wait", "wake", "yield", "join"}[k]
}

// active is the execution in progress, or nil. Only the thread that holds the baton runs, so no lock guards it.
var active *execution

// An execution is one run of a program.
type execution struct {
	cfg      Config
	strategy strategy
	search   *depthFirst // strategy, if it leaves out preemptions: see races.go; else nil

	threads     []*thread
	current     *thread
	preemptions int
	steps       int
	calm        int // if not 0, no decisions are taken
	spurious    int // waits that ended for no reason
	writes      int // operations that changed a word; a thread that yields waits for one of another thread
	options     []*thread
	open        []int // indices of the options that are not held
	decisions   []int
	turn        int  // how often choose was called
	common      int  // the first turns in which it does the same as the execution before
	covered     bool // it has come to a state from which all is explored, and only has to end
	*memory

	failure string
	over    chan struct{}
	tracing bool
	trace   strings.Builder
}

// A turn is the outcome of one call of choose.
type turn struct {
	thread   uint8
	open     uint8 // the number of open options if there was a decision to take, else 0
	taken    int8  // the option that was taken; -1 if schedules have no decision here
	preempts bool
	holds    bool // the running thread is held from now on
}

// A thread of the program. It runs on a goroutine, and only while it is x.current.
type thread struct {
	id      int
	baton   chan struct{} // its goroutine's
	parent  *thread       // until the first operation: the thread that started it and waits for that operation
	done    bool
	enabled func() bool // reports whether it can go on; nil: it can
	clock   clock
	past    past
	wrote   int            // its part of x.writes
	seen    int            // the other threads' part of x.writes at its last yield
	polite  bool           // it goes on, although not enabled, if no thread is enabled
	yields  bool           // it is at a yield
	asleep  unsafe.Pointer // the word it sleeps on
	woken   bool
	wakers  past // the past of the thread that woke it

	next    op // its next operation, or the last one if it is past that
	held    bool
	changed access // its last operation that was no load
}

func newExecution(cfg Config, s strategy, m *memory) *execution {
	m.words.forget()
	search, _ := s.(*depthFirst)
	if cfg.Full || cfg.States {
		search = nil
	}
	return &execution{cfg: cfg, strategy: s, search: search, memory: m, over: make(chan struct{}),
		tracing: cfg.Replay != "", common: s.common(), options: m.options[:0], open: m.open[:0],
		decisions: m.decisions[:0]}
}

func (x *execution) run(program func()) {
	if active != nil {
		panic("model: an exploration is already going on")
	}
	active = x
	defer func() { active = nil }()
	x.handOver(x.spawn(program))
	<-x.over
	x.memory.options, x.memory.open, x.memory.decisions = x.options, x.open, x.decisions
}

// spawn makes a thread. Its parent, if it has one, calls begin to let it come to its first operation.
func (x *execution) spawn(f func()) *thread {
	if len(x.threads) == maxThreads {
		x.giveUp("more than %d threads", maxThreads)
	}
	on := x.goroutine()
	t := &thread{id: len(x.threads), baton: on.baton, parent: x.current, next: op{choice: -1}}
	x.pin()
	if t.parent != nil {
		t.clock = x.current.clock
		x.current.clock[x.current.id]++
		x.current.past = x.current.past.and(uint64(Join))
		t.past = x.current.past.and(1)
	}
	t.clock[t.id]++
	x.threads = append(x.threads, t)
	on.do = func() (returned bool) {
		defer func() {
			wrong := ""
			if v := recover(); v != nil {
				wrong = fmt.Sprintf("panic in thread %d: %v\n%s", t.id, v, debug.Stack())
			}
			if returned {
				x.idle = append(x.idle, on)
			}
			x.leave(t, wrong)
		}()
		f()
		return true
	}
	return t
}

// begin runs the new thread up to its first operation. That takes no decision, for no thread can observe it.
func (x *execution) begin(t *thread) {
	x.handOver(t)
	<-t.parent.baton
	t.parent = nil
}

func (x *execution) handOver(t *thread) {
	x.current = t
	t.baton <- struct{}{}
}

// leave ends thread t, which holds the baton. If something went wrong it ends the execution as well.
func (x *execution) leave(t *thread, wrong string) {
	t.done = true
	x.pin()
	x.writes++ // a thread may wait for t's end
	if wrong != "" && x.failure == "" {
		x.fail(wrong)
		return // over is closed; the other threads stay blocked
	}
	if t.parent != nil {
		x.handOver(t.parent)
		return
	}
	if x.failure != "" {
		return
	}
	if next := x.choose(); next != nil {
		x.handOver(next)
	}
}

// choose decides which thread goes on. It returns nil if none can: the execution is over.
func (x *execution) choose() *thread {
	if !x.current.done {
		x.arrive()
	}
	if x.turn < x.common {
		x.turn++
		return x.again(x.turns[x.turn-1])
	}
	t, now := x.pick()
	if t == nil {
		return nil // the memory may belong to the next execution by now
	}
	x.turns = append(x.turns[:x.turn], now)
	x.turn++
	return t
}

// again is pick for a turn that the execution before took as well.
func (x *execution) again(then turn) *thread {
	if then.open > 0 {
		x.strategy.value(int(then.open))
		if x.search != nil {
			x.current.next.choice = x.search.latest()
		}
	}
	if then.taken >= 0 {
		x.decisions = append(x.decisions, int(then.taken))
	}
	if then.preempts {
		x.preemptions++
	}
	x.current.held = then.holds
	if int(then.thread) >= len(x.threads) {
		x.giveUp("the program is not deterministic: there is no thread %d, which there was", then.thread)
	}
	t := x.threads[then.thread]
	if t.done || !t.polite && t.enabled != nil && !t.enabled() {
		x.giveUp("the program is not deterministic: thread %d went on where it now cannot", t.id)
	}
	return t
}

// pick decides which thread goes on, and returns the decision as a turn.
func (x *execution) pick() (*thread, turn) {
	x.options = x.options[:0]
	add := func(t *thread) {
		if !t.done && (t.enabled == nil || t.enabled()) {
			x.options = append(x.options, t)
		}
	}
	add(x.current)
	// After a thread that gives way comes the next in order, at no cost. Any other choice counts as a preemption too.
	costs := len(x.options) == 1 || x.current.polite
	last := x.calm > 0 || x.covered ||
		costs && x.cfg.Preemptions >= 0 && x.cfg.Random == 0 && x.preemptions >= x.cfg.Preemptions
	for i := range x.threads {
		if last && len(x.options) > 0 {
			break
		}
		if t := x.threads[(x.current.id+i)%len(x.threads)]; t != x.current {
			add(t)
		}
	}
	if len(x.options) == 0 {
		// The current thread comes last, or it would follow itself for ever.
		for i := range x.threads {
			if t := x.threads[(x.current.id+1+i)%len(x.threads)]; t.polite && !t.done {
				x.options = append(x.options, t)
			}
		}
	}
	if len(x.options) == 0 {
		x.finish()
		return nil, turn{}
	}
	if last || len(x.options) == 1 {
		t := x.options[0]
		x.covered = x.covered || t.held && x.calm == 0
		t.held = false
		return t, turn{thread: uint8(t.id), taken: -1}
	}
	x.open = x.open[:0]
	for i, t := range x.options {
		if !t.held {
			x.open = append(x.open, i)
		}
	}
	i, now := 0, turn{}
	switch len(x.open) {
	case 0:
		x.covered = true
	case 1:
		i = x.open[0]
	default:
		i = x.strategy.thread(x)
		now.open = uint8(len(x.open))
	}
	x.decisions = append(x.decisions, i)
	t := x.options[i]
	now.thread, now.taken = uint8(t.id), int8(i)
	if costs && i != 0 {
		x.preemptions++
		now.preempts = true
		now.holds = x.search.mayHold(x.current)
		x.current.held = now.holds
	}
	return t, now
}

// finish ends the execution when no thread can go on.
func (x *execution) finish() {
	var stuck []string
	for _, t := range x.threads {
		if !t.done {
			why := "waits"
			if t.asleep != nil {
				why = "sleeps"
			}
			stuck = append(stuck, fmt.Sprintf("thread %d %s", t.id, why))
		}
	}
	if len(stuck) > 0 {
		x.fail("deadlock: " + strings.Join(stuck, ", "))
		return
	}
	close(x.over)
}

// fail ends the execution where it stands.
func (x *execution) fail(what string) {
	if x.failure == "" {
		x.failure = what
		close(x.over)
	}
}

// step is called by the current thread before an operation. It returns when the thread may do the operation.
func (x *execution) step(kind Kind, p unsafe.Pointer, enabled func() bool) {
	t := x.current
	t.enabled = enabled
	t.next = op{kind, p, t.past, -1}
	if t.parent != nil {
		x.arrive()
		x.handOver(t.parent)
		<-t.baton
		t.enabled = nil
		if x.tracing {
			x.note(kind, p)
		}
		return
	}
	if x.steps++; x.steps > x.cfg.Steps {
		x.stop(fmt.Sprintf("livelock: no end after %d operations", x.cfg.Steps))
	}
	next := x.choose()
	if next != t {
		if next != nil {
			x.handOver(next)
		}
		<-t.baton
	}
	t.enabled = nil
	if x.tracing {
		x.note(kind, p)
	}
}

// yield makes the current thread wait until other threads have changed something since its last yield.
func (x *execution) yield() {
	t := x.current
	t.yields = true
	x.step(Yield, nil, func() bool { return x.news(t) })
	t.yields = false
	x.yielded()
	t.seen = x.writes - t.wrote
	t.past = t.past.and(uint64(Yield))
}

// news reports whether threads other than t have changed something since t's last yield.
func (x *execution) news(t *thread) bool { return x.writes-t.wrote != t.seen }

// giveUp ends the execution because the checker cannot go on, and never returns. It does not panic, for the code under
// test recovers from the panics of tasks.
func (x *execution) giveUp(format string, args ...any) {
	x.stop("model: " + fmt.Sprintf(format, args...))
}

// stop fails the execution and never returns. The execution's threads stay blocked; only tests end them.
func (x *execution) stop(what string) {
	t := x.current
	x.fail(what)
	<-t.baton
	runtime.Goexit()
}

// isEngine has the files of this package that may stand between a program and note on the stack.
var isEngine = map[string]bool{"api.go": true, "clock.go": true, "execution.go": true}

// note adds a line to the trace.
func (x *execution) note(kind Kind, p unsafe.Pointer) {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		dir := filepath.Base(filepath.Dir(f.File))
		if !isEngine[filepath.Base(f.File)] && dir != "xatomic" || !more {
			fmt.Fprintf(&x.trace, "thread %d  %-6s %s  %s/%s:%d\n",
				x.current.id, kind, x.wordName(p), dir, filepath.Base(f.File), f.Line)
			return
		}
	}
}
