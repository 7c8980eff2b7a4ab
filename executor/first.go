package executor

import (
	"context"
	"runtime/debug"
	"sync/atomic"
)

// First calls fns, beginning them in their order, until one of them returns without an error, and returns what that one
// did. The others are then cancelled: those that have not begun are left out, those that run see their context end.
// First waits for those. If none ends well, the error is those of all, joined in the order of fns; a panic is the
// failure of the function, a [*PanicError], and so is runtime.Goexit, [ErrGoexit]. It may be called from anywhere, as
// [Executor.Run] may; if it is called from a task, and the task's own worker runs a function that calls Goexit, the
// task ends by that too.
//
// It panics if a function is nil, and if there is none.
func First[T any](ctx context.Context, ex *Executor, fns ...func(context.Context) (T, error)) (T, error) {
	if len(fns) == 0 {
		panic("executor: First of no functions")
	}
	for _, fn := range fns {
		if fn == nil {
			panic("executor: First of a nil function")
		}
	}
	var (
		first atomic.Pointer[T]
		begun atomic.Int32
		errs  = make([]error, len(fns))
	)
	err := ex.Run(ctx, Func("first", func(s *Scope) error {
		s.run.sparing = true
		run := s.body.Run()
		for range fns {
			s.Go(func(ctx context.Context) error {
				i := begun.Add(1) - 1
				errs[i] = ErrGoexit // unless the function returns, or panics with a value
				defer func() {
					if v := recover(); v != nil {
						errs[i] = &PanicError{v, debug.Stack()}
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
