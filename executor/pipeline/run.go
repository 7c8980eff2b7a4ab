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
	ctx      context.Context
	lines    int     // the pipeline's or, for 0, a number chosen for the executor
	stages   []Stage // the pipeline's, made for this run, or with observers around them
	cells    []cell  // by line, then stage
	tokens   []Token
	at       []int     // by line: the stage that runs or has run last; written by the cell that runs
	next     int       // number of the next token; used by the first stage, which is serial
	deferred *deferred // the same; nil until the first deferral
	gates    []gate    // by stage; nil if no stage has a limit
	held     bool      // a loop takes the values: see hold; constant

	_ pad.Line
	// left counts the cells that are ready or run, and the workers between Enter and Leave, each as oneWorker.
	left    left.Count
	through xatomic.Int64 // tokens that have come through
	_       pad.Line

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
	on, beside  *cell // of the next stage and of the next line; constant
	placed      bool  // has a place in the gate of its stage; guarded by gate.mu
	behind      *cell // the cell behind it in the gate; guarded by gate.mu
}

// Begin implements executor.Job.
func (p *Pipeline) Begin(r *executor.JobRun) (*executor.Item, error) {
	p.mustBe()
	if p.stages == nil {
		return nil, errNotMade
	}
	s := &run{Pipeline: p, ctx: r.Context(), lines: p.lines, stages: p.stages}
	if p.binder != nil {
		s.bind(r)
	}
	s.Body.Init(s)
	s.cells = make([]cell, s.lines*len(s.stages))
	s.tokens = make([]Token, s.lines)
	s.at = make([]int, s.lines)
	for line := range s.tokens {
		s.tokens[line] = Token{run: s, line: line}
		for stage := range p.stages {
			c := s.cell(line, stage)
			c.line, c.stage = line, stage
			c.on, c.beside = s.cell(line, (stage+1)%len(s.stages)), s.cell((line+1)%s.lines, stage)
			c.Body = &s.Body
			c.Exec = func(w *executor.Worker, _ *executor.Item) *executor.Item { return s.exec(w, c) }
			// The first token of a line finds the line free, and line 0 has no token before it.
			if stage > 0 && line > 0 && p.stages[stage].Mode == Serial {
				c.join.Arm(2)
			} else {
				c.join.Arm(1)
			}
		}
	}
	s.limit()
	if r.Observed() {
		s.observe(r)
	}
	s.left.Start(1)
	return &s.cell(0, 0).Item, nil
}

func (s *run) cell(line, stage int) *cell { return &s.cells[line*len(s.stages)+stage] }

// exec runs a cell. It returns the next cell of the same token if that is ready, else that of the next line.
func (s *run) exec(w *executor.Worker, c *cell) *executor.Item {
	serial := s.stages[c.stage].Mode == Serial
	if serial {
		c.join.Arm(2)
	} else {
		c.join.Arm(1)
	}
	if s.Stopped() {
		s.Run().Uncount(w)
		return s.done()
	}
	t := &s.tokens[c.line]
	s.at[c.line] = c.stage
	if c.stage == 0 {
		if s.deferred == nil {
			t.number = s.next
			s.next++
		} else if ok, err := s.deferred.draw(s, t); !ok {
			if err != nil {
				s.fail(0, t.number, err)
			}
			return s.done()
		}
	}
	if err := s.stages[c.stage].Run(t); err != nil {
		s.fail(c.stage, t.number, err)
		return s.done()
	}
	if t.fate != enters {
		return s.goOn(c, t)
	}
	// The token's next cell goes on here, because the token's data is in the cache. The next line's cell is pushed.
	var aside, on *cell
	if serial {
		if n := c.beside; n.join.Done(1) {
			aside = n
		}
	}
	if c.stage == len(s.stages)-1 {
		s.through.Add(1)
		if s.held {
			return s.hold(aside) // the loop may have taken the value: t is another's
		}
	}
	if n := c.on; n.join.Done(1) {
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

// fail records the failure of a stage for a token, and stops the run.
func (s *run) fail(stage, token int, err error) {
	failed := &StageError{s.Run().Name(), s.name, stage, token, s.stages[stage].Name, err}
	if s.keep(failed, err) {
		s.Run().Abort(failed) // without the lock: it calls OnStop of other layers
	}
}

// keep records failed, the failure with err of a stage, unless it only says why the run was stopped.
func (s *run) keep(failed, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Run().Repeats(err) {
		return false
	}
	s.failures = append(s.failures, failed)
	return true
}

// Fail implements executor.Hooks.
func (s *run) Fail(w *executor.Worker, it *executor.Item, err error) *executor.Item {
	for i := range s.cells {
		if c := &s.cells[i]; &c.Item == it {
			s.fail(c.stage, s.tokens[c.line].number, err)
			s.leaveGate(w, c.stage)
		}
	}
	return s.done()
}

// Enter implements executor.Hooks.
func (s *run) Enter(*executor.Worker) { s.left.In(oneWorker) }

// Leave implements executor.Hooks.
func (s *run) Leave(*executor.Worker) { s.out(oneWorker) }

// out counts n units out, and ends the run after the last. No lock guards failures then.
func (s *run) out(n int64) {
	if s.left.Out(n) {
		s.Run().Finish(s.failures...)
	}
}

// Flush implements executor.Hooks.
func (s *run) Flush(*executor.Worker) {}

// Release implements executor.Hooks.
func (s *run) Release() {}

// oneWorker is what a worker between Enter and Leave counts in left, where cells count 1.
const oneWorker = 1 << 40

// Progress implements executor.Hooks.
func (s *run) Progress() executor.Progress {
	units := s.left.Load()
	return executor.Progress{Done: s.through.Load(), Left: units % oneWorker, Running: int(units / oneWorker)}
}
