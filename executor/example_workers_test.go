package executor_test

import (
	"context"
	"fmt"
	"log"
	"sync/atomic"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/graph"
)

// A histogram of each worker's own, without locks or atomics in the loop.
func ExamplePerWorker() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	counts := executor.NewPerWorker(ex, func() []int { return make([]int, 3) })
	err = parallel.ForBlocks(context.Background(), parallel.Options{Executor: ex}, 0, 300, func(lo, hi int) {
		mine := *counts.Local()
		for i := lo; i < hi; i++ {
			mine[i%3]++
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	total := make([]int, 3)
	for _, c := range counts.All() {
		for i, n := range *c {
			total[i] += n
		}
	}
	fmt.Println(total)
	// Output: [100 100 100]
}

// A task finds its executor in its context.
func ExampleFromContext() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	squares := make([]int, 10)
	g := graph.New("squares")
	g.Task(func(ctx context.Context) error {
		ex, _ := executor.FromContext(ctx)
		fmt.Println("on a worker:", ex.WorkerIndex() >= 0)
		return parallel.For(ctx, parallel.Options{}, 0, len(squares), func(i int) { squares[i] = i * i })
	})
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	fmt.Println(squares)
	// Output:
	// on a worker: true
	// [0 1 4 9 16 25 36 49 64 81]
}

// A library that wants to be told of each thread that uses it.
func ExampleConfig_threadStart() {
	var threads atomic.Int32
	ex, err := executor.New(executor.Config{
		Workers: 2,
		Threads: host.Threads{Start: func(worker int) { threads.Add(1) }, End: func(worker int) { threads.Add(-1) }},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(threads.Load())
	if err := ex.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(threads.Load())
	// Output:
	// 2
	// 0
}
