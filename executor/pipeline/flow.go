package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/pad"
)

// A Flow is a pipeline in the making whose stages pass values on. The last of its stages makes values of type T. The
// compiler checks that each stage takes what the one before makes:
//
//	lines := pipeline.Source("shout", 0, func(t *pipeline.Token) (string, error) { … })
//	loud := pipeline.Map(lines, pipeline.Parallel, func(t *pipeline.Token, text string) (Message, error) { … })
//	p, err := pipeline.Sink(loud, pipeline.Serial, func(t *pipeline.Token, m Message) error { … })
//
// Each run has the values of the tokens in places of its own, one for each line and stage. A value goes from place to
// place without an allocation. The run keeps it until the next stage is called with it.
//
// A Flow is constant. Several Flows may go on from one, and each pipeline made of them has its own tokens.
type Flow[T any] struct {
	name   string
	lines  int
	ahead  int     // see MaxAhead
	isSeq  bool    // the source is a sequence
	stages []Stage // not of another Flow's making; without functions
	wrong  error   // with what the source or MaxAhead was given; nil if nothing is
	bind   func(*binding) []place[T]
}

// A Mode says how many tokens a stage takes at a time.
type Mode uint8

const (
	// Parallel is the mode of a stage that takes any tokens that have reached it, up to its MaxTokens.
	Parallel Mode = iota
	// Serial is the mode of a stage that takes one token at a time, in the order in which they entered the pipeline.
	Serial
)

// A place holds the value of one line between two stages. Different workers write neighbouring places.
type place[T any] struct {
	value T
	_     pad.Line
}

// take returns the value and forgets it.
func (p *place[T]) take() (value T) {
	var none T
	value, p.value = p.value, none
	return value
}

// A binding collects the functions of the stages of a run, in their order.
type binding struct {
	lines  int
	ahead  int // how many values a sequence is asked for in advance
	run    []func(*Token) error
	outlet *outlet // of a loop over Values; nil if there is none
}

// unbound stands for the function of a stage that is made for each run.
func unbound(*Token) error { return nil }

// bind gives the stages of a run functions of its own.
func (s *run) bind(r *executor.JobRun) {
	if s.lines == 0 {
		s.lines = max(2, r.Workers())
	}
	b := &binding{lines: s.lines}
	s.binder(b)
	if b.outlet != nil {
		s.held = true
		b.outlet.run, b.outlet.s = r, s
	}
	s.stages = slices.Clone(s.stages)
	for i, fn := range b.run {
		s.stages[i].Run = fn
	}
}

// Source begins a Flow with a source: a serial stage, whose function is called for one value after the other, and says
// by [Token.Stop] that there are no more. With 0 lines each run has as many as the executor has workers, not counting
// spare ones, and at least two. There are at most 65536 lines, as for [New].
//
// A source that calls [Token.Defer] is called once for each token all the same: the token enters the pipeline, with the
// value that the source has returned, when it need not wait any longer.
func Source[T any](name string, lines int, source func(*Token) (T, error)) Flow[T] {
	f := Flow[T]{name: name, lines: lines, stages: []Stage{stageOf(Serial, source == nil)}}
	f.bind = func(b *binding) []place[T] {
		out := make([]place[T], b.lines)
		var kept map[int]T // the values of tokens that are put aside, by number
		b.run = append(b.run, func(t *Token) error {
			if t.deferrals > 0 {
				out[t.line].value = kept[t.number]
				delete(kept, t.number)
				return nil
			}
			value, err := source(t)
			if t.fate != defers {
				out[t.line].value = value
				return err
			}
			if kept == nil {
				kept = make(map[int]T)
			}
			kept[t.number] = value
			return err
		})
		return out
	}
	return f
}

// Map adds a stage that makes a value from each value of f.
func Map[A, B any](f Flow[A], mode Mode, fn func(*Token, A) (B, error)) Flow[B] {
	f.check("Map")
	g := Flow[B]{name: f.name, lines: f.lines, ahead: f.ahead, isSeq: f.isSeq, wrong: f.wrong}
	g.stages = f.add(stageOf(mode, fn == nil))
	g.bind = func(b *binding) []place[B] {
		in, out := f.bind(b), make([]place[B], b.lines)
		b.run = append(b.run, func(t *Token) (err error) {
			out[t.line].value, err = fn(t, in[t.line].take())
			return err
		})
		return out
	}
	return g
}

// Sink adds the last stage, which makes no values, and returns the pipeline. It reports every mistake in the Flow at
// once, as New does.
func Sink[A any](f Flow[A], mode Mode, sink func(*Token, A) error) (*Pipeline, error) {
	f.check("Sink")
	return f.pipeline(stageOf(mode, sink == nil), func(b *binding) {
		in := f.bind(b)
		b.run = append(b.run, func(t *Token) error { return sink(t, in[t.line].take()) })
	})
}

// pipeline returns the pipeline of f and a last stage. bind binds the stages.
func (f Flow[T]) pipeline(last Stage, bind func(*binding)) (*Pipeline, error) {
	p, err := newPipeline(f.name, f.lines, 0, f.add(last))
	if err := errors.Join(f.wrong, err); err != nil {
		return nil, err
	}
	p.binder = func(b *binding) {
		b.ahead = cmp.Or(f.ahead, 2*b.lines)
		bind(b)
	}
	return p, nil
}

