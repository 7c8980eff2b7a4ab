package parallel_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

var sink int

// BenchmarkFor is ten million empty iterations, with a function for each, and with one for a range of them. The loops
// are the plain ones over the same functions.
func BenchmarkFor(b *testing.B) {
	const n = 10_000_000
	body := func(int) {}
	bodies := []func(int){body} // or the compiler would leave the calls out
	inRange := func(lo, hi int) {
		sum := 0
		for i := lo; i < hi; i++ {
			sum += i ^ lo
		}
		if sum == 1 {
			sink++
		}
	}
	b.Run("loop", func(b *testing.B) {
		body := bodies[b.N&0]
		for b.Loop() {
			for i := range n {
				body(i)
			}
		}
	})
	b.Run("range-loop", func(b *testing.B) {
		for b.Loop() {
			inRange(0, n)
		}
	})
	for _, workers := range []int{1, 2} {
		ex, err := executor.New(executor.Config{Workers: workers})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("W=%d", workers), func(b *testing.B) {
			for b.Loop() {
				if err := parallel.For(context.Background(), parallel.Options{Executor: ex}, 0, n, body); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("range/W=%d", workers), func(b *testing.B) {
			for b.Loop() {
				if err := parallel.ForBlocks(context.Background(), parallel.Options{Executor: ex}, 0, n,
					inRange); err != nil {
					b.Fatal(err)
				}
			}
		})
		ex.Close()
	}
}

// BenchmarkForEach is a loop over a sequence of a thousand, with a body that does nothing.
func BenchmarkForEach(b *testing.B) {
	for _, workers := range []int{1, 2} {
		ex, err := executor.New(executor.Config{Workers: workers})
		if err != nil {
			b.Fatal(err)
		}
		for _, grain := range []int{0, 1} {
			o := parallel.Options{Executor: ex, Grain: grain}
			b.Run(fmt.Sprintf("W=%d/grain=%d", workers, grain), func(b *testing.B) {
				for b.Loop() {
					if err := parallel.ForEach(context.Background(), o, count(1000), func(int) {}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		ex.Close()
	}
}

// BenchmarkSort sorts ten million numbers, and beside it package slices.
func BenchmarkSort(b *testing.B) {
	const n = 10_000_000
	rng := rand.New(rand.NewPCG(1, 1))
	random := make([]int64, n)
	for i := range random {
		random[i] = rng.Int64()
	}
	s := make([]int64, n)
	bench := func(name string, sort func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				copy(s, random)
				b.StartTimer()
				sort()
			}
			if !slices.IsSorted(s) {
				b.Fatal("not sorted")
			}
		})
	}
	bench("slices", func() { slices.Sort(s) })
	for _, workers := range []int{1, 2} {
		ex, err := executor.New(executor.Config{Workers: workers})
		if err != nil {
			b.Fatal(err)
		}
		bench(fmt.Sprintf("W=%d", workers), func() {
			if err := parallel.Sort(context.Background(), parallel.Options{Executor: ex}, s); err != nil {
				b.Fatal(err)
			}
		})
		ex.Close()
	}
}
