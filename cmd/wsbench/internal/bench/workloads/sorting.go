package workloads

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

// sorting depends on memory and branches as much as on scheduling, as for a user of package parallel.
var sorting = &Workload{
	Name:    "sort",
	About:   "n random int64 sorted: parallel.Sort, slices.Sort, Quicksort by goroutines; figures are per element",
	Size:    "elements",
	Default: 10000000,
	Shape: func(n int) Shape {
		return Shape{Tasks: float64(n), Width: float64(n) / sortGrain, Data: 2 * 8 * float64(n)}
	},
	Program: func(n int, seed uint64, _ Values) (Program, error) {
		s := &sortProgram{random: randomNumbers(n, seed), s: make([]int64, n)}
		s.content = contentOf(s.random)
		return s, nil
	},
}

type sortProgram struct {
	random, s []int64
	content   [2]uint64 // of random
}

// randomNumbers draws n numbers.
func randomNumbers(n int, seed uint64) []int64 {
	rng := splitmix64(seed)
	s := make([]int64, n)
	for i := range s {
		s[i] = int64(rng.next())
	}
	return s
}

// contentOf returns the same value for the same elements in any order, and very probably another for other elements.
func contentOf(s []int64) (c [2]uint64) {
	for _, x := range s {
		rng := splitmix64(x)
		h := rng.next()
		c[0] += h
		c[1] += h * h
	}
	return c
}

func (s *sortProgram) Reset() { copy(s.s, s.random) }

func (s *sortProgram) Verify() error {
	for i := 1; i < len(s.s); i++ {
		if s.s[i-1] > s.s[i] {
			return fmt.Errorf("element %d is %d, and %d comes after it", i-1, s.s[i-1], s.s[i])
		}
	}
	if contentOf(s.s) != s.content {
		return fmt.Errorf("the elements are not those that there were")
	}
	return nil
}

func (s *sortProgram) Serial() { slices.Sort(s.s) }

func (s *sortProgram) Magpie(ex *executor.Executor) error {
	return parallel.Sort(context.Background(), parallel.Options{Executor: ex}, s.s)
}

// sortGrain is how many elements a goroutine sorts alone.
const sortGrain = 1 << 11

func (s *sortProgram) Goroutines(int) {
	var wg sync.WaitGroup
	sortGoroutines(&wg, s.s, 2*bits.Len(uint(len(s.s))))
	wg.Wait()
}

// sortGoroutines is Quicksort with a goroutine for each right half. After too many cuts it falls back to package
// slices.
func sortGoroutines(wg *sync.WaitGroup, s []int64, cuts int) {
	for ; len(s) > sortGrain && cuts > 0; cuts-- {
		// Hoare's partition around the median of three.
		a, b, c := s[0], s[len(s)/2], s[len(s)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(s)-1
		for i <= j {
			for s[i] < pivot {
				i++
			}
			for s[j] > pivot {
				j--
			}
			if i <= j {
				s[i], s[j] = s[j], s[i]
				i++
				j--
			}
		}
		right, left := s[i:], cuts-1
		wg.Go(func() { sortGoroutines(wg, right, left) })
		s = s[:j+1]
	}
	slices.Sort(s)
}