// Collect runs f on ex and returns the values of its last stage, in the order in which their tokens entered the
// pipeline. If the run fails, Collect returns the error and the values of the tokens that had come through in that
// order before.
//
// A function for every element of a sequence, in parallel, with the results in order, is
//
//	urls := pipeline.SourceSeq("fetch", 0, slices.Values(list))
//	pages, err := pipeline.Collect(ctx, ex, pipeline.Map(urls, pipeline.Parallel, fetch))
//
// A nil ex stands for the executor of ctx, see [executor.FromContext]: a task that passes the context that it was given
// need not know its executor. If ctx has none, nil stands for [executor.Default]. Collect panics if ctx is nil.
func Collect[T any](ctx context.Context, ex *executor.Executor, f Flow[T]) ([]T, error) {
	f.check("Collect")
	ex = executorOr(ctx, ex, "Collect")
	var all []T
	err := sinkAndRun(ctx, ex, f, Serial, func(_ *Token, value T) error {
		all = append(all, value)
		return nil
	})
	return all, err
}

// Each runs f on ex, with sink as its last stage, see [Sink]:
//
//	err := pipeline.Each(ctx, ex, lines, pipeline.Serial, func(t *pipeline.Token, line string) error { … })
//
// A mistake in the Flow is an error too, and then nothing runs. A nil ex stands for the executor of ctx, or for
// [executor.Default], as in [Collect]. Each panics if ctx is nil.
func Each[T any](ctx context.Context, ex *executor.Executor, f Flow[T], mode Mode, sink func(*Token, T) error) error {
	f.check("Each")
	return sinkAndRun(ctx, executorOr(ctx, ex, "Each"), f, mode, sink)
}

func sinkAndRun[T any](
	ctx context.Context, ex *executor.Executor, f Flow[T], mode Mode, sink func(*Token, T) error,
) error {
	p, err := Sink(f, mode, sink)
	if err != nil {
		return err
	}
	return ex.Run(ctx, p)
}

// executorOr returns ex or, if it is nil, what stands for it with ctx. It panics if ctx, of a call of the function with
// that name, is nil.
func executorOr(ctx context.Context, ex *executor.Executor, name string) *executor.Executor {
	if ctx == nil {
		panic("pipeline: " + name + " needs a context, got nil")
	}
	return executor.Choose(ctx, ex)
}

// Named gives the last stage of f a name, for errors and observers, and returns the Flow.
func (f Flow[T]) Named(name string) Flow[T] {
	f.check("Named")
	f.stages = slices.Clone(f.stages)
	f.stages[len(f.stages)-1].Name = name
	return f
}

// MaxTokens makes the last stage of f, which is parallel, take at most that many tokens at a time, see [Stage]. It
// returns the Flow.
func (f Flow[T]) MaxTokens(tokens int) Flow[T] {
	f.check("MaxTokens")
	f.stages = slices.Clone(f.stages)
	f.stages[len(f.stages)-1].MaxTokens = tokens
	return f
}

// mostAhead is the largest MaxAhead: a run has room for all from the start.
const mostAhead = 1 << 16

// MaxAhead makes a run ask the sequence that is f's source, by [SourceSeq] or [SourceSeq2], for at most so many values
// in advance: values that the sequence has made and no token has. With 1 the sequence makes a value when the one before
// has entered the pipeline. 0, as without MaxAhead, stands for two for each line. There may be 65536. MaxAhead returns
// the Flow.
//
// A run holds these values, and one in each line. With values of 8 MB and two workers it took 102 to 117 MB of memory
// without MaxAhead, 85 MB with 2 and 62 to 69 MB with 1. Goroutines around a channel without a buffer took 54 MB (AMD
// EPYC, Go 1.26, 2026-11-27). The more values there are in advance, the less often the sequence and the workers wait
// for each other: a larger number is better for small values that take little work.
func (f Flow[T]) MaxAhead(values int) Flow[T] {
	f.check("MaxAhead")
	switch {
	case !f.isSeq:
		f.wrong = errors.Join(f.wrong, fmt.Errorf("pipeline %q: MaxAhead of a source that is no sequence", f.name))
	case values < 0:
		f.wrong = errors.Join(f.wrong, fmt.Errorf("pipeline %q: MaxAhead of %d: use 0 for the default", f.name, values))
	case values > mostAhead:
		f.wrong = errors.Join(f.wrong, fmt.Errorf("pipeline %q: MaxAhead of %d: at most %d are possible",
			f.name, values, mostAhead))
	}
	f.ahead = values
	return f
}

func (f Flow[T]) check(method string) {
	if f.bind == nil {
		panic(fmt.Sprintf("pipeline: %s of a Flow that was not made by Source", method))
	}
}

// add returns the stages of f and one more.
func (f Flow[T]) add(s Stage) []Stage { return append(slices.Clip(f.stages), s) }

func stageOf(mode Mode, isNil bool) Stage {
	s := Stage{Mode: mode, Run: unbound}
	if isNil {
		s.Run = nil
	}
	return s
}
