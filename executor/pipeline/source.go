package pipeline

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xsync"
)

// SourceChan begins a Flow whose values are received from a channel, until it is closed. The worker that receives waits
// as in [executor.Blocking], also for the end of the run's context. A run that ends early leaves values in the channel.
func SourceChan[T any](name string, lines int, c <-chan T) Flow[T] {
	f := Source(name, lines, func(t *Token) (T, error) { return receive(t, c) })
	if c == nil {
		f.wrong = fmt.Errorf("pipeline %q: SourceChan of a nil channel", name)
	}
	return f
}

// receive returns a value of c, or stops the input if c is closed.
func receive[T any](t *Token, c <-chan T) (value T, err error) {
	ok := true
	select {
	case value, ok = <-c:
	default:
		value, ok, err = await(t.Context(), c)
	}
	if !ok {
		t.Stop()
	}
	return value, err
}

// await is receive for a channel that was empty. It fails when the context ends.
func await[T any](ctx context.Context, c <-chan T) (value T, ok bool, err error) {
	executor.Blocking(func() {
		select {
		case value, ok = <-c:
		case <-ctx.Done():
			ok, err = true, context.Cause(ctx)
		}
	})
	return value, ok, err
}

// SourceSeq begins a Flow whose values are those of a sequence. Each run iterates over seq on a goroutine of its own,
// and asks it for values in advance, see [Flow.MaxAhead]. The worker that needs a value which is not there yet waits as
// in [executor.Blocking]. If the run ends early, seq is told so as by a break in a range loop. The run waits until seq
// has returned. A panic in seq fails the run. A run that seq starts is started from outside, also where this one is in
// a task: with a [executor.Config.MaxRuns] it needs room beside this one, and waits for ever where there is none.
//
// The function next of [iter.Pull] is no source for [Source]: workers are locked to OS threads, and there the runtime
// ends the process, because OS thread locking must match locking at coroutine creation.
func SourceSeq[T any](name string, lines int, seq iter.Seq[T]) Flow[T] {
	var pairs iter.Seq2[T, error]
	if seq != nil {
		pairs = func(yield func(T, error) bool) {
			seq(func(value T) bool { return yield(value, nil) })
		}
	}
	return sourceSeq(name, lines, "SourceSeq", pairs)
}

// SourceSeq2 is [SourceSeq] for a sequence of values and errors, such as [Values] returns. The first error that is not
// nil is the last pair that it is asked for, and fails the run. The value beside the error is not used.
//
// The worker that waits for Values of the same executor needs another, or a spare, to make them: an executor with one
// worker and no spares would wait for ever, and so does one of [executor.NewInline], and one with a MaxRuns of 1, see
// [SourceSeq]. There the two need executors of their own.
func SourceSeq2[T any](name string, lines int, seq iter.Seq2[T, error]) Flow[T] {
	return sourceSeq(name, lines, "SourceSeq2", seq)
}

func sourceSeq[T any](name string, lines int, function string, seq iter.Seq2[T, error]) Flow[T] {
	f := Flow[T]{name: name, lines: lines, isSeq: true, stages: []Stage{stageOf(Serial, false)}}
	if seq == nil {
		f.wrong = fmt.Errorf("pipeline %q: %s of a nil sequence", name, function)
	}
	f.bind = func(b *binding) []place[T] {
		out := make([]place[T], b.lines)
		var r *reader[T]
		b.run = append(b.run, func(t *Token) (err error) {
			if r == nil {
				// The sequence has made one more value than the channel holds when it waits.
				r = &reader[T]{run: t.run, seq: seq, values: make(chan T, b.ahead-1)}
				t.run.left.In(1)
				xsync.Go(r.read)
			}
			out[t.line].value, err = receive(t, r.values)
			return err
		})
		return out
	}
	return f
}

// A reader iterates over a sequence for a run. It has a unit in run.left, so the run does not end before it.
type reader[T any] struct {
	run    *run
	seq    iter.Seq2[T, error]
	values chan T // closed when seq has returned
}

// read runs on a goroutine of its own.
func (r *reader[T]) read() {
	taken := 0 // so many tokens have a value
	err := executor.ErrGoexit
	defer r.run.out(1)
	defer close(r.values)
	defer func() {
		if v := recover(); v != nil {
			err = &executor.PanicError{Value: v, Stack: debug.Stack()}
		}
		if err != nil {
			r.run.fail(0, taken, err)
		}
	}()
	err = r.pass(&taken)
}

// pass passes the values on, and counts them in taken. It returns the error of the sequence.
func (r *reader[T]) pass(taken *int) error {
	ended := r.run.ctx.Done()
	for value, err := range r.seq {
		if err != nil {
			return err
		}
		select {
		case r.values <- value:
			*taken++
		case <-ended:
			return nil
		}
	}
	return nil
}
