package pipeline

import (
	"context"
	"errors"
	"iter"

	"github.com/magpie-go/magpie/executor"
)

// Values returns a sequence of the values of f's last stage, in the order in which their tokens entered the pipeline.
// Each range over it is a run of f on ex, and may be left at any time:
//
//	for page, err := range pipeline.Values(ctx, ex, pages) {
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// The run begins with the loop. A value keeps the line of its token until the loop takes it, so while the loop's body
// is busy no more values are made than there are lines. If the run fails, the values that have come through in order
// come first, and a last pair has the error, that of [executor.Run.Wait]. Otherwise each error is nil.
//
// A loop that is left early, by a panic or [runtime.Goexit] too, cancels the run. The range statement returns when the
// run has ended: no stage runs any more, and a sequence that is the source has returned.
//
// The body runs on the goroutine of the loop. If that is a task of ex, its worker runs stages while there is no value.
// It may then wait for the source while values are there: in a task the source must not wait for the body.
//
// Outside tasks the run counts against [executor.Config.MaxRuns] until the loop ends. A run that the body starts needs
// room beside it, and waits for ever where there is none.
//
// A nil ex stands for the executor of ctx, or for [executor.Default], as in [Collect]. Values panics if ctx is nil. A
// mistake in the Flow is the error of the only pair.
func Values[T any](ctx context.Context, ex *executor.Executor, f Flow[T]) iter.Seq2[T, error] {
	f.check("Values")
	ex = executorOr(ctx, ex, "Values")
	return func(yield func(T, error) bool) {
		var none T
		var values []place[T]
		o := &outlet{}
		p, err := f.pipeline(stageOf(Serial, false), func(b *binding) {
			values = f.bind(b)
			b.run = append(b.run, unbound)
			b.outlet = o
		})
		if err != nil {
			yield(none, err)
			return
		}
		run := ex.Start(ctx, p)
		defer o.close(run)
		for o.next() {
			value := values[o.line()].take()
			o.free()
			if !yield(value, nil) {
				return
			}
		}
		if err := run.Wait(); err != nil {
			yield(none, err)
		}
	}
}

// errLeft is why the run of a loop that was left is cancelled. Nobody waits for the run's error.
var errLeft = errors.New("pipeline: the loop over Values was left")

// An outlet is where a loop takes the values of a run. Serial stages take the lines in turn, so value i is in line i
// modulo their number. The loop's goroutine only, but for run and s, which Begin sets.
type outlet struct {
	run   *executor.JobRun // nil if the run has not begun
	s     *run
	taken int64 // so many values
}

// next waits for a value, or the end of the run. It reports whether there is a value.
func (o *outlet) next() bool {
	if o.run == nil {
		return false
	}
	o.run.Await(o.isThere)
	return o.isThere()
}

func (o *outlet) isThere() bool { return o.s.through.Load() > o.taken }

// line returns the line of the next value.
func (o *outlet) line() int { return int(o.taken % int64(o.s.lines)) }

// free gives the line of the next value, which the caller has taken, to another token.
func (o *outlet) free() {
	last := o.s.cell(o.line(), len(o.s.stages)-1)
	o.taken++
	if n := last.on; n.join.Done(1) {
		o.run.Inject(&n.Item)
	} else {
		o.s.out(1)
	}
}

// close ends the run, whose values nobody takes any more.
func (o *outlet) close(run *executor.Run) {
	run.Cancel(errLeft)
	for o.next() {
		o.free()
	}
	_ = run.Wait()
}

// hold is called for a token that has come through. It keeps its line, and its cell's unit, until the loop takes its
// value, which may be at once. aside is the last stage's cell of the next line if that is ready.
func (s *run) hold(aside *cell) *executor.Item {
	s.Run().Alert()
	if aside == nil {
		return nil
	}
	s.left.In(1)
	return &aside.Item
}
