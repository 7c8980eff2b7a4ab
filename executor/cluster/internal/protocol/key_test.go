package protocol

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// order brings w into a form that worlds with the same future share: entries and workers have no identity.
func (w *world) order() {
	holders := make([][]int, len(w.queue))
	for i, a := range w.actors {
		if a.entry != none {
			holders[a.entry] = append(holders[a.entry], w.nodeID(i))
		}
	}
	for _, p := range w.pending {
		if p.entry != none {
			holders[p.entry] = append(holders[p.entry], math.MaxInt)
		}
	}
	places := make([]int, len(w.queue))
	for i := range places {
		places[i] = i
		slices.Sort(holders[i])
	}
	slices.SortStableFunc(places, func(a, b int) int {
		x, y := w.queue[a], w.queue[b]
		return cmp.Or(cmp.Compare(x.message, y.message), cmp.Compare(bit(x.again), bit(y.again)),
			cmp.Compare(bit(x.free), bit(y.free)),
			slices.Compare(holders[a], holders[b]))
	})
	queue, to := make([]entry, len(places)), make([]int, len(places))
	for i, from := range places {
		queue[i] = w.queue[from]
		to[from] = i
	}
	w.queue = queue
	for i := range w.actors {
		if e := &w.actors[i].entry; *e != none {
			*e = to[*e]
		}
	}
	for i := range w.pending {
		if e := &w.pending[i].entry; *e != none {
			*e = to[*e]
		}
	}
	slices.SortStableFunc(w.actors[:w.workers], func(a, b actor) int {
		return cmp.Or(cmp.Compare(idOf(a.node), idOf(b.node)), cmp.Compare(a.entry, b.entry))
	})
	slices.Sort(w.letters)
}

func idOf(n *node) int {
	if n == nil {
		return none
	}
	return n.id
}

func (w *world) nodeID(actor int) int { return idOf(w.actors[actor].node) }

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// key encodes w, which is in order.
func (w *world) key(to []byte) []byte {
	flags := bit(w.broken)<<5 | bit(w.stored)<<4 | bit(w.forgot)<<3 | bit(w.old)<<2 | bit(w.removed)<<1 | bit(w.sent)
	to = append(to, flags, byte(w.left), byte(len(w.queue)), byte(len(w.pending)))
	for _, e := range w.queue {
		to = binary.AppendUvarint(to, uint64(e.message))
		to = append(to, bit(e.again)<<1|bit(e.free))
	}
	for _, a := range w.actors {
		to = binary.AppendUvarint(to, uint64(idOf(a.node)+1))
		to = append(to, byte(a.entry+1), bit(a.young)<<1|bit(a.after))
	}
	for _, p := range w.pending {
		to = append(to, byte(p.op.kind), byte(p.entry+1), byte(len(p.op.keys)), byte(len(p.op.posts)))
		for _, k := range p.op.keys {
			to = binary.AppendUvarint(to, uint64(k))
		}
		for _, m := range p.op.posts {
			to = binary.AppendUvarint(to, uint64(m))
		}
		to = binary.AppendUvarint(to, uint64(p.op.value))
		to = binary.AppendUvarint(to, p.op.revision)
	}
	for part := range w.failed {
		to = append(to, w.failed[part]<<1|bit(w.had[part]))
	}
	to = append(to, byte(len(w.letters)))
	for _, l := range w.letters {
		to = binary.AppendUvarint(to, uint64(l))
	}
	canBeStale := w.left > 0 && w.kinds&stale != 0
	for key := range w.records {
		h := w.records[key]
		if len(h) == 0 {
			continue
		}
		to = binary.AppendUvarint(to, uint64(key)+1)
		to = append(to, byte(len(h)))
		if !canBeStale { // nobody can see the others
			h = h[len(h)-1:]
		}
		for _, v := range h {
			to = binary.AppendUvarint(to, uint64(v))
		}
	}
	return to
}
