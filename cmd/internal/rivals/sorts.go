package main

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

// The inputs are the same as those of the drivers in other languages.
var sortRivals = slices.Concat(
	sorts("sort", func(n int) []int64 { return random(n, func(x uint64) int64 { return int64(x) }) }, digestInt),
	sorts("sort-floats", func(n int) []float64 {
		return random(n, func(x uint64) float64 { return float64(int64(x)>>11) / (1 << 52) })
	}, math.Float64bits),
	sorts("sort-strings", func(n int) []string {
		return random(n, func(x uint64) string { return strconv.FormatUint(x, 10) })
	}, digestString),
	sorts("sort-few", func(n int) []int64 {
		return random(n, func(x uint64) int64 { return int64(x % 100) })
	}, digestInt),
	sorts("sort-sorted", rising, digestInt),
	sorts("sort-reversed", func(n int) []int64 { s := rising(n); slices.Reverse(s); return s }, digestInt),
)

// sorts are the rivals that sort an input.
func sorts[T cmp.Ordered](bench string, input func(n int) []T, digest func(T) uint64) []goRival {
	by := func(ex *executor.Executor) func([]T) error {
		return func(s []T) error { return parallel.Sort(context.Background(), parallel.Options{Executor: ex}, s) }
	}
	return []goRival{
		{bench, "slices", func(_, n int) (repetition, error) {
			return sorted(input(n), digest, func(s []T) error { slices.Sort(s); return nil }), nil
		}},
		{bench, "magpie", func(workers, n int) (repetition, error) {
			ex, err := newExecutor(workers)
			return sorted(input(n), digest, by(ex)), err
		}},
		{bench, "magpie-first", func(workers, n int) (repetition, error) {
			in := input(n)
			return func() (time.Duration, error) {
				ex, err := newExecutor(workers)
				if err != nil {
					return 0, err
				}
				defer ex.Close()
				repeat := sorted(in, digest, by(ex))
				debug.FreeOSMemory() // also what parallel.Sort keeps for the next sort
				return repeat()
			}, nil
		}},
	}
}

// sorted is a repetition that sorts a copy of the input. The sum of the digests shows whether elements were lost.
func sorted[T cmp.Ordered](input []T, digest func(T) uint64, sort func([]T) error) repetition {
	sum := func(s []T) (sum uint64) {
		for _, x := range s {
			sum += digest(x)
		}
		return sum
	}
	want := sum(input)
	s := make([]T, len(input))
	return func() (time.Duration, error) {
		copy(s, input)
		start := time.Now()
		err := sort(s)
		took := time.Since(start)
		if err == nil && (sum(s) != want || !slices.IsSorted(s)) {
			err = errors.New("wrong answer: the elements are not sorted, or others")
		}
		return took, err
	}
}

func digestInt(x int64) uint64 { return uint64(x) }

var seed = maphash.MakeSeed()

func digestString(s string) uint64 { return maphash.String(seed, s) }

// random returns n elements made of the numbers of splitmix64.
func random[T any](n int, of func(uint64) T) []T {
	s := make([]T, n)
	state := uint64(1)
	for i := range s {
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		s[i] = of(z ^ z>>31)
	}
	return s
}

// rising returns n integers in ascending order, with random differences.
func rising(n int) []int64 {
	last := int64(0)
	return random(n, func(x uint64) int64 { last += int64(x >> 40); return last })
}
