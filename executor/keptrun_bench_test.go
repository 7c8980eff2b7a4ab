package executor_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor"
)

// BenchmarkRequest: one small function from outside, with the context of a process, and with one that can end, as that
// of a request can.
func BenchmarkRequest(b *testing.B) {
	live, cancel := context.WithCancel(context.Background())
	defer cancel()
	count := 0
	task := one(func(context.Context) error { count++; return nil })
	job := executor.NewJob("job", func(*executor.Scope) error { count++; return nil })
	for name, run := range map[string]func(ctx context.Context, ex *executor.Executor) error{
		"call": func(ctx context.Context, ex *executor.Executor) error {
			_, err := executor.Call(ctx, ex, func(*executor.Scope, int) int { count++; return count }, 0)
			return err
		},
		"job":   func(ctx context.Context, ex *executor.Executor) error { return ex.Run(ctx, job) },
		"graph": func(ctx context.Context, ex *executor.Executor) error { return ex.Run(ctx, task) },
	} {
		for ends, ctx := range map[string]context.Context{"background": context.Background(), "request": live} {
			for _, w := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%s/W=%d", name, ends, w), func(b *testing.B) {
					ex, err := executor.New(executor.Config{Workers: w})
					if err != nil {
						b.Fatal(err)
					}
					defer func() { _ = ex.Close() }()
					b.ReportAllocs()
					count = 0
					for b.Loop() {
						if err := run(ctx, ex); err != nil {
							b.Fatal(err)
						}
					}
					if count != b.N {
						b.Fatal("a function was not called")
					}
				})
			}
		}
	}
}
