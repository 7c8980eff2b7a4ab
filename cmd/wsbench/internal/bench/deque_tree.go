package bench

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/pad"
)

// A traversal has workers that visit all nodes of a tree. Each has a queue of its own, and the first queue has the
// root.
type traversal struct {
	crowd
	tree     Tree
	complete int // nodes of a complete tree
	nodes    ledger
	work     int
	watch    *stopwatch
	workers  []*treeWorker
}

// A treeWorker owns a queue.
type treeWorker struct {
	*traversal
	queue   deque.Queue[Item]
	receive func() (*Item, deque.Outcome) // nil for kinds whose thieves steal
	others  []deque.Thief[Item]
	rng     *rand.PCG

	refused  []*Item // nodes for which the queue had no room: they are visited first
	refusals int     // their number, those visited included
	visits   int
	counts   outcomes

	began, ended time.Duration
	_            pad.Line

	// idle is busy, or the number of nodes that the worker had visited when it had none left. The worker writes it, and
	// all idle workers read it. All nodes have been visited when no worker is busy and the numbers add up to all nodes.
	idle atomic.Int64
	_    pad.Line
}

// busy is the state of a worker that has nodes.
const busy = -1

func newTraversal(r *dequeRun) (dequeTrial, error) {
	queues, err := r.kind.Open(r.Workers, r.Capacity, r.Block)
	if err != nil {
		return nil, err
	}
	t := &traversal{
		tree: r.tree, complete: int(r.tree.completeSize()), nodes: newLedger(r.N), work: r.Work,
		watch: newStopwatch(),
	}
	for i, q := range queues {
		w := &treeWorker{traversal: t, queue: q, rng: rand.NewPCG(r.seed, uint64(i))}
		if recv, ok := q.(deque.Receiver[Item]); ok {
			w.receive = recv.Receive
		}
		for j, other := range queues {
			if j != i {
				w.others = append(w.others, other)
			}
		}
		w.idle.Store(busy)
		t.workers = append(t.workers, w)
	}
	if queues[0].Push(&t.nodes[0]) == deque.Refused {
		return nil, fmt.Errorf("no room for the root")
	}
	return t, nil
}

func (t *traversal) run(r *dequeRun) error {
	var threads []func()
	for _, w := range t.workers {
		threads = append(threads, w.run)
	}
	if err := t.crowd.run(r.ctx, t.progress, threads...); err != nil {
		return err
	}
	visits := 0
	for _, w := range t.workers {
		visits += w.visits
	}
	return t.nodes.check(len(t.nodes), visits)
}

func (t *traversal) figures() []Metric {
	began, ended := t.workers[0].began, t.workers[0].ended
	var counts outcomes
	refused := 0
	for _, w := range t.workers {
		began, ended = min(began, w.began), max(ended, w.ended)
		counts.add(&w.counts)
		refused += w.refusals
	}
	return []Metric{
		{"ns/node", float64((ended - began).Nanoseconds()) / float64(len(t.nodes))},
		{"steals", float64(counts.stolen())},
		{"refused", float64(refused)},
	}
}

// idled returns how many nodes have been visited, if no worker is busy.
func (t *traversal) idled() (n int64, ok bool) {
	for _, w := range t.workers {
		i := w.idle.Load()
		if i == busy {
			return 0, false
		}
		n += i
	}
	return n, true
}

// progress returns a new number each time while a worker is busy: every tree has an end.
func (t *traversal) progress() int64 {
	if n, ok := t.idled(); ok {
		return n
	}
	return int64(t.watch.now())
}

// run is a worker's thread.
func (w *treeWorker) run() {
	w.began = w.watch.now()
	for p := w.next(); p != nil; p = w.next() {
		w.visit(p)
	}
	w.ended = w.watch.now()
}

// next returns the node to visit, or nil if the run is over.
func (w *treeWorker) next() *Item {
	if w.visits%1024 == 0 && w.over.Load() {
		return nil // interrupted
	}
	if last := len(w.refused) - 1; last >= 0 {
		p := w.refused[last]
		w.refused = w.refused[:last]
		return p
	}
	if p, _ := w.queue.Pop(); p != nil {
		return p
	}
	return w.find()
}

// visit marks a node, and pushes its children.
func (w *treeWorker) visit(p *Item) {
	p.taken++
	w.visits++
	if w.work > 0 {
		spin(w.work)
	}
	root := int(p.id) - int(p.id)%w.complete
	if next := root + w.complete; int(p.id) == root && next < len(w.nodes) {
		w.push(next)
	}
	// The nodes of a complete tree are numbered row by row.
	first := (int(p.id)-root)*w.tree.Fanout + 1
	if first >= w.complete {
		return
	}
	for i := range w.tree.Fanout {
		w.push(root + first + i)
	}
}

func (w *treeWorker) push(node int) {
	p := &w.nodes[node]
	if w.queue.Push(p) == deque.Refused {
		w.refusals++
		w.refused = append(w.refused, p)
	}
}

// find gets a node from another worker. It returns nil when all nodes have been visited, or the run has to end.
func (w *treeWorker) find() *Item {
	w.idle.Store(int64(w.visits))
	for !w.over.Load() {
		for range w.others {
			p, outcome := w.steal()
			w.counts[outcome]++
			if outcome == deque.Stolen {
				w.idle.Store(busy)
				return p
			}
		}
		w.queue.Poll() // a thief may have asked, and has to hear that there is nothing
		if n, ok := w.idled(); ok && n >= int64(len(w.nodes)) {
			w.over.Store(true)
		}
		osthread.Yield()
	}
	return nil
}

func (w *treeWorker) steal() (*Item, deque.Outcome) {
	if w.receive != nil {
		return w.receive()
	}
	return w.others[w.rng.Uint64()%uint64(len(w.others))].Steal()
}
