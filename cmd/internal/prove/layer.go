package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// A layer is one kind of evidence.
type layer struct {
	name     string
	what     string   // the unit of the goal, as in the tests' lines "proved: N what"
	goal     int64    // the number of units; 0 if the layer has parts
	packages []string // the packages whose tests it runs
	tags     string   // the build tags of the tests
	// step does the next piece of work towards the goal and enters it in r.
	step func(ctx context.Context, l *lab, y *layer, r *record) error
	// A layer without a goal has parts, each to be done once. parts lists them, part does one, and unit says in the
	// plural what one is.
	parts func(ctx context.Context, l *lab, y *layer) ([]string, error)
	part  func(ctx context.Context, l *lab, y *layer, name string) (part, error)
	unit  string
}

const million = 1_000_000

var programs = []string{
	"./deque", "./notifier", "./executor", "./executor/internal/lane", "./executor/internal/policy",
	"./executor/internal/share", "./executor/internal/spares", "./executor/observe", "./executor/pipeline",
	"./executor/pool", "./graph", "./internal/gat",
}

var layers = []layer{
	{
		name: "explore-3", what: "schedules: every model program, at most 3 preemptions",
		tags: "modelcheck", packages: programs, unit: "programs",
		parts: explored("^TestModel"), part: explore(3),
	},
	{
		name: "explore-all", what: "schedules: the smallest model programs, any number of preemptions",
		tags: "modelcheck", packages: []string{"./deque", "./notifier", "./executor/internal/share", "./internal/gat"},
		unit: "programs",
		parts: explored(`^TestModel(OwnerThief|TwoThieves|LastItem|TwoLeft|GrowDuringSteal|SlowThief|Wrap|` +
			`EmptyIsTrue|(PadWS|ADWS|BWoS|ABP)\w*|Spurious|CancelForwards|Promise|` +
			`TwoRest|AllotmentGrows|AllotmentFalls|Swap|Update|Snapshot|Stopped|\w+Death)$`),
		part: explore(-1),
	},
	{
		name: "pct-executor", what: "PCT runs of a whole executor", goal: million,
		tags: "modelcheck", packages: []string{"./executor"},
		step: count("^TestModelRandom$", 100_000),
	},
	{
		name: "pct-graphs", what: "PCT runs of a whole executor with graphs", goal: million,
		tags: "modelcheck", packages: []string{"./graph"},
		step: count("^TestModelRandom$", 100_000),
	},
	{
		name: "mutants", what: "mutants killed", unit: "parts",
		parts: numbered(40), part: command("go", "run", "./cmd/internal/mutants", "-part"),
	},
	{
		name: "histories-deque", what: "histories of a deque linearizable", goal: million,
		packages: []string{"./deque"},
		step:     count("^TestLinearizab", 20_000),
	},
	{
		name: "histories-injector", what: "histories of the injector linearizable", goal: million,
		packages: []string{"./executor"},
		step:     count("^TestInjectorLinearizab", 20_000),
	},
	{
		name: "graphs", what: "random graphs against the oracle", goal: million, // and some ten million faults injected
		packages: []string{"./graph"},
		step:     count("^TestRandomGraphs$", 20_000),
	},
	{
		name: "programs", what: "random programs of all kinds of tasks", goal: million / 5,
		packages: []string{"./graph"},
		step:     count("^TestRandomDynamic$", 20_000),
	},
	{
		name: "forks", what: "random programs of forks, children and runs", goal: million / 10, // a dozen faults each
		packages: []string{"./executor"},
		step:     count("^TestRandomForks$", 5_000),
	},
	{
		name: "isolation", what: "random programs whose threads run only what they wait for", goal: million / 50,
		packages: []string{"./executor"},
		step:     count("^TestIsolationRandom$", 5_000),
	},
	{
		name: "captures", what: "recursions with captured scopes", goal: million / 10,
		packages: []string{"./executor"},
		step:     count("^TestRandomCaptures$", 10_000),
	},
	{
		name: "blocking", what: "programs of tasks that wait for each other in Blocking", goal: million / 10,
		packages: []string{"./executor"},
		step:     count("^TestRandomBlockingForEachOther$", 5_000),
	},
	{
		name: "nests", what: "random programs of executors in each other", goal: million / 10,
		packages: []string{"./executor"},
		step:     count("^TestRandomNests$", 5_000),
	},
	{
		name: "permits", what: "runs that start others and need permits", goal: million,
		packages: []string{"./graph"},
		step:     count("^TestRandomNestedPermits$", 1_000),
	},
	{
		name: "gates", what: "futures after a gate that lives for ever", goal: 60 * million, // ten for each kind of gate
		packages: []string{"./executor"},
		step:     count("^TestPendingFuturesAreFlat$", million),
	},
	{
		name: "limits", what: "processes near a limit on threads", goal: 2_000,
		packages: []string{"./executor"},
		step:     count("^TestThreadLimitAtOnce$", 100),
	},
	{
		name: "cluster-worlds", what: "worlds of the protocol", goal: 18 * million, // at least: a piece visits all
		packages: []string{"./executor/cluster/internal/protocol"},
		step:     count("^TestExploreLong$", 1),
	},
	{
		name: "cluster-random", what: "random runs of the protocol", goal: million / 5, // 29 for each graph
		packages: []string{"./executor/cluster/internal/protocol"},
		step:     count("^TestRandom$", 500),
	},
	{
		name: "cluster-faults", what: "random graphs on processes with faults", goal: 31_000, // a piece for each plan
		packages: []string{"./executor/cluster"},
		step:     count("^TestFaultsOfOnePlan$", 1_000),
	},
	{
		name: "fuzz-deque", what: "fuzz executions of the deque", goal: 20 * million,
		packages: []string{"./deque"}, step: fuzz("FuzzOps", million),
	},
	{
		name: "fuzz-padws", what: "fuzz executions of PadWS", goal: million,
		packages: []string{"./deque"}, step: fuzz("FuzzPadWS", million/10),
	},
	{
		name: "fuzz-pdqr", what: "fuzz executions of PDQR", goal: million,
		packages: []string{"./deque"}, step: fuzz("FuzzPDQR", million/10),
	},
	{
		name: "fuzz-pdqs", what: "fuzz executions of PDQS", goal: million,
		packages: []string{"./deque"}, step: fuzz("FuzzPDQS", million/10),
	},
	{
		name: "fuzz-kinds", what: "fuzz executions of all kinds of deque", goal: million,
		packages: []string{"./deque"}, step: fuzz("FuzzKinds", million/10),
	},
	{
		name: "fuzz-notifier", what: "fuzz executions of the notifier", goal: 20 * million,
		packages: []string{"./notifier"}, step: fuzz("FuzzOps", million),
	},
	{
		name: "fuzz-graph", what: "fuzz executions of graphs", goal: million,
		packages: []string{"./graph"}, step: fuzz("FuzzGraph", million/20),
	},
	{
		name: "fuzz-programs", what: "fuzz executions of programs of all kinds of tasks", goal: million,
		packages: []string{"./graph"}, step: fuzz("FuzzDynamic", million/20),
	},
	{
		name: "fuzz-cluster-records", what: "fuzz executions of the readers of messages and records", goal: million,
		packages: []string{"./executor/cluster/internal/wire"}, step: fuzz("FuzzDecode", million/10),
	},
	{
		name: "fuzz-cluster-graphs", what: "fuzz executions of the reader of graphs for a cluster", goal: million,
		packages: []string{"./executor/cluster"}, step: fuzz("FuzzGraphJSON", million/10),
	},
	{
		name: "fuzz-cluster-split", what: "fuzz executions of the cut into partitions", goal: million,
		packages: []string{"./executor/cluster/internal/split"}, step: fuzz("FuzzSplit", million/10),
	},
	{
		name: "soak", what: "tasks under stress", goal: 10_000 * million,
		step: soak(500 * million),
	},
	{
		name: "soak-dawdling", what: "tasks under stress, with threads that dawdle after atomic steps",
		goal: 500 * million,
		tags: "magpie_chaos", step: soak(50 * million),
	},
}

