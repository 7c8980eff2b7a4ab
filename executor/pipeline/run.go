package pipeline

import (
	"context"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/left"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A run is one run of a pipeline. It implements executor.Hooks.
type run struct {
	executor.Body
	*Pipeline
	ctx    context.Context
	cells  []cell // by line, then stage
	tokens []Token
	at     []int // by line: the stage that runs or has run last; written by the cell that runs
	next   int   // number of the next token; used by the first stage, which is serial

	_ pad.Line
	// left counts the cells that are ready or run, and the workers between Enter and Leave.
	left left.Count
	_    pad.Line

	mu       xsync.Mutex
	failures []error
}

// A cell is one stage of one line. It becomes ready when the token of its line has come through the stage before and,
// if the stage is serial, the token of the line before has come through this one. The first stage follows on the last:
// the line is then free for another token.
type cell struct {
	executor.Item
	line, stage int
	join        xatomic.JoinCount
}

// Begin implements executor.Job.
func (p *Pipeline) Begin(r *executor.JobRun) (*executor.Item, error) {
	s := &run{Pipeline: p, ctx: r.Context()}
	s.Body = executor.NewBody(s)
	s.cells = make([]cell, p.lines*len(p.stages))
	s.tokens = make([]Token, p.lines)
	s.at = make([]int, p.lines)
	for line := range s.tokens {
		s.tokens[line] = Token{run: s, line: line}
		for stage := range p.stages {
			c := s.cell(line, stage)
			c.line, c.stage = line, stage
			c.Body = &s.Body
			c.Exec = func(w *executor.Worker, _ *executor.Item) *executor.Item { return s.exec(w, c) }
			// The first token of a line finds the line free, and line 0 has no token before it.
			if stage > 0 && line > 0 && p.stages[stage].Serial {
				c.join.Arm(2)
			} else {
				c.join.Arm(1)
			}
		}
	}
	s.left.Start(1)
	return &s.cell(0, 0).Item, nil
}

func (s *run) cell(line, stage int) *cell { return &s.cells[line*len(s.stages)+stage] }

// exec runs a cell. It returns the next cell of the same token if that is ready, else that of the next line.
func (s *run) exec(w *executor.Worker, c *cell) *executor.Item {
	serial := s.stages[c.stage].Serial
	if serial {
		c.join.Arm(2)
	} else {
		c.join.Arm(1)
	}
	if s.Stopped() {
		return s.done()
	}
	t := &s.tokens[c.line]
	s.at[c.line] = c.stage
	if c.stage == 0 {
		t.number = s.next
		s.next++
	}
	if err := s.stages[c.stage].Run(t); err != nil {
		s.fail(c, err)
		return s.done()
	}
	if t.last {
		return s.done()
	}
	// The token's next cell goes on here, because the token's data is in the cache. The next line's cell is pushed.
	var aside, on *cell
	if serial {
		if n := s.cell((c.line+1)%s.lines, c.stage); n.join.Done(1) {
			aside = n
		}
	}
	if n := s.cell(c.line, (c.stage+1)%len(s.stages)); n.join.Done(1) {
		on = n
	}
	switch {
	case aside != nil && on != nil:
		s.left.In(1)
		w.Push(&aside.Item)
		return &on.Item
	case on != nil:
		return &on.Item
	case aside != nil:
		return &aside.Item
	default:
		return s.done()
	}
}

// done counts out a cell that has made no other ready. The worker is counted too, so the count does not come to 0.
func (s *run) done() *executor.Item {
	s.left.Out(1)
	return nil
}

// fail records a stage's error and stops the run.
func (s *run) fail(c *cell, err error) {
	failed := &StageError{s.name, c.stage, s.tokens[c.line].number, err}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Run().Repeats(err) {
		return
	}
	s.failures = append(s.failures, failed)
	s.Run().Abort(failed)
}

// Fail implements executor.Hooks.
func (s *run) Fail(_ *executor.Worker, it *executor.Item, err error) *executor.Item {
	for i := range s.cells {
		if c := &s.cells[i]; &c.Item == it {
			s.fail(c, err)
		}
	}
	return s.done()
}

// Enter implements executor.Hooks.
func (s *run) Enter(*executor.Worker) { s.left.In(1) }

// Leave implements executor.Hooks.
func (s *run) Leave(*executor.Worker) {
	if s.left.Out(1) {
		s.Run().Finish(s.failures...)
	}
}

// Flush implements executor.Hooks.
func (s *run) Flush(*executor.Worker) {}

// Release implements executor.Hooks.
func (s *run) Release() {}
