package model

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"
)

// Config bounds an exploration.
type Config struct {
	// Preemptions bounds the preemptions of one execution: a thread that could go on is held up for another, or a
	// thread that gives way is followed by another than the next. A negative number means no bound. Most bugs need one
	// or two.
	Preemptions int
	// Random, if not 0, takes that many executions by PCT (probabilistic concurrency testing, Burckhardt et al. 2010)
	// instead of all of them. Threads then have random priorities, which change Preemptions times at random steps.
	Random int
	// Seed is the seed of the random choices.
	Seed uint64
	// States visits every state within the bound, also those that no thread can tell apart by its own operations. It is
	// for programs that look at plain variables or words at any moment, without an operation. See races.go.
	States bool
	// Full explores equivalent interleavings too: see reduction.go.
	Full bool
	// Steps is the number of operations after which an execution counts as a livelock. 0 means 10000.
	Steps int
	// Replay takes the one execution of a failure's schedule. The schedule's bound replaces Preemptions and Random.
	Replay string
	// Progress, if not nil, is called between executions, at most once in each Interval. 0 means a minute.
	Progress func(Progress)
	Interval time.Duration
}

// Progress is how far an exploration has come.
type Progress struct {
	Executions, States int // as in Result
	// Share is the part that is done. Of the search tree it is an estimate in which each option of a decision counts as
	// much. It falls when a race adds options. Under a bound more may be done: the first option, to go on, leaves the most
	// preemptions for later.
	Share float64
}

// Result says what an exploration did.
type Result struct {
	Executions int // the number of different sequences of decisions
	Steps      int // operations in all of them
	States     int // different states with a decision to take; 0 if Full or Random
	Failure    *Failure
}

// A Failure is an execution that went wrong.
type Failure struct {
	What     string // assertion, panic, data race, deadlock or livelock, with details
	Schedule string // for Config.Replay
	Trace    string // one line for each operation: thread, operation, place
}

// Error returns the whole failure, with the trace cut to its last operations.
func (f *Failure) Error() string {
	const most = 200
	trace := strings.Split(strings.TrimSuffix(f.Trace, "\n"), "\n")
	if cut := len(trace) - most; cut > 0 {
		trace = append([]string{fmt.Sprintf("… %d operations before", cut)}, trace[cut:]...)
	}
	return fmt.Sprintf("%s\nschedule: %s\n%s", f.What, f.Schedule, strings.Join(trace, "\n"))
}

// Explore runs program in every interleaving within the bounds, up to the first failure. The program runs on a thread
// of its own and may start others with [Go]. It must behave the same whenever the same decisions are taken: it may not
// depend on time, on random numbers or on addresses. A process has one exploration at a time. Explore panics if
// cfg.Replay is no schedule.
func Explore(cfg Config, program func()) (res Result) {
	if cfg.Steps == 0 {
		cfg.Steps = 10000
	}
	choose := newStrategy(&cfg)
	search, _ := choose.(*depthFirst)
	if search != nil {
		defer func() { res.States = len(search.known) }()
	}
	told := time.Now()
	m := &memory{}
	defer m.release()
	// Threads take turns. With more Ps, each hand-over would wake an OS thread to look for work that does not exist.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for {
		x := newExecution(cfg, choose, m)
		x.run(program)
		res.Executions++
		res.Steps += x.steps
		if x.failure != "" {
			res.Failure = &Failure{What: x.failure, Schedule: schedule{cfg.bound(), x.decisions}.String()}
			again := x
			if !x.tracing {
				// Take the same decisions again, this time with a trace.
				m := &memory{}
				defer m.release()
				again = newExecution(cfg, &replay{decisions: x.decisions}, m)
				again.tracing = true
				again.run(program)
			}
			res.Failure.Trace = again.trace.String()
			if firstLine(again.failure) != firstLine(x.failure) {
				res.Failure.Trace += "the replay ended differently, the program is not deterministic: " +
					again.failure + "\n"
			}
			return res
		}
		if !choose.next() {
			return res
		}
		const between = 100 // executions, of a millisecond each if they are long
		if cfg.Progress != nil && res.Executions%between == 0 && time.Since(told) >= cmp.Or(cfg.Interval, time.Minute) {
			told = time.Now()
			so := Progress{Executions: res.Executions, Share: float64(res.Executions) / float64(max(cfg.Random, 1))}
			if search != nil {
				so.States, so.Share = len(search.known), search.share()
			}
			cfg.Progress(so)
		}
	}
}

// firstLine leaves out the stack of a panic, which has addresses.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// A strategy takes the decisions of all executions, one after the other.
type strategy interface {
	// thread picks one of x.options, the threads that can go on, among those with the indices x.open. The first option
	// is the running thread, if it can go on.
	thread(x *execution) int
	// value picks one of n possible outcomes of an operation.
	value(n int) int
	// next goes on to the next execution, or returns false after the last.
	next() bool
	// common returns the number of turns of the last execution that the next one begins with.
	common() int
}

