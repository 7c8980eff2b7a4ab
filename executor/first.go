package executor

import (
	"context"
	"runtime/debug"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// First calls the functions fns on the executor, beginning them in their order, and returns the result of the first
// that returns without an error. It then cancels the others: functions that have not begun are not called, and
// functions that run see their context end. First waits for the latter. If every function fails, the error joins all
// their errors, in the order of fns. A function that panics fails with a [*PanicError], and one that calls
// [runtime.Goexit] with [ErrGoexit].
//
// First may be called from anywhere, as [Executor.Run] may. If it is called from a task, and the task's own worker runs
// a function that calls Goexit, the task ends by that too, and so does a caller that takes part, see [Executor.Run].
// First panics if there is no function, or if one is nil.
//
// A nil ex stands for the executor of ctx, see [FromContext], and otherwise for [Default].
func First[T any](ctx context.Context, ex *Executor, fns ...func(context.Context) (T, error)) (T, error) {
	if len(fns) == 0 {
		panic("executor: First of no functions")
	}
	for _, fn := range fns {
		if fn == nil {
			panic("executor: First of a nil function")
		}
	}
	ex = chooseFor(ctx, ex, "First")
	var (
		first xatomic.Pointer[T]
		begun xatomic.Int32
		errs  = make([]error, len(fns))
	)
	err := ex.Run(ctx, NewJob("first", func(s *Scope) error {
		s.run.sparing = true
		run := s.body.Run()
		for range fns {
			s.Go(func(ctx context.Context) error {
				if first.Load() != nil {
					return nil // the worker with the result may be descheduled before its Abort
				}
				i := begun.Add(1) - 1
				errs[i] = ErrGoexit // unless the function returns, or panics with a value
				defer func() {
					if v := recover(); v != nil {
						errs[i] = &PanicError{Value: v, Stack: debug.Stack(), job: "first"}
					}
				}()
				var result T
				if result, errs[i] = fns[i](ctx); errs[i] == nil && first.CompareAndSwap(nil, &result) {
					run.Abort(nil)
				}
				return nil
			})
		}
		return nil
	}))
	if result := first.Load(); result != nil {
		return *result, nil
	}
	var none T
	return none, join(append([]error{err}, errs...)...)
}
