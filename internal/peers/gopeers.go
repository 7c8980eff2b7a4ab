package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/graph"
)

// A repetition does something once, checks the answer, and returns how long it took.
type repetition func() (time.Duration, error)

// A goPeer makes the repetitions of one bench with one library. Each has the number of workers and the size.
type goPeer struct {
	bench, peer string
	make        func(workers, n int) (repetition, error)
}

var goPeers = []goPeer{
	{"fib", "serial", func(_, n int) (repetition, error) {
		return expect(fibSerial(n), func() (int, error) { return fibSerial(n), nil }), nil
	}},
	{"fib", "magpie", func(workers, n int) (repetition, error) {
		ex, err := newExecutor(workers)
		return expect(fibSerial(n), func() (int, error) {
			return executor.Call(context.Background(), ex, fibMagpie, n)
		}), err
	}},
	{"queens", "serial", func(_, n int) (repetition, error) {
		want, _ := queensSerial(n)
		return expect(want, func() (int, error) { got, _ := queensSerial(n); return got, nil }), nil
	}},
	{"queens", "magpie", func(workers, n int) (repetition, error) {
		want, _ := queensSerial(n)
		ex, err := newExecutor(workers)
		return expect(want, func() (int, error) {
			return executor.Call(context.Background(), ex, queensMagpie, emptyBoard(n))
		}), err
	}},
	{"fan", "magpie", func(workers, n int) (repetition, error) {
		ex, err := newExecutor(workers)
		g := executor.NewGroup(ex)
		return fan(n, func(f func()) { g.Go(func() error { f(); return nil }) }, g.Wait), err
	}},
	{"fan", "goroutines", func(_, n int) (repetition, error) {
		var wg sync.WaitGroup
		return fan(n, wg.Go, func() error { wg.Wait(); return nil }), nil
	}},
	{"fan", "errgroup", func(workers, n int) (repetition, error) {
		var g errgroup.Group
		g.SetLimit(workers)
		return fan(n, func(f func()) { g.Go(func() error { f(); return nil }) }, func() error { return g.Wait() }), nil
	}},
	{"fan", "ants", func(workers, n int) (repetition, error) {
		p, err := ants.NewPool(workers)
		var wg sync.WaitGroup
		return fan(n, func(f func()) {
			wg.Add(1)
			if err := p.Submit(func() { f(); wg.Done() }); err != nil {
				panic(err)
			}
		}, func() error { wg.Wait(); return nil }), err
	}},
	{"fan", "pond", func(workers, n int) (repetition, error) {
		p := pond.NewPool(workers)
		var g pond.TaskGroup
		return fan(n, func(f func()) {
			if g == nil {
				g = p.NewGroup()
			}
			g.Submit(f)
		}, func() error { err := g.Wait(); g = nil; return err }), nil
	}},
	{"fan", "conc", func(workers, n int) (repetition, error) {
		p := pool.New().WithMaxGoroutines(workers)
		return fan(n, func(f func()) { p.Go(f) }, func() error {
			p.Wait()
			p = pool.New().WithMaxGoroutines(workers)
			return nil
		}), nil
	}},
	{"dag", "serial", func(_, n int) (repetition, error) {
		grid := make([]uint64, n*n)
		return front(n, grid, func() error {
			for i := range grid {
				put(grid, n, i)
			}
			return nil
		}), nil
	}},
	{"dag", "magpie", func(workers, n int) (repetition, error) {
		ex, err := newExecutor(workers)
		grid := make([]uint64, n*n)
		g := graph.New("front")
		tasks := make([]graph.Task, n*n)
		for i := range tasks {
			tasks[i] = g.Task(func(context.Context) error { put(grid, n, i); return nil })
			if i >= n {
				tasks[i].Succeed(tasks[i-n])
			}
			if i%n > 0 {
				tasks[i].Succeed(tasks[i-1])
			}
		}
		return front(n, grid, func() error { return ex.Run(context.Background(), g) }), err
	}},
	{"sort", "slices", func(_, n int) (repetition, error) {
		return sorted(n, func(s []int64) error { slices.Sort(s); return nil }), nil
	}},
	{"sort", "magpie", func(workers, n int) (repetition, error) {
		ex, err := newExecutor(workers)
		return sorted(n, func(s []int64) error {
			return parallel.Sort(context.Background(), parallel.On{Executor: ex}, s)
		}), err
	}},
	{"run", "magpie", oneMagpie(0)},
	{"run", "goroutine", oneGoroutine(0)},
	{"run", "ants", oneAnts(0)},
	{"rare", "magpie", oneMagpie(time.Millisecond)},
	{"rare", "goroutine", oneGoroutine(time.Millisecond)},
	{"rare", "ants", oneAnts(time.Millisecond)},
}

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

func fibMagpie(s *executor.Scope, n int) int {
	if n < 2 {
		return n
	}
	f := executor.Fork(s, fibMagpie, n-1)
	r := fibMagpie(s, n-2)
	return f.Join(s) + r
}

