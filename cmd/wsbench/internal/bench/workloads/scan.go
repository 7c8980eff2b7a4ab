package workloads

import (
	"context"
	"fmt"
	"sync"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

// scan reads much memory and does little with it. In parallel it reads the memory twice, so two workers gain next to
// nothing.
var scan = &Workload{
	Name:    "scan",
	About:   "n prefix sums of int64: parallel.Scan, a loop, a goroutine for each part; figures are per element",
	Size:    "elements",
	Default: 10000000,
	Shape: func(n int) Shape {
		return Shape{Tasks: float64(n), Width: executor.MaxWorkers, Data: 2 * 8 * float64(n)}
	},
	Program: func(n int, seed uint64, _ Values) (Program, error) {
		return &scanProgram{src: randomNumbers(n, seed), dst: make([]int64, n)}, nil
	},
}

type scanProgram struct{ src, dst []int64 }

func (s *scanProgram) Reset() { clear(s.dst) }

func (s *scanProgram) Verify() error {
	sum := int64(0)
	for i, x := range s.src {
		if sum += x; s.dst[i] != sum {
			return fmt.Errorf("sum %d is %d, not %d", i, s.dst[i], sum)
		}
	}
	return nil
}

func (s *scanProgram) Serial() { prefixSums(s.dst, s.src, 0) }

// prefixSums sets dst to the prefix sums of src, each increased by sum.
func prefixSums(dst, src []int64, sum int64) {
	dst = dst[:len(src)]
	for i, x := range src {
		sum += x
		dst[i] = sum
	}
}

func (s *scanProgram) Magpie(ex *executor.Executor) error {
	add := func(a, b int64) int64 { return a + b }
	return parallel.Scan(context.Background(), parallel.Options{Executor: ex}, s.dst, s.src, add)
}

// Goroutines starts goroutines that add up a part each, and then goroutines that scan a part each.
func (s *scanProgram) Goroutines(workers int) {
	n := len(s.src)
	size := (n + workers - 1) / workers
	part := func(i int) (lo, hi int) { return min(n, size*i), min(n, size*(i+1)) }
	sums := make([]int64, workers+1) // sums[i] is the sum of parts 0 to i-1
	var wg sync.WaitGroup
	for i := range workers - 1 {
		wg.Go(func() {
			lo, hi := part(i)
			sum := int64(0)
			for _, x := range s.src[lo:hi] {
				sum += x
			}
			sums[i+1] = sum
		})
	}
	wg.Wait()
	for i := range workers {
		sums[i+1] += sums[i]
	}
	for i := range workers {
		wg.Go(func() {
			lo, hi := part(i)
			prefixSums(s.dst[lo:hi], s.src[lo:hi], sums[i])
		})
	}
	wg.Wait()
}
