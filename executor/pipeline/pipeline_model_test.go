//go:build modelcheck

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

var errWhim = errors.New("whim")

// TestModelPipeline: two tokens on one line and on two, through a serial stage, a parallel one and a serial one. What a
// token carries is in a plain word of its line, and what a serial stage counts is in one of its own: accesses that are
// not ordered are a data race.
func TestModelPipeline(t *testing.T) {
	for _, lines := range []int{1, 2} {
		for _, fails := range []bool{false, true} {
			t.Run(fmt.Sprintf("lines=%d/fails=%v", lines, fails), func(t *testing.T) {
				model.Check(t, func() { passTwo(lines, fails) })
			})
		}
	}
}

func passTwo(lines int, fails bool) {
	ex := modelExecutor()
	const tokens = 2
	came := make([]xatomic.Plain[int], lines) // through how many stages the token of the line has come
	var out xatomic.Plain[int]
	p, err := New("p", lines,
		Stage{Mode: Serial, Run: func(t *Token) error {
			if t.Number() == tokens {
				t.Stop()
				return nil
			}
			came[t.Line()].Set(1)
			return nil
		}},
		Stage{Run: func(t *Token) error {
			model.Assert(came[t.Line()].Get() == 1, "the second stage before the first")
			came[t.Line()].Set(2)
			if fails && t.Number() == 0 {
				return errWhim
			}
			return nil
		}},
		Stage{Mode: Serial, Run: func(t *Token) error {
			model.Assert(came[t.Line()].Get() == 2, "the third stage before the second")
			model.Assert(out.Get() == t.Number(), "token %d comes out as number %d", t.Number(), out.Get())
			out.Set(out.Get() + 1)
			return nil
		}},
	)
	model.Assert(err == nil, "New: %v", err)
	err = ex.Run(context.Background(), p)
	if fails {
		model.Assert(errors.Is(err, errWhim) && out.Get() == 0, "%d tokens came out, error %v", out.Get(), err)
	} else {
		model.Assert(err == nil && out.Get() == tokens, "%d tokens came out, error %v", out.Get(), err)
	}
	closeModel(ex)
}

// modelExecutor returns an executor whose two workers sleep.
func modelExecutor() (ex *executor.Executor) {
	model.Calm(func() {
		var err error
		ex, err = executor.New(executor.Config{
			Workers: 2, Host: host.Options{KeepGOMAXPROCS: true}, Callers: executor.IdleCallers,
		})
		model.Assert(err == nil, "New: %v", err)
		for int(ex.Stats().Total.Parks) < 2 {
			model.Spin()
		}
	})
	return ex
}

func closeModel(ex *executor.Executor) {
	model.Calm(func() {
		err := ex.Close()
		model.Assert(err == nil, "Close: %v", err)
	})
}

// TestModelLimit: three tokens on two or three lines through a stage with room for one. Those that have found the stage
// full come through too, also after a token has failed in it. What the stage counts is in a plain word: tokens that are
// not one after the other are a data race.
func TestModelLimit(t *testing.T) {
	for _, c := range []struct {
		lines int
		fails string
	}{{2, ""}, {3, ""}, {2, "error"}, {2, "panic"}} {
		t.Run(fmt.Sprintf("lines=%d/fails=%s", c.lines, c.fails), func(t *testing.T) {
			model.Check(t, func() { passLimit(c.lines, c.fails) })
		})
	}
}

func passLimit(lines int, fails string) {
	ex := modelExecutor()
	const tokens = 3
	var inside xatomic.Plain[bool]
	var out xatomic.Plain[int]
	p, err := New("p", lines,
		Stage{Mode: Serial, Run: func(t *Token) error {
			if t.Number() == tokens {
				t.Stop()
			}
			return nil
		}},
		Stage{MaxTokens: 1, Run: func(t *Token) error {
			model.Assert(!inside.Get(), "two tokens in the stage")
			inside.Set(true)
			defer inside.Set(false)
			out.Set(out.Get() + 1)
			if t.Number() == 0 && fails == "error" {
				return errWhim
			} else if t.Number() == 0 && fails == "panic" {
				panic(errWhim)
			}
			return nil
		}},
	)
	model.Assert(err == nil, "New: %v", err)
	err = ex.Run(context.Background(), p)
	if fails != "" {
		model.Assert(errors.Is(err, errWhim), "error %v", err)
	} else {
		model.Assert(err == nil && out.Get() == tokens, "%d tokens came out, error %v", out.Get(), err)
	}
	closeModel(ex)
}

// TestModelDefer: of three tokens the first waits for the second or the third. What the first stage and the last one
// count is in plain words.
func TestModelDefer(t *testing.T) {
	for _, lines := range []int{1, 2} {
		for _, on := range []int{1, 2} {
			t.Run(fmt.Sprintf("lines=%d/on=%d", lines, on), func(t *testing.T) {
				model.Check(t, func() { passDeferred(lines, on) })
			})
		}
	}
}

func passDeferred(lines, on int) {
	ex := modelExecutor()
	const tokens = 3
	order := [][]int{1: {1, 0, 2}, 2: {1, 2, 0}}[on]
	var in, out xatomic.Plain[int]
	p, err := New("p", lines,
		Stage{Mode: Serial, Run: func(t *Token) error {
			switch {
			case t.Number() == tokens:
				t.Stop()
			case t.Number() == 0 && t.Defer(on):
			default:
				model.Assert(order[in.Get()] == t.Number(), "token %d enters as number %d", t.Number(), in.Get())
				in.Set(in.Get() + 1)
			}
			return nil
		}},
		Stage{Mode: Serial, Run: func(t *Token) error {
			model.Assert(order[out.Get()] == t.Number(), "token %d comes out as number %d", t.Number(), out.Get())
			out.Set(out.Get() + 1)
			return nil
		}},
	)
	model.Assert(err == nil, "New: %v", err)
	err = ex.Run(context.Background(), p)
	model.Assert(err == nil && out.Get() == tokens, "%d of %d came out: %v", out.Get(), in.Get(), err)
	closeModel(ex)
}