func queensMagpie(s *executor.Scope, b board) int {
	if b.columns == b.all {
		return 1
	}
	return placesMagpie(s, places{b, b.free()})
}

// places are columns where a queen may be in the next row of a board.
type places struct {
	board
	free uint32
}

func placesMagpie(s *executor.Scope, p places) int {
	if p.free == 0 {
		return 0
	}
	first := p.with(p.free & -p.free)
	rest := places{p.board, p.free & (p.free - 1)}
	if rest.free == 0 {
		return queensMagpie(s, first)
	}
	f := executor.Fork(s, placesMagpie, rest)
	n := queensMagpie(s, first)
	return n + f.Join(s)
}

// fan starts n functions and waits for them.
func fan(n int, start func(func()), wait func() error) repetition {
	var ran atomic.Int64
	f := func() { ran.Add(1) }
	return func() (time.Duration, error) {
		ran.Store(0)
		begin := time.Now()
		for range n {
			start(f)
		}
		err := wait()
		took := time.Since(begin)
		if got := ran.Load(); err == nil && got != int64(n) {
			err = fmt.Errorf("wrong answer: %d functions were called, want %d", got, n)
		}
		return took, err
	}
}

// front runs something that puts every place of a grid.
func front(n int, grid []uint64, run func() error) repetition {
	want := make([]uint64, n*n)
	for i := range want {
		put(want, n, i)
	}
	return func() (time.Duration, error) {
		clear(grid)
		start := time.Now()
		err := run()
		took := time.Since(start)
		if err == nil && !slices.Equal(grid, want) {
			err = fmt.Errorf("wrong answer: the grid differs")
		}
		return took, err
	}
}

// put sets place i of the grid to a number that depends on those above and to the left.
func put(grid []uint64, n, i int) {
	x := uint64(i)
	if i >= n {
		x += 3 * grid[i-n]
	}
	if i%n > 0 {
		x ^= 5 * grid[i-1]
	}
	grid[i] = x + 1
}

func sorted(n int, sort func([]int64) error) repetition {
	random, s := make([]int64, n), make([]int64, n)
	rng := rand.New(rand.NewPCG(1, 1))
	sum := int64(0)
	for i := range random {
		random[i] = int64(rng.Uint64())
		sum += random[i]
	}
	return func() (time.Duration, error) {
		copy(s, random)
		start := time.Now()
		err := sort(s)
		took := time.Since(start)
		now := int64(0)
		for _, x := range s {
			now += x
		}
		if err == nil && (now != sum || !slices.IsSorted(s)) {
			err = fmt.Errorf("wrong answer: the numbers are not sorted, or others")
		}
		return took, err
	}
}

// one is a repetition in which call has a function called by another thread, after a pause.
func one(pause time.Duration, call func(func()) error) repetition {
	n, want := 0, 0
	f := func() { n++ }
	return func() (time.Duration, error) {
		if pause > 0 {
			time.Sleep(pause)
		}
		want++
		start := time.Now()
		err := call(f)
		took := time.Since(start)
		if err == nil && n != want {
			err = fmt.Errorf("wrong answer: the function was called %d times, want %d", n, want)
		}
		return took, err
	}
}

func oneMagpie(pause time.Duration) func(workers, n int) (repetition, error) {
	return func(workers, _ int) (repetition, error) {
		ex, err := newExecutor(workers)
		var g *graph.Graph
		return one(pause, func(f func()) error {
			if g == nil {
				g = graph.New("one")
				g.Task(func(context.Context) error { f(); return nil })
			}
			return ex.Run(context.Background(), g)
		}), err
	}
}

func oneGoroutine(pause time.Duration) func(workers, n int) (repetition, error) {
	return func(int, int) (repetition, error) {
		return one(pause, func(f func()) error {
			done := make(chan struct{})
			go func() { f(); close(done) }()
			<-done
			return nil
		}), nil
	}
}

func oneAnts(pause time.Duration) func(workers, n int) (repetition, error) {
	return func(workers, _ int) (repetition, error) {
		p, err := ants.NewPool(workers)
		return one(pause, func(f func()) error {
			done := make(chan struct{})
			if err := p.Submit(func() { f(); close(done) }); err != nil {
				return err
			}
			<-done
			return nil
		}), err
	}
}

// drive is the driver of Go's peers: it prints the median of the repetitions that fit into the time.
func drive(peer, name string, workers, n int, seconds float64) (ns float64, err error) {
	i := slices.IndexFunc(goPeers, func(p goPeer) bool { return p.peer == peer && p.bench == name })
	if i < 0 {
		return 0, fmt.Errorf("%s does not do %s", peer, name)
	}
	runtime.GOMAXPROCS(workers) // an executor adds to it
	repeat, err := goPeers[i].make(workers, n)
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