func newStrategy(cfg *Config) strategy {
	switch {
	case cfg.Replay != "":
		s, err := parseSchedule(cfg.Replay)
		if err != nil {
			panic("model: " + err.Error())
		}
		cfg.Preemptions, cfg.Random = s.bound, 0
		return &replay{decisions: s.decisions}
	case cfg.Random > 0:
		p := &pct{left: cfg.Random, changes: max(cfg.Preemptions, 1), rng: rand.New(rand.NewPCG(cfg.Seed, 1))}
		p.start()
		return p
	default:
		d := &depthFirst{}
		if !cfg.Full {
			d.known, d.raced, d.pinned = make(cache), make(map[past]bool), make(map[past]bool)
		}
		return d
	}
}

// depthFirst takes the decisions in lexical order.
type depthFirst struct {
	stack []decision
	at    int
	known cache // nil: take all

	// Of operations, known by the past before them; see races.go.
	raced  map[past]bool // with an operation of another thread in any execution so far
	pinned map[past]bool
}

type decision struct {
	options, taken int
	turn           int    // the execution's turn when the decision came up
	state          uint64 // the execution's state then
	all            bool   // take the other options as well; without it only if there is a race
	past           past   // of the running thread, before the operation that it has come to
}

func (d *depthFirst) value(n int) int {
	switch {
	case d.at == len(d.stack):
		d.stack = append(d.stack, decision{options: n, turn: active.turn, state: active.state(), all: true})
	case d.stack[d.at].options != n:
		active.giveUp("the program is not deterministic: %d options where there were %d", n, d.stack[d.at].options)
	case d.at == len(d.stack)-1 && d.stack[d.at].state != active.state(): // a change in an earlier decision shows here
		active.giveUp("the program is not deterministic: the same decisions led to another state")
	}
	d.at++
	return d.stack[d.at-1].taken
}

func (d *depthFirst) thread(x *execution) int {
	isNew := d.at == len(d.stack) // the other states on the stack are known because the search first came to them there
	if d.known != nil && isNew && d.known.covers(x) {
		x.covered = true
		d.recall()
		return 0
	}
	i := x.open[d.value(len(x.open))]
	if x.search != nil {
		x.current.next.choice = d.latest()
		if isNew {
			last := &d.stack[d.at-1]
			last.all, last.past = !x.preempts(), x.current.next.past
		}
	}
	return i
}

// latest returns the index of the latest decision.
func (d *depthFirst) latest() int32 { return int32(d.at - 1) }

func (d *depthFirst) next() bool {
	for len(d.stack) > 0 {
		last := &d.stack[len(d.stack)-1]
		if last.taken++; last.all && last.taken < last.options {
			d.at = 0
			return true
		}
		d.stack = d.stack[:len(d.stack)-1]
	}
	return false
}

func (d *depthFirst) common() int {
	if len(d.stack) == 0 {
		return 0
	}
	return d.stack[len(d.stack)-1].turn
}

// share returns Progress.Share.
func (d *depthFirst) share() (share float64) {
	each := 1.0
	for _, c := range d.stack {
		if c.all {
			each /= float64(c.options)
			share += each * float64(c.taken)
		}
	}
	return share
}

// pct runs the thread of highest priority. At some steps, and where it yields, the running thread falls to the lowest.
type pct struct {
	left     int
	changes  int
	rng      *rand.Rand
	priority map[int]int
	at       map[int]bool // steps at which a priority changes
	length   int          // of the longest execution so far
	lowest   int
}

func (p *pct) start() {
	p.priority = make(map[int]int)
	p.at = make(map[int]bool)
	p.lowest = 0
	for range p.changes {
		p.at[p.rng.IntN(max(p.length, 50))] = true
	}
}

func (p *pct) thread(x *execution) int {
	step, options := x.steps, x.options
	p.length = max(p.length, step)
	for _, t := range options {
		if _, known := p.priority[t.id]; !known {
			p.priority[t.id] = 1 + p.rng.IntN(1000)
		}
	}
	if x.current.yields {
		p.fall(x.current) // without it, two threads that poll in turn would keep the others from running
	}
	best := p.best(options)
	if p.at[step] {
		p.fall(options[best])
		best = p.best(options)
	}
	return best
}

func (p *pct) best(options []*thread) (best int) {
	for i, t := range options {
		if p.priority[t.id] > p.priority[options[best].id] {
			best = i
		}
	}
	return best
}

func (p *pct) fall(t *thread) {
	p.lowest--
	p.priority[t.id] = p.lowest
}

func (p *pct) value(n int) int { return p.rng.IntN(n) }

func (p *pct) next() bool {
	p.left--
	p.start()
	return p.left > 0
}

func (p *pct) common() int { return 0 }

// replay takes given decisions, and after them always the first option.
type replay struct {
	decisions []int
	at        int
}

func (r *replay) value(n int) int {
	if r.at == len(r.decisions) {
		return 0
	}
	c := r.decisions[r.at]
	r.at++
	if c >= n {
		active.giveUp("decision %d of the schedule is %d, there are %d options: is it another program's?", r.at, c, n)
	}
	return c
}

func (r *replay) thread(x *execution) int { return r.value(len(x.options)) }

func (r *replay) next() bool { return false }

func (r *replay) common() int { return 0 }
