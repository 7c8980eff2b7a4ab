package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/errfmt"
)

// A Stage is one step of a pipeline.
type Stage struct {
	// Serial says that the stage takes one token at a time, in the order in which they entered the pipeline. The first
	// stage must be serial.
	Serial bool
	// Run is called for every token. If it returns an error, panics, or calls [runtime.Goexit], the run fails.
	Run func(*Token) error
}

// A Token is one pass through the pipeline. Only the function Stage.Run that gets the token may use it, and only until
// it returns.
type Token struct {
	run          *run
	line, number int
	last         bool
}

// Line returns the token's line, from 0. No other token in the pipeline has the same line.
func (t *Token) Line() int { return t.line }

// Number returns how many tokens have entered the pipeline before this one.
func (t *Token) Number() int { return t.number }

// Context returns the run's context: it is cancelled when the caller's is, when a stage fails, and when the run ends.
func (t *Token) Context() context.Context { return t.run.ctx }

// Stop says that there are no more tokens: this one does not enter the pipeline, and tokens in the pipeline go on to
// the end. It is for the first stage, and panics in any other.
func (t *Token) Stop() {
	if t.run.at[t.line] != 0 {
		panic(fmt.Sprintf("pipeline %q: Stop in stage %d: only the first stage says when there are no more tokens",
			t.run.name, t.run.at[t.line]))
	}
	t.last = true
}

// A Pipeline is a job for [executor.Executor.Run]. It may be run any number of times, also at the same time if its
// stages allow it.
type Pipeline struct {
	name   string
	lines  int
	stages []Stage
}

// New returns a pipeline with a number of lines. It reports every error in lines and stages at once.
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

// Name returns the name given to New.
func (p *Pipeline) Name() string { return p.name }

// A StageError is the failure of a stage.
type StageError struct {
	Pipeline     string
	Stage, Token int   // numbers, from 0
	Err          error // what the stage returned, a *executor.PanicError, or executor.ErrGoexit
}

func (e *StageError) Error() string { return e.say("%v") }

// Format implements [fmt.Formatter]. The verb %+v formats Err by %+v, and so adds the stack of a panic.
func (e *StageError) Format(s fmt.State, verb rune) { errfmt.Format(s, verb, e.say) }

func (e *StageError) say(verb string) string {
	return fmt.Sprintf("pipeline %q: stage %d, token %d: "+verb, e.Pipeline, e.Stage, e.Token, e.Err)
}

// Unwrap returns Err.
func (e *StageError) Unwrap() error { return e.Err }

var _ executor.Job = (*Pipeline)(nil)
