package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"

	"github.com/magpie-go/magpie/executor"
)

var fanRivals = []goRival{
	{"fan", "serial", func(_, n int) (repetition, error) {
		return fan(n, func(f func()) { f() }, func() error { return nil }), nil
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
