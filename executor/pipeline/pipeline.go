package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/errfmt"
)

// A Stage is one step of a pipeline.
type Stage struct {
	// Name is told in errors and to observers. "" means that the stage has a number only.
	Name string
	// Mode says whether the stage takes any tokens that have reached it, or one at a time. The first stage must be
	// [Serial].
	Mode Mode
	// MaxTokens is the largest number of tokens that a parallel stage takes at a time, 0 for no limit. A token that comes
	// when the stage is full is put aside and enters in its turn. No worker waits for that. A serial stage has no
	// MaxTokens.
	MaxTokens int
	// Run is called for every token. If it returns an error, panics, or calls [runtime.Goexit], the run fails.
	Run func(*Token) error
}

// A Token is one pass through the pipeline. Only the function Stage.Run that gets the token may use it, and only until
// it returns.
type Token struct {
	run          *run
	line, number int
	fate         int              // after a call of the first stage; enters in others
	deferrals    int              // see Deferrals
	worker       *executor.Worker // that runs the token's stage, with observers
	ctx          context.Context  // with observers: for the stage that runs
}

// Line returns the token's line, from 0. No other token in the pipeline has the same line.
func (t *Token) Line() int { return t.line }

// Number returns the token's number: tokens are numbered from 0, in the order of their first calls of the first stage.
// Without [Token.Defer] that is the order in which they enter the pipeline.
func (t *Token) Number() int { return t.number }

// Context returns the run's context: it is cancelled when the caller's is, when a stage fails, and when the run ends.
func (t *Token) Context() context.Context {
	if t.ctx != nil {
		return t.ctx
	}
	return t.run.ctx
}

// Stop says that there are no more tokens: this one does not enter the pipeline, and tokens in the pipeline go on to
// the end. It is for the first stage, and panics in any other.
func (t *Token) Stop() {
	t.mustBeFirst("Stop", "only the first stage says when there are no more tokens")
	if t.fate == defers {
		panic(fmt.Sprintf("pipeline %q: Stop of token %d, which is deferred: it is to come again", t.run.name, t.number))
	}
	t.fate = stops
}

// A Pipeline is a job for [executor.Executor.Run]. It may be run any number of times, also at the same time if its
// stages allow it.
type Pipeline struct {
	name   string
	lines  int
	stages []Stage
	tasks  *executor.TaskSet // the stages, for observers
	binder func(*binding)    // makes the functions of the stages for a run; nil if they are the same for all
}

var errNotMade = errors.New("pipeline: a Pipeline that was not made by New or Sink")

// maxLines is the largest number of lines. Arbitrary: every run has a cell for each line and stage, and more than a few
// lines for each worker only take memory.
const maxLines = 1 << 16

// New returns a pipeline with a number of lines, from 1 to 65536. It reports every error in lines and stages at once.
func New(name string, lines int, stages ...Stage) (*Pipeline, error) {
	return newPipeline(name, lines, 1, stages)
}

// newPipeline is New for at least fewest lines.
func newPipeline(name string, lines, fewest int, stages []Stage) (*Pipeline, error) {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("pipeline %q: "+format, append([]any{name}, args...)...))
	}
	if lines < fewest {
		bad("%d lines: give at least one, better one or two for each worker", lines)
	} else if lines > maxLines {
		bad("%d lines: give at most %d, better one or two for each worker", lines, maxLines)
	}
	if len(stages) == 0 {
		bad("no stages")
	} else if stages[0].Mode == Parallel {
		bad("the first stage is parallel: tokens enter one after the other, make it serial")
	}
	for i, s := range stages {
		if s.Run == nil {
			bad("stage %s has no function", stageName(i, s.Name))
		}
		if s.Mode > Serial {
			bad("stage %s has a Mode of %d: use Parallel or Serial", stageName(i, s.Name), s.Mode)
		}
		if s.MaxTokens < 0 {
			bad("stage %s has MaxTokens of %d: use 0 for no limit", stageName(i, s.Name), s.MaxTokens)
		} else if s.MaxTokens > 0 && s.Mode == Serial {
			bad("stage %s is serial and has MaxTokens: a serial stage takes one token at a time", stageName(i, s.Name))
		}
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	return &Pipeline{
		name: name, lines: lines, stages: append([]Stage(nil), stages...), tasks: taskSet(name, stages),
	}, nil
}

// Name returns the name given to New, or to the source of the Flow.
func (p *Pipeline) Name() string {
	p.mustBe()
	return p.name
}

// mustBe panics if p is nil.
func (p *Pipeline) mustBe() {
	if p == nil {
		panic("pipeline: a nil Pipeline is used: make one with New or Sink")
	}
}

// stageName returns a stage's number, with the name behind it if it has one.
func (p *Pipeline) stageName(i int) string { return stageName(i, p.stages[i].Name) }

func stageName(i int, name string) string {
	if name == "" {
		return strconv.Itoa(i)
	}
	return fmt.Sprintf("%d (%s)", i, name)
}

// A StageError is the failure of a stage.
type StageError struct {
	Run          string // the name of the run: Pipeline, or another by [executor.With]
	Pipeline     string
	Stage, Token int    // numbers, from 0
	Name         string // of the stage, "" if it has none
	Err          error  // what the stage returned, a *executor.PanicError, or executor.ErrGoexit
}

func (e *StageError) Error() string { return e.say("%v") }

// Format implements [fmt.Formatter]. The verb %+v formats Err by %+v, and so adds the stack of a panic.
func (e *StageError) Format(s fmt.State, verb rune) { errfmt.Format(s, verb, e.say) }

func (e *StageError) say(verb string) string {
	of := ""
	if e.Run != e.Pipeline && e.Run != "" {
		of = fmt.Sprintf("run of %q: ", e.Run)
	}
	return of + fmt.Sprintf("pipeline %q: stage %s, token %d: "+verb,
		e.Pipeline, stageName(e.Stage, e.Name), e.Token, e.Err)
}

// Unwrap returns Err.
func (e *StageError) Unwrap() error { return e.Err }

var _ executor.Job = (*Pipeline)(nil)
