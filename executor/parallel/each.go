package parallel

import (
	"context"
	"iter"

	"github.com/magpie-go/magpie/executor"
)

const (
	// eachBatch is how many elements go to one child if no Grain is given. Arbitrary: a child costs as much as 5 to 10
	// short bodies.
	eachBatch = 16
	// eachRound is how many batches for each worker are started before ForEach waits for them. Arbitrary: it bounds the
	// memory that a long sequence takes.
	eachRound = 64
)

// ForEach calls body for every element of seq. One worker iterates over seq, and makes batches of Grain elements or, if
// Grain is 0, of 16. After 64 batches for each worker, ForEach waits until these are done.
func ForEach[T any](ctx context.Context, o Options, seq iter.Seq[T], body func(x T)) error {
	o = o.check(ctx, "ForEach", body == nil)
	return forEach(ctx, o, "ForEach", seq, func(_ context.Context, x T) error {
		body(x)
		return nil
	})
}

// ForEachErr is [ForEach] with a body that may fail. After the first error no more elements are taken.
func ForEachErr[T any](
	ctx context.Context, o Options, seq iter.Seq[T], body func(ctx context.Context, x T) error,
) error {
	o = o.check(ctx, "ForEachErr", body == nil)
	return forEach(ctx, o, "ForEachErr", seq, body)
}

func forEach[T any](
	ctx context.Context, o Options, name string, seq iter.Seq[T], body func(ctx context.Context, x T) error,
) error {
	if seq == nil {
		panic("parallel: " + name + " of a nil sequence")
	}
	size := o.Grain
	if size == 0 {
		size = eachBatch
	}
	_, err := run(ctx, o, name, func(s *executor.Scope) (none nothing) {
		var j job
		var batch []T
		batches := 0
		flush := func() {
			work := batch
			batch = nil
			s.Spawn(func(s *executor.Scope) error {
				ok := false
				defer j.end(&ok)
				for _, x := range work {
					if j.stopped(s) {
						break
					}
					if err := body(s.Context(), x); err != nil {
						j.fail(s, err)
					}
				}
				ok = true
				return nil
			})
		}
		for x := range seq {
			if j.stopped(s) {
				break
			}
			if batch = append(batch, x); len(batch) < size {
				continue
			}
			flush()
			if batches++; batches%(eachRound*o.workers()) == 0 {
				if s.Wait() != nil {
					break
				}
			}
		}
		if len(batch) > 0 && !j.stopped(s) {
			flush()
		}
		_ = s.Wait() // what it returns is part of the run's error
		return
	})
	return err
}
