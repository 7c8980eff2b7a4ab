package executor_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
)

// goroutines is an errgroup with a limit, as golang.org/x/sync has it: a goroutine for each function, and a channel for
// the limit.
type goroutines struct {
	all   sync.WaitGroup
	turns chan struct{}
	once  sync.Once
	err   error
}

func (g *goroutines) Go(fn func() error) {
	g.turns <- struct{}{}
	g.all.Add(1)
	go func() {
		defer func() {
			<-g.turns
			g.all.Done()
		}()
		if err := fn(); err != nil {
			g.once.Do(func() { g.err = err })
		}
	}()
}

func (g *goroutines) Wait() error { g.all.Wait(); return g.err }

// BenchmarkGroup gives functions that do nothing to a group and waits for them: what Go and its share of Wait cost.
func BenchmarkGroup(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) { benchmarkGroup(b, n) })
	}
}

func benchmarkGroup(b *testing.B, n int) {
	fn := func() error { return nil }
	type group interface {
		Go(func() error)
		Wait() error
	}
	fill := func(b *testing.B, g group) {
		for range n {
			g.Go(fn)
		}
		if err := g.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("errgroup/limit=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fill(b, &goroutines{turns: make(chan struct{}, workers)})
			}
			perOp(b, "go", float64(n))
		})
		for _, limit := range []int{-1, workers} {
			b.Run(fmt.Sprintf("outside/W=%d/limit=%d", workers, limit), func(b *testing.B) {
				ex := newExecutor(b, executor.Config{Workers: workers})
				b.ReportAllocs()
				for b.Loop() {
					g := executor.NewGroup(ex)
					g.SetLimit(limit)
					fill(b, g)
				}
				perOp(b, "go", float64(n))
			})
			b.Run(fmt.Sprintf("task/W=%d/limit=%d", workers, limit), func(b *testing.B) {
				ex := newExecutor(b, executor.Config{Workers: workers})
				b.ReportAllocs()
				if err := ex.Run(context.Background(), one(func(context.Context) error {
					for b.Loop() {
						g := executor.NewGroup(ex)
						g.SetLimit(limit)
						fill(b, g)
					}
					return nil
				})); err != nil {
					b.Fatal(err)
				}
				perOp(b, "go", float64(n))
			})
		}
	}
}