// do does the rest of the layer.
func (y *layer) do(ctx context.Context, l *lab, r *record) error {
	if y.parts != nil {
		return y.doParts(ctx, l, r)
	}
	for r.Done < y.goal {
		if err := l.timed(r, func() error { return y.step(ctx, l, y, r) }); err != nil {
			return fmt.Errorf("%s: %w", y.name, err)
		}
		if err := r.save(l.dir); err != nil {
			return err
		}
		l.progress(y, r)
	}
	return nil
}

// doParts does the parts that the record lacks, several at a time. If one fails, the others are done nevertheless: a
// layer takes hours, and each failure is worth knowing.
func (y *layer) doParts(ctx context.Context, l *lab, r *record) error {
	names, err := y.parts(ctx, l, y)
	if err != nil {
		return fmt.Errorf("%s: %w", y.name, err)
	}
	r.Parts = len(names)
	names = slices.DeleteFunc(names, r.has)

	inner, stop := context.WithCancel(ctx)
	defer stop()
	type outcome struct {
		name string
		part part
		err  error
	}
	todo, done := make(chan string, len(names)), make(chan outcome)
	for _, name := range names {
		todo <- name
	}
	close(todo)
	var workers sync.WaitGroup
	for range max(l.jobs, 1) {
		workers.Go(func() {
			for name := range todo {
				if inner.Err() != nil {
					return
				}
				p, err := y.part(inner, l, y, name)
				done <- outcome{name, p, err}
			}
		})
	}
	go func() {
		workers.Wait()
		close(done)
	}()
	var failures []error
	var unsaved error
	for o := range done {
		switch {
		case o.err != nil && errors.Is(o.err, context.Cause(inner)): // it was interrupted
		case o.err != nil:
			// At once, since the command may be interrupted or killed hours later.
			l.tell("%s: %s fails; the others go on: %v\n", y.name, o.name, o.err)
			failures = append(failures, o.err)
		case unsaved == nil:
			r.enter(o.part)
			if unsaved = r.save(l.dir); unsaved != nil {
				stop() // the other parts, of which there would be no record
				continue
			}
			l.progress(y, r)
		}
	}
	if ctx.Err() != nil {
		failures = append(failures, context.Cause(ctx))
	}
	if err := errors.Join(append(failures, unsaved)...); err != nil {
		return fmt.Errorf("%s: %w", y.name, err)
	}
	return r.save(l.dir) // even if no part was done
}
