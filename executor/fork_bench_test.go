package executor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor"
)

const (
	benchFib    = 30
	benchForks  = 1346268 // that fib(30) makes
	benchResult = 832040
)

// BenchmarkFork is fib, of which every call forks one half: what a fork costs.
func BenchmarkFork(b *testing.B) {
	for _, s := range forkStores {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%v/W=%d", s, workers), func(b *testing.B) {
				ex := newExecutor(b, s.in(executor.Config{Workers: workers}))
				for b.Loop() {
					if r, err := executor.Call(context.Background(), ex, fib, benchFib); r != benchResult ||
						err != nil {
						b.Fatal(r, err)
					}
				}
				perOp(b, "fork", benchForks)
				steals := ex.Stats().Total.StealsWon
				b.ReportMetric(float64(steals)/float64(b.N), "steals/op")
			})
		}
	}
	b.Run("serial", func(b *testing.B) {
		for b.Loop() {
			if r := serialFib(benchFib); r != benchResult {
				b.Fatal(r)
			}
		}
		perOp(b, "fork", benchForks)
	})
}

// BenchmarkGo is one scope that starts children that do nothing and waits for them, a thousand at a time.
func BenchmarkGo(b *testing.B) {
	const children = 1000
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("W=%d", workers), func(b *testing.B) {
			ex := newExecutor(b, executor.Config{Workers: workers})
			b.ReportAllocs()
			err := ex.Run(context.Background(), executor.NewJob("go", func(s *executor.Scope) (err error) {
				for b.Loop() {
					for range children {
						s.Go(nothing)
					}
					err = errors.Join(err, s.Wait())
				}
				return err
			}))
			if err != nil {
				b.Fatal(err)
			}
			perOp(b, "child", children)
		})
	}
}

// perOp reports the time for each of n parts of an operation.
func perOp(b *testing.B, what string, n float64) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/"+what)
}
