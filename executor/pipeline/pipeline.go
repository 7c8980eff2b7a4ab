package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/errfmt"
)

// A Stage is what is done with every token.
type Stage struct {
	// Serial says that tokens are taken one at a time, in the order in which they entered. The first stage must be serial.
	Serial bool
	// Run does it. An error ends the run. So do a panic and runtime.Goexit.
	Run func(*Token) error
}

// A Token is one pass through the pipeline. It is valid while the stage runs that was given it, and its methods are for that
// stage.
type Token struct {
	run          *run
	line, number int
	last         bool
}

// Line is the token's line: no other token that is on its way has the same.
func (t *Token) Line() int { return t.line }

// Number counts the tokens that entered, from 0.
func (t *Token) Number() int { return t.number }

// Context is the run's: cancelled when the caller's is, when a stage fails, and at the end of the run.
func (t *Token) Context() context.Context { return t.run.ctx }

// Stop says that this is no token any more, and no other will follow: those on their way go on to the end. It is for the
// first stage, and panics elsewhere.
func (t *Token) Stop() {
	if t.run.at[t.line] != 0 {
		panic(fmt.Sprintf("pipeline %q: Stop in stage %d: only the first stage says when there are no more tokens", t.run.name, t.run.at[t.line]))
	}
	t.last = true
}

// A Pipeline is a job: run it with [executor.Executor.Run], as often as you like, also several times at once if its stages
// can bear that.
type Pipeline struct {
	name   string
	lines  int
	stages []Stage
}

// New returns a pipeline. The error says what is wrong with the lines or the stages.
func New(name string, lines int, stages ...Stage) (*Pipeline, error) {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("pipeline %q: "+format, append([]any{name}, args...)...))
	}
	if lines < 1 {
		bad("%d lines: give at least one, better one or two for each worker", lines)
	}
	if len(stages) == 0 {
		bad("no stages")
	} else if !stages[0].Serial {
		bad("the first stage is parallel: tokens enter one after the other, make it serial")
	}
	for i, s := range stages {
		if s.Run == nil {
			bad("stage %d has no function", i)
		}
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	return &Pipeline{name, lines, append([]Stage(nil), stages...)}, nil
}

// Name is the name given to New.
func (p *Pipeline) Name() string { return p.name }

// A StageError is the failure of a stage.
type StageError struct {
	Pipeline     string
	Stage, Token int   // numbers, from 0
	Err          error // what the stage returned, a *executor.PanicError, or executor.ErrGoexit
}

func (e *StageError) Error() string { return e.say("%v") }

// Format implements [fmt.Formatter]: %+v tells all that is known of Err, the stack of a panic too.
func (e *StageError) Format(s fmt.State, verb rune) { errfmt.Format(s, verb, e.say) }

func (e *StageError) say(verb string) string {
	return fmt.Sprintf("pipeline %q: stage %d, token %d: "+verb, e.Pipeline, e.Stage, e.Token, e.Err)
}

// Unwrap returns Err.
func (e *StageError) Unwrap() error { return e.Err }

var _ executor.Job = (*Pipeline)(nil)
