package virtual

// A Job is a computation that arrives at a machine.
type Job struct {
	Name    string
	Arrival int // step
	Limit   int // processors that it uses at most; 0: those of the machine
	Weight  int // see allot.Job
	Phases  []Phase
}

// A Phase is a part of a job. It begins when the phase before has ended, and ends with the last of its tasks.
type Phase struct {
	Tasks  int // how many, at least 1
	Grain  int // steps that each of them takes; 0 means 1
	Width  int // how many of them can run at the same time; 0: all
	Spread int // how many of them can be begun in a step; 0: all. Not together with Width.
}

// grain returns Grain, 1 if there is none.
func (p Phase) grain() int { return max(p.Grain, 1) }

// span returns the steps that the phase takes on any number of processors.
func (p Phase) span() int {
	switch {
	case p.Width > 0:
		return divideUp(p.Tasks, p.Width) * p.grain()
	case p.Spread > 0:
		return divideUp(p.Tasks, p.Spread) - 1 + p.grain()
	default:
		return p.grain()
	}
}

func divideUp(a, b int) int { return (a + b - 1) / b }

// Work returns T1: how many steps the job takes on one processor.
func (j Job) Work() (steps int) {
	for _, p := range j.Phases {
		steps += p.Tasks * p.grain()
	}
	return steps
}

// Span returns T∞: how many steps the job takes on as many processors as it can use.
func (j Job) Span() (steps int) {
	for _, p := range j.Phases {
		steps += p.span()
	}
	return steps
}

// Serial returns a phase that uses one processor.
func Serial(steps int) Phase { return Phase{Tasks: steps, Width: 1} }

// Parallel returns a phase of tasks of one step, all of which can run at the same time.
func Parallel(tasks int) Phase { return Phase{Tasks: tasks} }

// Loopy returns the benchmark of document 003 (section 4.2, Fig 4-2): a loop that spawns n computations of grain steps
// each, one a step. It has one thread more than workers at any time, however large n is.
func Loopy(n, grain int) Phase { return Phase{Tasks: n, Grain: grain, Spread: 1} }

// Knary returns the phases of a tree of depth n with branching factor k (document 003, section 7): a node takes a step,
// then come its first r subtrees one after another, then the k−r others at the same time. A tree of depth 1 is a node.
//
// The phases are the levels of the computation by its longest paths: what can run in each step, on processors without
// number. Equal levels that follow one another are one phase.
func Knary(n, k, r int) []Phase {
	levels := []Phase{{Tasks: 1, Width: 1}}
	for range n - 1 {
		subtree := levels
		levels = []Phase{{Tasks: 1, Width: 1}}
		for range r {
			levels = appendLevels(levels, subtree, 1)
		}
		if k > r {
			levels = appendLevels(levels, subtree, k-r)
		}
	}
	return levels
}

// appendLevels appends the levels of so many subtrees side by side.
func appendLevels(levels, subtree []Phase, times int) []Phase {
	for _, p := range subtree {
		p.Tasks *= times
		p.Width *= times
		if last := &levels[len(levels)-1]; last.Width == p.Width {
			last.Tasks += p.Tasks
		} else {
			levels = append(levels, p)
		}
	}
	return levels
}
