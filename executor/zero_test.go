package executor_test

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// A zero Group, Promise or Future says how it is made, whatever is called first.
func TestZeroValues(t *testing.T) {
	const (
		group   = "executor: a Group is made by NewGroup or GroupWithContext"
		promise = "executor: a Promise is made by NewPromise"
		future  = "executor: a Future is made by Async, After or a Promise"
	)
	fn := func() error { t.Error("called"); return nil }
	cfn := func(context.Context) error { return fn() }
	var (
		g executor.Group
		p executor.Promise[int]
		f executor.Future[int]
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
			"Wait":     func() { _, _ = f.Wait() },
			"Done":     func() { f.Done() },
			"Cancel":   func() { f.Cancel(nil) },
			"AfterEnd": func() { f.AfterEnd(func(int, error) { t.Error("called") }) },
		},
	} {
		for method, use := range uses {
			require.PanicsWithValue(t, want, use, method)
			require.PanicsWithValue(t, want, use, method) // also the second time
		}
	}
}
