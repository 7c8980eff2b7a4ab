package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/osthread"
)

// An act is something that a task does besides noting that it ran.
type act uint8

const (
	actSpin act = iota
	actYield
	actGosched
	actSleep
	actBlock
	actAllocate
	actCollect
	actDump
	actClose
	actNested
	actAbroad
	actOrphan
	actJoin
	actError
	actPanic
	actGoexit
	actCancel
	numActs
)

func (a act) String() string {
	return [numActs]string{"spin", "yield", "gosched", "sleep", "block", "allocate", "collect", "dump",
		"close in a task", "nested run", "run on another executor", "run left behind",
		"wait for one left behind", "error", "panic", "goexit", "cancel"}[a]
}

// Acts by purpose. An act that is listed twice is drawn twice as often.
var (
	delays = []act{
		actSpin, actSpin, actSpin, actYield, actYield, actGosched, actGosched, actSleep, actBlock, actAllocate,
	}
	rare   = []act{actCollect, actDump, actClose}
	nests  = []act{actNested, actNested, actNested, actAbroad, actOrphan, actOrphan, actJoin}
	faults = []act{actError, actPanic, actGoexit, actCancel}
)

// A planned act belongs to one task. Its random choices come from the seed.
type planned struct {
	task uint32
	act  act
	seed uint64
}

// maxDepth is how deep runs nest. Runs at that depth start no others.
const maxDepth = 3

// addActs plans at most n acts, drawn from of, at random tasks of f that have none yet.
func addActs(plan []planned, f *form, rng *rand.Rand, n int, of []act) []planned {
next:
	for range n {
		if f.Tasks == 0 {
			break
		}
		p := planned{uint32(rng.IntN(f.Tasks)), of[rng.IntN(len(of))], rng.Uint64()}
		for _, other := range plan {
			if other.task == p.task {
				continue next
			}
		}
		plan = append(plan, p)
	}
	return plan
}

// addDelays plans a few delays, and now and then a rarer act.
func addDelays(plan []planned, f *form, rng *rand.Rand) []planned {
	plan = addActs(plan, f, rng, rng.IntN(4), delays)
	if rng.IntN(100) == 0 {
		plan = addActs(plan, f, rng, 1, rare)
	}
	return plan
}

// A fault is the error of a task, or the cause for which the task cancels its run.
type fault struct {
	act  act
	task uint32
}

func (f *fault) Error() string { return fmt.Sprintf("injected: %v by task %d", f.act, f.task) }

// perform performs the act that is planned for a task.
func (l *lane) perform(ctx context.Context, task uint32) error {
	var p planned
	for _, p = range l.plan {
		if p.task == task {
			break
		}
	}
	l.soak.acts[p.act].Add(1)
	switch p.act {
	case actSpin:
		for start := time.Now(); time.Since(start) < time.Duration(p.seed%20_000); {
		}
	case actYield:
		osthread.Yield()
	case actGosched:
		runtime.Gosched()
	case actSleep:
		time.Sleep(50 * time.Microsecond)
	case actBlock:
		executor.Blocking(func() { time.Sleep(time.Duration(p.seed % 200_000)) })
	case actAllocate:
		litter(int(p.seed % 1024))
	case actCollect:
		runtime.GC()
	case actDump:
		if err := l.life.ex.Dump(io.Discard); err != nil {
			l.wrong("dump: %v", err)
		}
		l.life.ex.Stats()
	case actClose:
		if err := l.life.ex.Close(); err != executor.ErrInTask {
			l.wrong("Close in a task returned %v", err)
		}
	case actNested, actAbroad, actOrphan:
		l.startAnother(ctx, p)
	case actJoin:
		l.join()
	case actCancel:
		f := &fault{p.act, task}
		l.mayBeCancelledBy(f)
		l.run.Cancel(f)
	case actError, actPanic, actGoexit:
		return l.failAs(p)
	}
	return nil
}

// litter makes garbage, with pointers for the collector to follow.
func litter(n int) {
	type node struct {
		next *node
		fill [6]uint64
	}
	var list *node
	for range n {
		list = &node{next: list}
	}
	runtime.KeepAlive(list)
}

// failAs fails as planned. It notes the error first: the run's result must have it.
func (l *lane) failAs(p planned) error {
	if p.act == actGoexit {
		l.noteFailure(executor.ErrGoexit)
		runtime.Goexit()
	}
	err := &fault{p.act, p.task}
	l.noteFailure(err)
	if p.act == actPanic {
		panic(err)
	}
	return err
}

func (l *lane) noteFailure(err error) {
	l.mu.Lock()
	l.failed = append(l.failed, err)
	l.mu.Unlock()
}

// startAnother runs a small graph from inside a task.
func (l *lane) startAnother(ctx context.Context, p planned) {
	rng := rand.New(rand.NewPCG(p.seed, 0))
	sub := l.soak.pool.takeSmall(rng)
	t := trip{life: l.life, pulse: l.pulse, depth: l.depth + 1}
	if p.act == actAbroad {
		// Tasks there start no runs here: the two executors would wait for each other's workers.
		t.life, t.depth = l.soak.abroad, maxDepth
	}
	if rng.IntN(2) == 0 {
		ctx = context.WithoutCancel(ctx)
	} else {
		t.lenient = true // the run around it may be cancelled, or end first
	}
	t.plan = addDelays(nil, sub.form, rng)
	if t.depth < maxDepth {
		t.plan = addActs(t.plan, sub.form, rng, rng.IntN(3), nests)
	}
	if rng.IntN(8) == 0 {
		t.plan = addActs(t.plan, sub.form, rng, 1, faults)
	}
	sub.prepare(t)
	sub.start(ctx)
	if p.act == actOrphan {
		l.leave(sub)
		return
	}
	var err error
	l.await(sub, func() { err = sub.handle.Wait() })
	l.leave(sub.check(err)...)
	l.soak.pool.put(sub)
}

// join waits for a run that a task of this run has started and left behind.
func (l *lane) join() {
	l.mu.Lock()
	var o *lane
	if len(l.orphans) > 0 {
		o = l.orphans[0]
	}
	l.mu.Unlock()
	if o != nil {
		l.await(nil, func() { _ = o.handle.Wait() }) // its result is checked together with that of this run
	}
}

// await waits for a run inside a task. Meanwhile another task may call Goexit on this stack. That ends this task too,
// which then has failed and leaves behind the run that it waited for.
func (l *lane) await(sub *lane, wait func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		l.noteFailure(executor.ErrGoexit)
		if sub != nil {
			l.leave(sub)
		}
	}()
	wait()
	returned = true
}

// leave leaves runs behind, to be checked when this one is over.
func (l *lane) leave(orphans ...*lane) {
	l.mu.Lock()
	l.orphans = append(l.orphans, orphans...)
	l.mu.Unlock()
}
