package executor

import (
	"context"

	"github.com/magpie-go/magpie/executor/internal/fail"
)

func init() {
	fail.First = func(scope any, err error) { scope.(*Scope).run.failFirst(err) }
}

// failFirst is fail for a function that does not return its error, unless the run has a failure already.
func (r *scopeRun) failFirst(err error) {
	r.tellAbort(r.recordFirst(err))
}

// recordFirst is the part of failFirst that needs the lock. The results are those of record.
func (r *scopeRun) recordFirst(err error) (body *Body, aborts bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopper != nil || r.repeats(err, false) {
		return nil, false
	}
	r.failures = append(r.failures, failure{err: err})
	r.stopper = err
	return r.Run().stopped(context.Canceled, err, nil), true
}
