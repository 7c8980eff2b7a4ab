package executor

import "context"

// RunN runs a job n times, each time after the one before, and returns the error of the first run that fails, after which
// there is no other.
func (ex *Executor) RunN(ctx context.Context, j Job, n int) error {
	return ex.RunUntil(ctx, j, func() bool { n--; return n < 0 })
}

// RunUntil runs a job until done says so: it is asked before each run, also before the first, on the calling goroutine. It
// returns the error of the first run that fails, after which there is no other.
func (ex *Executor) RunUntil(ctx context.Context, j Job, done func() bool) error {
	for !done() {
		if err := ex.Run(ctx, j); err != nil {
			return err
		}
	}
	return nil
}
