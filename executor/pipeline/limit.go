package pipeline

import (
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A gate keeps the MaxTokens of a stage in a run. A cell that finds the stage full is put aside. The cell that leaves
// hands its place to the one that was put aside first. So while a cell is aside, every place is taken, by a cell that
// runs or will, and that hands it on also if the run is stopped.
//
// A cell that is aside keeps its unit in run.left, as one that is ready does.
type gate struct {
	mu          xsync.Mutex
	free        int   // places
	first, last *cell // aside, linked by cell.behind
}

// limit gives the cells of stages with a limit another Exec.
func (s *run) limit() {
	for i := range s.stages {
		if s.stages[i].MaxTokens == 0 {
			continue
		}
		if s.gates == nil {
			s.gates = make([]gate, len(s.stages))
		}
		s.gates[i].free = s.stages[i].MaxTokens
		for line := range s.lines {
			c := s.cell(line, i)
			c.Exec = func(w *executor.Worker, _ *executor.Item) *executor.Item { return s.execLimited(w, c) }
		}
	}
}

// execLimited runs a cell of a stage with a limit, or puts it aside.
func (s *run) execLimited(w *executor.Worker, c *cell) *executor.Item {
	if !s.gates[c.stage].enter(c) {
		s.Run().Uncount(w)
		return nil
	}
	next := s.exec(w, c)
	s.leaveGate(w, c.stage)
	return next
}

// enter reports whether c has a place. If not, c is aside: another worker may run it from now on.
func (g *gate) enter(c *cell) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case c.placed:
		c.placed = false
		return true
	case g.free > 0:
		g.free--
		return true
	case g.last == nil:
		g.first = c
	default:
		g.last.behind = c
	}
	g.last = c
	return false
}

// leave gives a place back, and returns the cell that has got it, or nil.
func (g *gate) leave() *cell {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.first
	if c == nil {
		g.free++
		return nil
	}
	g.first, c.behind = c.behind, nil
	if g.first == nil {
		g.last = nil
	}
	c.placed = true
	return c
}

// leaveGate gives the place of a cell of the stage to the next one. It does nothing if the stage has no limit.
func (s *run) leaveGate(w *executor.Worker, stage int) {
	if s.gates == nil || s.stages[stage].MaxTokens == 0 {
		return
	}
	if c := s.gates[stage].leave(); c != nil {
		w.Push(&c.Item)
	}
}
