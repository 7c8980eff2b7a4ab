package executor

import (
	"context"
	"reflect"
	"slices"
)

// Fail makes err the failure of the run and stops the run, as if a child had returned err. It does nothing if the run
// has a failure already, or if err only says why the run was stopped. It is for functions that return no error, such as
// forked calls. It panics if err is nil.
func (s *Scope) Fail(err error) {
	s.mustBeGiven()
	if err == nil {
		panic("executor: Scope.Fail of a nil error")
	}
	s.run.tellAbort(s.run.recordFirst(err))
}

// pass moves the failures of call from, which has ended, to the call that has joined it; to is nil if none will.
func (r *scopeRun) pass(from, to *fork) {
	if r.Stopped() { // else there is no failure
		r.passFailures(from, to)
	}
}

func (r *scopeRun) passFailures(from, to *fork) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.failures {
		if r.failures[i].in == from {
			r.failures[i].in = to
		}
	}
}

// fail records err, the failure of call f, and stops the run. f is nil if it will not be joined. skipped says that f
// may have failed because children of it were not begun.
//
// If err is or wraps recorded failures of calls that f has joined, because f returns what Wait returned to it, err
// replaces these. A panic replaces only a failure that is the same error.
func (r *scopeRun) fail(f *fork, err error, skipped bool) {
	if r.sparing && err == ErrGoexit {
		return
	}
	r.tellAbort(r.record(f, err, skipped))
}

// tellAbort is the part of an abort of the run for which the caller holds no lock.
//
//go:noinline
func (r *scopeRun) tellAbort(body *Body, aborts bool) {
	if aborts {
		r.Run().tellAllStopped(body)
	}
}

// record is the part of fail that needs the lock. It reports whether the run was aborted, and returns its body if it
// was not stopped before.
func (r *scopeRun) record(f *fork, err error, skipped bool) (body *Body, aborts bool) {
	_, panicked := err.(*PanicError)
	r.mu.Lock()
	defer r.mu.Unlock()
	told := false
	kept := r.failures[:0]
	for _, old := range r.failures {
		if f != nil && old.in == f && (isSame(err, old.err) || !panicked && wraps(err, old.err)) {
			if told {
				continue
			}
			old.err, told = err, true
		}
		kept = append(kept, old)
	}
	clear(r.failures[len(kept):])
	r.failures = kept
	// One Goexit ends all functions on one stack.
	ends := err == ErrGoexit && slices.ContainsFunc(kept, func(old failure) bool { return old.err == err })
	if told || ends || r.repeats(err, skipped) {
		return nil, false
	}
	r.failures = append(r.failures, failure{err, f})
	if r.stopper == nil {
		r.stopper = err
	}
	return r.Run().stopped(context.Canceled, err, nil), true
}

// recordFirst is record for an error that counts only if it is the run's first.
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

// repeats reports whether err only says again why the run was stopped. The caller holds mu.
//
// If a failure has stopped the run, an error that wraps it may be a failure of its own, and is recorded too, unless the
// error says that the context has ended, or skipped is set.
func (r *scopeRun) repeats(err error, skipped bool) bool {
	run := r.Run()
	run.noticeContext()
	ended, cause := run.ctx.ending()
	return saysAgain(err, ended, cause) &&
		(skipped || !isSame(r.stopper, cause) || isSame(err, cause) || wraps(err, ended))
}

// tellFailure makes the failure of f, which will not be joined, the run's.
func (f *fork) tellFailure() {
	r := scopeRunOf(f.Body)
	r.pass(f, nil)
	if f.err != nil {
		r.fail(nil, f.err, false)
	}
}

// wraps reports whether part is in the tree of err.
func wraps(err, part error) bool {
	looks := maxLooks
	var in func(error) bool
	in = func(err error) bool {
		if looks--; looks < 0 || err == nil {
			return false
		}
		if isSame(err, part) || reflect.ValueOf(err).Comparable() && err == part {
			return true
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			return in(e.Unwrap())
		case interface{ Unwrap() []error }:
			return slices.ContainsFunc(e.Unwrap(), in)
		}
		return false
	}
	return askError(func() bool { return in(err) })
}
