package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/panjf2000/ants/v2"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

var oneRivals = []goRival{
	{"run", "magpie", oneMagpie(0)},
	{"run", "call", oneCall(0)},
	{"run", "goroutine", oneGoroutine(0)},
	{"run", "ants", oneAnts(0)},
	{"rare", "magpie", oneMagpie(time.Millisecond)},
	{"rare", "call", oneCall(time.Millisecond)},
	{"rare", "goroutine", oneGoroutine(time.Millisecond)},
	{"rare", "ants", oneAnts(time.Millisecond)},
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

// oneCall is oneMagpie by executor.Call, which needs no graph.
func oneCall(pause time.Duration) func(workers, n int) (repetition, error) {
	return func(workers, _ int) (repetition, error) {
		ex, err := newExecutor(workers)
		do := func(_ *executor.Scope, f func()) error { f(); return nil }
		return one(pause, func(f func()) error {
			failed, err := executor.Call(context.Background(), ex, do, f)
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
