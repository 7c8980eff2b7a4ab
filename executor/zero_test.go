package executor_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// A zero Promise, Future, PerWorker or Executor says how it is made, whatever is called first, and a nil Group that it
// is nil. A zero Group is one of the default executor.
func TestZeroValues(t *testing.T) {
	const (
		group     = "executor: a method of a nil Group"
		promise   = "executor: a Promise is made by NewPromise"
		future    = "executor: a Future is made by Async, Timer or a Promise"
		perWorker = "executor: a PerWorker is made by NewPerWorker"
		one       = "executor: an Executor is made by New or NewInline"
	)
	fn := func() error { t.Error("called"); return nil }
	live := newExecutor(t, executor.Config{Workers: 1})
	ctx := t.Context()
	job := executor.NewJob("f", func(*executor.Scope) error { return fn() })
	cfn := func(context.Context) error { return fn() }
	var (
		g *executor.Group
		p executor.Promise[int]
		f executor.Future[int]
		v executor.PerWorker[int]

		ex   executor.Executor
		none *executor.Executor
	)
	for want, uses := range map[string]map[string]func(){
		group: {
			"Go":        func() { g.Go(fn) },
			"GoContext": func() { g.GoContext(cfn) },
			"GoAfter":   func() { g.GoAfter(cfn) },
			"TryGo":     func() { g.TryGo(fn) },
			"SetLimit":  func() { g.SetLimit(2) },
			"Cancel":    func() { g.Cancel(nil) },
			"Wait":      func() { _ = g.Wait() },
		},
		promise: {
			"Future":   func() { p.Future() },
			"Context":  func() { p.Context() },
			"Resolve":  func() { p.Resolve(1) },
			"Reject":   func() { p.Reject(errTest) },
			"Complete": func() { p.Complete(1, nil) },
		},
		future: {
			"Wait":   func() { _, _ = f.Wait() },
			"Done":   func() { f.Done() },
			"Cancel": func() { f.Cancel(nil) },
			"OnEnd":  func() { f.OnEnd(func(int, error) { t.Error("called") }) },
		},
		perWorker: {
			"Local": func() { v.Local() },
			"Do":    func() { v.Do(func(*int) { t.Error("called") }) },
			"In": func() {
				_, err := executor.Call(ctx, live, func(s *executor.Scope, _ int) int { return *v.In(s) }, 0)
				repanic(err)
			},
		},
		one: {
			"Run":              func() { _ = ex.Run(ctx, job) },
			"Run of nil":       func() { _ = none.Run(ctx, job) },
			"Start":            func() { ex.Start(ctx, job) },
			"Start of nil":     func() { none.Start(ctx, job) },
			"TryStart":         func() { _, _ = ex.TryStart(ctx, job) },
			"Close":            func() { _ = ex.Close() },
			"Shutdown":         func() { _ = ex.Shutdown(ctx) },
			"Stats":            func() { ex.Stats() },
			"Dump":             func() { _ = ex.Dump(io.Discard) },
			"Stacks":           func() { ex.Stacks() },
			"Name":             func() { ex.Name() },
			"Workers":          func() { ex.Workers() },
			"WorkersAndSpares": func() { none.WorkersAndSpares() },
			"Async":            func() { executor.Async(ctx, &ex, func(context.Context) (int, error) { return 0, fn() }) },
			"Call":             func() { _, _ = executor.Call(ctx, &ex, fib, 3) },
			"NewPromise":       func() { executor.NewPromise[int](ctx, &ex) },
			"NewGroup":         func() { executor.NewGroup(&ex) },
			"GroupWithContext": func() { executor.GroupWithContext(ctx, &ex) },
			"NewPerWorker":     func() { executor.NewPerWorker[int](&ex, nil) },
		},
	} {
		for method, use := range uses {
			require.PanicsWithValue(t, want, use, method)
			require.PanicsWithValue(t, want, use, method) // also the second time
		}
	}
}

// repanic panics with the value with which a task has panicked, if err says so.
func repanic(err error) {
	var p *executor.PanicError
	if errors.As(err, &p) {
		panic(p.Value)
	}
}

// The zero PerWorker has no values.
func TestZeroPerWorker(t *testing.T) {
	var v executor.PerWorker[int]
	for range v.All() {
		t.Error("a value")
	}
	require.Zero(t, v.Combine(func(a, b int) int { return a + b }))
	v.Reset()
}
