package executor

import (
	"context"
	"runtime/debug"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// First begins the functions fns on the executor, in their order, and returns the result of the first that returns
// without an error. It then cancels the others: functions that have not begun are not called, and First waits for those
// that run, which see their context end. If every function fails, the error joins all their errors, in the order of
// fns. A panic counts as a [*PanicError], and Goexit as [ErrGoexit].
//
// If the caller itself runs a function that calls Goexit, see [Executor.Run], it ends too. First panics if there is no
// function. ex may be nil, see [Default].
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
