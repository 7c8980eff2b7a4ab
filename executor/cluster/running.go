package cluster

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A Running is a partition whose calls a worker runs, or has handed to its executor, which has others to run.
type Running struct {
	Worker string        `json:"-"`
	Run    string        `json:"run"`
	Part   int           `json:"part"`  // its index
	Calls  int           `json:"calls"` // how many calls it has
	Call   string        `json:"call"`  // the first of them, as errors name it
	For    time.Duration `json:"for"`   // since they were begun
}

// A board has the partitions that a worker runs. Any thread.
type board struct {
	mu    sync.Mutex
	next  uint64
	parts map[uint64]begun // by a number that no other has
}

// A begun is a partition that runs.
type begun struct {
	run  string
	plan *wire.Plan
	part int
	at   time.Time
}

// enter notes a partition, until leave is called.
func (b *board) enter(run string, plan *wire.Plan, part int) (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.parts == nil {
		b.parts = map[uint64]begun{}
	}
	id := b.next
	b.next++
	b.parts[id] = begun{run, plan, part, time.Now()}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.parts, id)
	}
}

// most bounds how many partitions a worker announces. Arbitrary: a line is some 200 bytes.
const most = 64

// longest returns the numbers of the partitions that have run for so long at least, in the order in which they were
// begun, and at most limit.
func (b *board) longest(least time.Duration, limit int) []uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []uint64
	for id, p := range b.parts {
		if time.Since(p.at) >= least {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), limit)]
}

// get returns the partitions of some numbers that still run.
func (b *board) get(ids []uint64) []begun {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []begun
	for _, id := range ids {
		if p, runs := b.parts[id]; runs {
			all = append(all, p)
		}
	}
	return all
}

// Running returns the partitions whose calls the worker runs, those first that were begun first. Any thread.
func (w *Worker) Running() []Running { return w.running(w.board.longest(0, w.c.Slots)) }

func (w *Worker) running(ids []uint64) []Running {
	all := []Running{}
	for _, p := range w.board.get(ids) {
		r := Running{Worker: w.c.Name, Run: p.run, Part: p.part, For: time.Since(p.at)}
		if loaded, err := w.runner.load(p.plan); err == nil {
			calls := loaded.parts[p.part]
			if r.Calls = len(calls); r.Calls > 0 {
				r.Call = loaded.graph.label(calls[0])
			}
		}
		all = append(all, r)
	}
	return all
}

// byAge orders what runs: what was begun first comes first.
func byAge(a, b Running) int {
	return cmp.Or(cmp.Compare(b.For, a.For), cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.Run, b.Run),
		cmp.Compare(a.Part, b.Part))
}
