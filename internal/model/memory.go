package model

import "unsafe"

// A memory is the storage that one execution passes to the next.
type memory struct {
	words     wordTable
	turns     []turn
	options   []*thread
	open      []int
	decisions []int
	idle      []*goroutine
}

// release ends the goroutines. No execution may be in progress.
func (m *memory) release() {
	for _, g := range m.idle {
		close(g.baton)
	}
	m.idle = nil
}

// A goroutine runs threads, one after the other: its stack has grown already.
type goroutine struct {
	baton chan struct{}
	do    func() (returned bool)
}

// goroutine returns an idle goroutine, or a new one.
func (m *memory) goroutine() *goroutine {
	if last := len(m.idle) - 1; last >= 0 {
		g := m.idle[last]
		m.idle = m.idle[:last]
		return g
	}
	g := &goroutine{baton: make(chan struct{}, 1)}
	go func() {
		for range g.baton {
			if !g.do() {
				return
			}
		}
	}()
	return g
}

// A wordTable has a word for each address that an execution has accessed. It is a hash table with open addressing, at
// most half full.
type wordTable struct {
	slots []slot
	used  []uint32 // indices of slots
	spare []*word
}

type slot struct {
	p unsafe.Pointer // keeps the object alive, so that no other object can get the address
	w *word
}

const fewestSlots = 1 << 8

// forget empties ws and releases the objects at its addresses.
func (ws *wordTable) forget() {
	for _, i := range ws.used {
		ws.spare = append(ws.spare, ws.slots[i].w)
		ws.slots[i] = slot{}
	}
	ws.used = ws.used[:0]
}

// at returns the word at p.
func (ws *wordTable) at(p unsafe.Pointer) *word {
	if 2*len(ws.used) >= len(ws.slots) {
		ws.grow()
	}
	i := ws.find(p)
	if ws.slots[i].p == nil {
		ws.slots[i] = slot{p, ws.fresh()}
		ws.used = append(ws.used, i)
	}
	return ws.slots[i].w
}

// find returns the index of p's slot, or of the free slot where p belongs.
func (ws *wordTable) find(p unsafe.Pointer) uint32 {
	mask := uint32(len(ws.slots) - 1)
	i := uint32(uint64(uintptr(p))*0x9E3779B97F4A7C15>>32) & mask
	for ws.slots[i].p != p && ws.slots[i].p != nil {
		i = (i + 1) & mask
	}
	return i
}

func (ws *wordTable) fresh() (w *word) {
	if last := len(ws.spare) - 1; last >= 0 {
		w, ws.spare = ws.spare[last], ws.spare[:last]
	} else {
		w = new(word)
	}
	*w = word{name: len(ws.used)}
	return w
}

func (ws *wordTable) grow() {
	old := ws.slots
	ws.slots = make([]slot, max(fewestSlots, 2*len(old)))
	for k, i := range ws.used {
		ws.used[k] = ws.find(old[i].p)
		ws.slots[ws.used[k]] = old[i]
	}
}
