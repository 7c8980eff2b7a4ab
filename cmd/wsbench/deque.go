package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
)

// runDeque is wsbench deque.
func (t *tool) runDeque(ctx context.Context, args []string) error {
	o, err := t.parseDeque(args)
	if err != nil {
		return err
	}
	return measure(t, &o.request, func(step stepper, emit emitter[bench.DequeResult]) error {
		o.session.Step, o.session.Emit = step, emit
		return o.session.Run(ctx)
	})
}

// dequeOptions holds the arguments of wsbench deque.
type dequeOptions struct {
	request
	session bench.DequeSession
}

func (t *tool) parseDeque(args []string) (*dequeOptions, error) {
	var (
		fs     = newFlags("deque")
		kinds  list
		blocks numbers
		stolen numbers
		crowds numbers
		trees  list
		works  numbers
		o      = new(dequeOptions)
		s      = &o.session
	)
	fs.Var(&kinds, "deque", "")
	fs.IntVar(&s.Capacity, "capacity", defaultCapacity, "")
	fs.Var(&blocks, "block", "")
	fs.Var(&stolen, "stolen", "")
	fs.Var(&crowds, "thieves", "")
	fs.IntVar(&s.Workers, "workers", defaultTreeWorkers, "")
	fs.Var(&trees, "tree", "")
	fs.Var(&works, "work", "")
	againFlag(fs, &s.Again)
	names, err := o.parse(fs, args)
	if err != nil {
		return nil, err
	}
	s.N, s.Reps, s.Seed = o.n, o.reps, o.seed
	s.Blocks, s.Stolen, s.Thieves, s.Work = blocks, stolen, crowds, works
	for _, name := range trees {
		tree, err := bench.ParseTree(name)
		if err != nil {
			return nil, err
		}
		s.Trees = append(s.Trees, tree)
	}
	if s.Experiments, err = pickNamed("experiment", t.experiments, experimentName, names); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		s.Experiments, s.Short = t.experiments, true
		if !isSet(fs, "reps") {
			s.Reps = shortReps
		}
		o.notes = func([]bench.Row) []string { return shortNotes }
	}
	if len(kinds) == 0 {
		s.Kinds = t.possibleKinds(s.Capacity)
		return o, nil
	}
	s.Kinds, err = pickNamed("deque", t.dequeKinds, kindName, kinds)
	return o, err
}

const (
	defaultCapacity    = 8192
	defaultTreeWorkers = 8
	shortReps          = 3
)

var shortNotes = []string{
	"This was a quick look. At length: wsbench deque owner latency thieves retries tree.",
	"Everything else: wsbench deque -h.",
}

// possibleKinds returns the kinds that allow queues of the given capacity. If no kind does, it returns all: the session
// will report why.
func (t *tool) possibleKinds(capacity int) []*bench.DequeKind {
	impossible := func(k *bench.DequeKind) bool { return k.Check(2, capacity, 0) != nil }
	if all := slices.DeleteFunc(slices.Clone(t.dequeKinds), impossible); len(all) > 0 {
		return all
	}
	return t.dequeKinds
}

func experimentName(e *bench.DequeExperiment) string { return e.Name }

func kindName(k *bench.DequeKind) string { return k.Name }

func dequeHelp(t *tool) string {
	var experiments strings.Builder
	for _, e := range t.experiments {
		fmt.Fprintf(&experiments, "  %-9s fig. %-3s %s\n", e.Name, e.Figure, e.About)
	}
	var trees strings.Builder
	for _, tree := range bench.Trees() {
		fmt.Fprintf(&trees, "                    %v\n", tree)
	}
	return fmt.Sprintf(`Usage: wsbench deque [EXPERIMENT…] [flags]

Runs the experiments of Wang, Liu, Fu, Härtig and Chen, "Work Stealing through Partial
Asynchronous Delegation" (SPAA 2024), on all kinds of deque. No scheduler takes part: there are
an owner and its thieves, or workers, each on a thread of its own, and on a core of its own if
there are enough. Each item has to come out exactly once, or no time is shown. Without an
experiment it runs a short form of all.

Experiments:
%s
owner, latency and retries have one thief, and an owner that pushes and pops in bursts of 1 to
16 and keeps %d items, or %d blocks if that is more, in its queue. The stolen share is the
items stolen per item pushed: every %d pushes the owner tells the thief how many steals are due.
The thief makes no more, and spaces them evenly by the clock. In owner, the owner waits for a
thief that is behind, with its clock stopped; in the others it goes on, and a thief that cannot
keep up gets a smaller share. The share that was reached is among the figures. In thieves, the
thieves steal as fast as they can. Retries are steals that lost a race or found nothing ready,
up to %d for an item; steals that found the queue empty are counted apart. After %v an owner
ends, whether it is done or not.

In tree, a worker that pops or steals a node pushes the node's children; it visits a child at
once if its queue has no room. A worker whose queue is empty steals from others at random.

Flags, before or after the experiments. A LIST is separated by commas, and every combination
is run.
  -deque LIST     %s
                  (default all)
  -capacity N     items in a queue; some kinds grow (default %d)
  -block LIST     items in a block, for kinds with blocks (default %d; tree: 1,2,4,…
                  up to a quarter of the capacity)
  -stolen LIST    percent of the pushed items to steal (owner: 0,1,5,10,20,30,40; latency: 10;
                  retries: those of owner without 0)
  -thieves LIST   numbers of thieves (default 1,2,4,… as long as each has a core)
  -workers N      workers of tree (default %d)
  -tree LIST      trees, by name or as FANOUT:DEPTH or FANOUT:DEPTH:SPINE: a spine of complete
                  trees, the root of each a child of the root before (default fat,thin):
%s  -work LIST      about so many ns of work for each node of a tree, and after each push and pop,
                  but not in owner (default 0; tree: %d)
  -again SETTINGS measure these settings a second time, in turn with the others, as in
                  deque=padws|abp,stolen=0: the two differ by noise. There are deque, capacity,
                  block, stolen, thieves, workers, tree and work
  -n SIZE         pushes of owner, latency and retries, steals of thieves (default: each its own);
                  trees have their own size
  -reps N         repetitions of each combination, in turn (default %d; the short form: %d)
  -seed S         seed of the bursts, and of the victims of workers (default %d)
  -format FORMAT  text: tables; bench: the Go benchmark format, as benchstat and wsbench compare
                  read it; json: one object per line and repetition (default text)
  -o FILE         write to FILE, which is replaced only if the command succeeds

Examples:
  wsbench deque
  wsbench deque owner -deque chaselev,bwos,padws -stolen 0,10,40
  wsbench deque thieves -thieves 1,2,4,8
  wsbench deque tree -deque abp,bwos,padws -block 1,8,64,256 -tree thin,8:6 -work 0,300
  wsbench deque latency retries -reps 10 -format bench -o new.txt
`, experiments.String(), bench.KeptItems, bench.KeptBlocks, bench.LongestRound, bench.MostRetries, bench.RunLimit,
		names(t.dequeKinds, kindName), defaultCapacity, bench.DefaultBlock,
		defaultTreeWorkers, trees.String(), bench.TreeWork, defaultReps, shortReps, defaultSeed)
}
