package main

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/sourcegraph/conc/iter"
	"golang.org/x/sync/errgroup"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/parallel"
)

// A loopFunc calls body for blocks that together are 0 to n-1, and returns when all calls have.
type loopFunc func(n int, body func(lo, hi int)) error

// A loopRival is a way to run a loop. close releases what open has made, and may be nil.
type loopRival struct {
	name string
	open func(workers int) (run loopFunc, close func() error, err error)
}

// loopYardstick is the rival that the others are compared with, and is always measured, as magpie is.
const loopYardstick = "goroutines"

var loopRivals = []loopRival{
	{loopYardstick, plain(goroutinePieces(false))},
	{"magpie", onMagpie(executor.Config{})},
	{"magpie-keep", onMagpie(executor.Config{Host: host.Options{KeepGOMAXPROCS: true}})},
	{"magpie-brief", onMagpie(executor.Config{Callers: executor.BriefCallers})},
	{"magpie-group", onGroup},
	{"goroutines-locked", plain(goroutinePieces(true))},
	{"goroutine-items", plain(goroutineItems)},
	{"errgroup", plain(errgroupItems)},
	{"errgroup-all", plain(errgroupAll)},
	{"conc", plain(concItems)},
	{"serial", plain(func(int) loopFunc {
		return func(n int, body func(lo, hi int)) error { body(0, n); return nil }
	})},
}

// plain is a rival that keeps nothing between calls.
func plain(run func(workers int) loopFunc) func(workers int) (loopFunc, func() error, error) {
	return func(workers int) (loopFunc, func() error, error) { return run(workers), nil, nil }
}

// onMagpie is an executor with this configuration.
func onMagpie(c executor.Config) func(workers int) (loopFunc, func() error, error) {
	return func(workers int) (loopFunc, func() error, error) {
		c := c
		c.Workers = workers
		ex, err := executor.New(c)
		if err != nil {
			return nil, nil, err
		}
		o := parallel.Options{Executor: ex}
		return func(n int, body func(lo, hi int)) error {
			return parallel.ForBlocks(context.Background(), o, 0, n, body)
		}, ex.Close, nil
	}
}

// onGroup has a Group call a function for each item, without a limit, as errgroupAll does.
func onGroup(workers int) (loopFunc, func() error, error) {
	ex, err := executor.New(executor.Config{Workers: workers})
	if err != nil {
		return nil, nil, err
	}
	return func(n int, body func(lo, hi int)) error {
		g, _ := executor.GroupWithContext(context.Background(), ex)
		for i := range n {
			g.Go(func() error { body(i, i+1); return nil })
		}
		return g.Wait()
	}, ex.Close, nil
}

// goroutinePieces starts a goroutine for each P, with as many items each. If locked is set, each is locked to its
// thread.
func goroutinePieces(locked bool) func(workers int) loopFunc {
	return func(workers int) loopFunc {
		return func(n int, body func(lo, hi int)) error {
			var wg sync.WaitGroup
			for w := range workers {
				if lo, hi := n*w/workers, n*(w+1)/workers; lo < hi {
					wg.Go(func() {
						if locked {
							runtime.LockOSThread()
							defer runtime.UnlockOSThread()
						}
						body(lo, hi)
					})
				}
			}
			wg.Wait()
			return nil
		}
	}
}

// goroutineItems starts a goroutine for each item, as many at once as Ps.
func goroutineItems(workers int) loopFunc {
	return func(n int, body func(lo, hi int)) error {
		var wg sync.WaitGroup
		room := make(chan struct{}, workers)
		for i := range n {
			room <- struct{}{}
			wg.Go(func() {
				body(i, i+1)
				<-room
			})
		}
		wg.Wait()
		return nil
	}
}

// errgroupItems has an errgroup call a function for each item, as many at once as Ps.
func errgroupItems(workers int) loopFunc {
	return func(n int, body func(lo, hi int)) error {
		var g errgroup.Group
		g.SetLimit(workers)
		for i := range n {
			g.Go(func() error { body(i, i+1); return nil })
		}
		return g.Wait()
	}
}

// errgroupAll has an errgroup call a function for each item, without a limit: as a handler does.
func errgroupAll(int) loopFunc {
	return func(n int, body func(lo, hi int)) error {
		g, _ := errgroup.WithContext(context.Background())
		for i := range n {
			g.Go(func() error { body(i, i+1); return nil })
		}
		return g.Wait()
	}
}

// concItems has an iterator call a function for each item. It starts a goroutine for each P.
func concItems(workers int) loopFunc {
	each := iter.Iterator[struct{}]{MaxGoroutines: workers}
	return func(n int, body func(lo, hi int)) error {
		each.ForEachIdx(make([]struct{}, n), func(i int, _ *struct{}) { body(i, i+1) })
		return nil
	}
}

// with calls f with a rival that was opened for it, on as many Ps as workers.
func (r *loopRival) with(workers int, f func(loopFunc) error) (err error) {
	before := runtime.GOMAXPROCS(workers) // an executor adds to it
	defer runtime.GOMAXPROCS(before)
	run, close, err := r.open(workers)
	if err != nil {
		return err
	}
	if close != nil {
		defer func() { err = errors.Join(err, close()) }()
	}
	runtime.GC() // so that no rival pays for the garbage of another
	return f(run)
}
