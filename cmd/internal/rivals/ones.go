package main

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/panjf2000/ants/v2"
	"golang.org/x/sync/errgroup"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

var oneRivals = []goRival{
	{"run", "magpie", oneMagpie(0)},
	{"run", "call", oneCall(0)},
	{"run", "group", inGroups(0, groups)},
	{"run", "async", inGroups(0, asyncs)},
	{"run", "errgroup", inGroups(0, errgroups)},
	{"run", "goroutine", oneGoroutine(0)},
	{"run", "ants", oneAnts(0)},
	{"rare", "magpie", oneMagpie(time.Millisecond)},
	{"rare", "call", oneCall(time.Millisecond)},
	{"rare", "group", inGroups(time.Millisecond, groups)},
	{"rare", "async", inGroups(time.Millisecond, asyncs)},
	{"rare", "errgroup", inGroups(time.Millisecond, errgroups)},
	{"rare", "goroutine", oneGoroutine(time.Millisecond)},
	{"rare", "ants", oneAnts(time.Millisecond)},
	{"rare-few", "magpie", inGroups(time.Millisecond, groups)},
	{"rare-few", "async", inGroups(time.Millisecond, asyncs)},
	{"rare-few", "errgroup", inGroups(time.Millisecond, errgroups)},
}

// request is the context of all calls: one that can end, as that of a request can.
var request, _ = context.WithCancel(context.Background())

// one is a repetition in which call has a function called by another thread, after a pause.
func one(pause time.Duration, call func(func()) error) repetition {
	n := 0
	return few(pause, 1, func() int { return n }, func() error { return call(func() { n++ }) })
}

// few is a repetition in which call has small functions called, after a pause. called returns how many were so far.
func few(pause time.Duration, functions int, called func() int, call func() error) repetition {
	want := 0
	return func() (time.Duration, error) {
		if pause > 0 {
			time.Sleep(pause)
		}
		want += functions
		start := time.Now()
		err := call()
		took := time.Since(start)
		if n := called(); err == nil && n != want {
			err = fmt.Errorf("wrong answer: functions were called %d times, want %d", n, want)
		}
		return took, err
	}
}

// A group is a Group, an errgroup, or futures.
type group interface {
	Go(func() error)
	Wait() error
}

// inGroups has a group call n functions. open returns what makes each group.
func inGroups(
	pause time.Duration, open func(workers int) (func() group, error),
) func(workers, n int) (repetition, error) {
	return func(workers, n int) (repetition, error) {
		newGroup, err := open(workers)
		var called atomic.Int64
		return few(pause, n, func() int { return int(called.Load()) }, func() error {
			g := newGroup()
			for range n {
				g.Go(func() error { called.Add(1); return nil })
			}
			return g.Wait()
		}), err
	}
}

func groups(workers int) (func() group, error) {
	ex, err := newExecutor(workers)
	return func() group { g, _ := executor.GroupWithContext(request, ex); return g }, err
}

// futures are of Async, and Wait waits for one after the other.
type futures struct {
	ex  *executor.Executor
	all []*executor.Future[struct{}]
}

func asyncs(workers int) (func() group, error) {
	ex, err := newExecutor(workers)
	return func() group { return &futures{ex: ex} }, err
}

func (fs *futures) Go(fn func() error) {
	fs.all = append(fs.all, executor.Async(request, fs.ex, func(context.Context) (struct{}, error) {
		return struct{}{}, fn()
	}))
}

func (fs *futures) Wait() (err error) {
	for _, f := range fs.all {
		_, failed := f.Wait()
		err = cmp.Or(err, failed)
	}
	return err
}

func errgroups(int) (func() group, error) {
	return func() group { g, _ := errgroup.WithContext(request); return g }, nil
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
			return ex.Run(request, g)
		}), err
	}
}

// oneCall is oneMagpie by executor.Call, which needs no graph.
func oneCall(pause time.Duration) func(workers, n int) (repetition, error) {
	return func(workers, _ int) (repetition, error) {
		ex, err := newExecutor(workers)
		do := func(_ *executor.Scope, f func()) error { f(); return nil }
		return one(pause, func(f func()) error {
			failed, err := executor.Call(request, ex, do, f)
			return cmp.Or(err, failed)
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
