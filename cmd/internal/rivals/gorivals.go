package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/magpie-go/magpie/executor"
)

// A repetition does something once, checks the answer, and returns how long it took.
type repetition func() (time.Duration, error)

// A goRival makes the repetitions of one bench with one library. Each has the number of workers and the size.
type goRival struct {
	bench, rival string
	make         func(workers, n int) (repetition, error)
}

var goRivals = slices.Concat(forkRivals, fanRivals, graphRivals, sortRivals, oneRivals)

func newExecutor(workers int) (*executor.Executor, error) {
	return executor.New(executor.Config{Workers: workers})
}

// expect is a repetition whose answer is known.
func expect(want int, answer func() (int, error)) repetition {
	return func() (time.Duration, error) {
		start := time.Now()
		got, err := answer()
		took := time.Since(start)
		if err == nil && got != want {
			err = fmt.Errorf("wrong answer: %d, want %d", got, want)
		}
		return took, err
	}
}

// drive is the driver of Go's rivals: it prints the median of the repetitions that fit into the time.
func drive(rival, name string, workers, n int, seconds float64) (ns float64, err error) {
	i := slices.IndexFunc(goRivals, func(p goRival) bool { return p.rival == rival && p.bench == name })
	if i < 0 {
		return 0, fmt.Errorf("%s does not do %s", rival, name)
	}
	runtime.GOMAXPROCS(workers) // an executor adds to it
	repeat, err := goRivals[i].make(workers, n)
	if err != nil {
		return 0, err
	}
	return median(repeat, time.Duration(seconds*float64(time.Second)))
}

// median repeats for that long, at least three times after the first.
func median(repeat repetition, d time.Duration) (float64, error) {
	var all []time.Duration
	if _, err := repeat(); err != nil {
		return 0, err
	}
	for start := time.Now(); len(all) < 3 || time.Since(start) < d; {
		took, err := repeat()
		if err != nil {
			return 0, err
		}
		all = append(all, took)
	}
	slices.Sort(all)
	return float64(all[len(all)/2].Nanoseconds()), nil
}
