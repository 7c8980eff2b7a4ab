package executor_test

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// nestedFutures calls leaf in a future in a future and so on.
func nestedFutures(ctx context.Context, ex *executor.Executor, levels int, leaf func(ctx context.Context)) {
	if levels == 0 {
		leaf(ctx)
		return
	}
	_, _ = executor.Async(ctx, ex, func(ctx context.Context) (int, error) {
		nestedFutures(ctx, ex, levels-1, leaf)
		return 0, nil
	}).Wait()
}

// TestContextsInContexts: a method of a task's context takes linear time in the number of contexts around it, the first
// time and later. Quadratic time would take minutes here.
func TestContextsInContexts(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	levels := max(4000, testkit.Scale(30000))
	for name, ask := range map[string]func(ctx context.Context, cancel func()){
		"Done": func(ctx context.Context, _ func()) {
			done := ctx.Done()
			for range 1000 {
				if ctx.Done() != done {
					t.Error("another channel")
				}
			}
		},
		"Value": func(ctx context.Context, _ func()) {
			if ctx.Value("no such key") != nil {
				t.Error("a value from nowhere")
			}
		},
		"Err": func(ctx context.Context, cancel func()) {
			for range 1000 {
				if ctx.Err() != nil {
					t.Error("cancelled before")
				}
			}
			cancel()
			if ctx.Err() != context.Canceled {
				t.Error("not cancelled")
			}
		},
		"Cause": func(ctx context.Context, cancel func()) {
			cancel()
			if context.Cause(ctx) != errTest {
				t.Error("another cause", context.Cause(ctx))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			within(t, ex, func() {
				ctx, cancel := context.WithCancelCause(t.Context())
				reached := false
				nestedFutures(ctx, ex, levels, func(ctx context.Context) {
					reached = true
					ask(ctx, func() { cancel(errTest) })
				})
				require.True(t, reached)
			})
		})
	}
}
