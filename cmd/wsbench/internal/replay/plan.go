package replay

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// Options say how large the experiments are.
type Options struct {
	Full bool   // the documents' sizes, not those for this machine
	Reps int    // repetitions; 0: each experiment's own
	Seed uint64 // of random graphs and data
	// Unit is that of the sleeps of document 001, where it is a second; 0: each experiment's own.
	Unit time.Duration
	// Cores is the number of cores to plan for; 0: those of this machine.
	Cores int
}

// A Measurement is a number of runs of wsbench: of one program alone, or of several that run at the same time. Or it is
// a computation, and has no programs.
type Measurement struct {
	Programs    []Program
	Computation *Computation
	Reps        int           // of a co-run: how often each program is to be measured while all others run
	Expect      time.Duration // from a development machine with two cores; replay scales it by how others went
	Rounds      *Rounds       // if not nil: the programs have turns, instead of repeating until all are measured
	Turn        int           // of a measurement that is made several times, with others between, see inTurns; from 0
}

// A Program is the arguments of a run of wsbench, and names that tell its results from those of others.
type Program struct {
	Args []string          `json:"args"`
	Tags map[string]string `json:"tags,omitempty"`
}

// Key identifies a measurement: measurements with the same key are made once.
func (m *Measurement) Key() string {
	if m.Computation != nil {
		return "compute " + m.Computation.Name
	}
	var all []string
	for _, p := range m.Programs {
		all = append(all, strings.Join(p.Args, " "))
	}
	key := strings.Join(all, " & ")
	if m.Rounds != nil {
		key += m.Rounds.key()
	}
	if m.isAgain() {
		key += " # again"
	}
	if m.Turn > 0 {
		key += fmt.Sprintf(" # turn %d", m.Turn)
	}
	return key
}

func (m *Measurement) String() string { return m.Key() }

// A Plan collects the measurements of an experiment.
type Plan struct {
	Options
	list        []*Measurement
	keys        map[string]bool
	turn, turns int // of what is planned at present
}

func (e *Experiment) measurements(o Options) []*Measurement {
	if o.Cores == 0 {
		o.Cores = runtime.NumCPU()
	}
	p := &Plan{Options: o, keys: make(map[string]bool)}
	e.plan(p)
	return p.list
}

// size returns the size for this machine, or that of the document.
func (p *Plan) size(here, document int) int {
	if p.Full {
		return document
	}
	return here
}

// reps returns the repetitions: those asked for, or else the experiment's own. In turns they are those of one turn.
func (p *Plan) reps(here, document int) int {
	all := p.Reps
	if all <= 0 {
		all = p.size(here, document)
	}
	turns := max(p.turns, 1)
	return (all + turns - 1) / turns
}

// inTurns plans what plan does that many times. What is compared takes turns, so that a minute in which the machine is
// slow is not of one side alone.
func (p *Plan) inTurns(turns int, plan func()) {
	p.turns = turns
	for p.turn = range turns {
		plan()
	}
	p.turn, p.turns = 0, 0
}

// workers returns the numbers of workers of document 000: 1, 4, 8, and so on up to 40. For a small machine they are 1,
// 2, 4, and so on up to four times the cores: beyond the cores the policies differ in what their thieves take from
// others.
func (p *Plan) workers() (all []int) {
	if p.Full {
		return []int{1, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40}
	}
	for w := 1; w <= min(40, 4*p.Cores); w *= 2 {
		all = append(all, w)
	}
	return all
}

// run plans wsbench run with the arguments, which are separated by spaces.
func (p *Plan) run(expect time.Duration, format string, args ...any) {
	p.alone(expect, nil, "run "+fmt.Sprintf(format, args...))
}

// deque plans wsbench deque.
func (p *Plan) deque(expect time.Duration, format string, args ...any) {
	p.alone(expect, nil, "deque "+fmt.Sprintf(format, args...))
}

// alone plans a run of one program.
func (p *Plan) alone(expect time.Duration, tags map[string]string, args string) {
	p.add(&Measurement{Programs: []Program{p.program(tags, args)}, Expect: expect})
}

// add adds a measurement, unless it is planned already.
func (p *Plan) add(m *Measurement) {
	m.Turn = p.turn
	if key := m.Key(); !p.keys[key] {
		p.keys[key] = true
		p.list = append(p.list, m)
	}
}

// together plans a co-run: each program repeats its work until every other has done it often enough.
func (p *Plan) together(expect time.Duration, programs ...Program) {
	p.add(&Measurement{Programs: programs, Reps: p.reps(8, 20), Expect: expect})
}

func (p *Plan) program(tags map[string]string, args string) Program {
	return Program{append(strings.Fields(args), "-seed", fmt.Sprint(p.Seed)), tags}
}
