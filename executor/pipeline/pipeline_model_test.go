//go:build modelcheck

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor"
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
	var ex *executor.Executor
	model.Calm(func() {
		var err error
		ex, err = executor.New(executor.Config{Workers: 2, KeepGOMAXPROCS: true})
		model.Assert(err == nil, "New: %v", err)
		for int(ex.Stats().Total.Parks) < 2 {
			model.Spin()
		}
	})
	const tokens = 2
	came := make([]xatomic.Plain[int], lines) // through how many stages the token of the line has come
	var out xatomic.Plain[int]
	p, err := New("p", lines,
		Stage{Serial: true, Run: func(t *Token) error {
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
		Stage{Serial: true, Run: func(t *Token) error {
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
	model.Calm(func() {
		err := ex.Close()
		model.Assert(err == nil, "Close: %v", err)
	})
}
