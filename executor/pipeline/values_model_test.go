//go:build modelcheck

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelValues: a loop takes two values of a pipeline with one line or two, or is left after the first, or the
// second fails. The run ends in each case.
func TestModelValues(t *testing.T) {
	for _, lines := range []int{1, 2} {
		for _, ends := range []string{"", "left", "fails"} {
			t.Run(fmt.Sprintf("lines=%d/ends=%s", lines, ends), func(t *testing.T) {
				model.Check(t, func() { takeTwo(lines, ends) })
			})
		}
	}
}

func takeTwo(lines int, ends string) {
	ex := modelExecutor()
	const tokens = 2
	type value = *xatomic.Plain[int]
	source := Source("p", lines, func(t *Token) (value, error) {
		if t.Number() == tokens {
			t.Stop()
			return nil, nil
		}
		v := new(xatomic.Plain[int])
		v.Set(t.Number())
		if ends == "fails" && t.Number() == 1 {
			return v, errWhim
		}
		return v, nil
	})
	got, last := 0, error(nil)
	for v, err := range Values(context.Background(), ex, source) {
		if err != nil {
			last = err
			continue
		}
		model.Assert(v.Get() == got, "value %d comes as number %d", v.Get(), got)
		if got++; ends == "left" {
			break
		}
	}
	switch ends {
	case "":
		model.Assert(got == tokens && last == nil, "%d values, error %v", got, last)
	case "left":
		model.Assert(got == 1 && last == nil, "%d values, error %v", got, last)
	case "fails":
		model.Assert(got <= 1 && errors.Is(last, errWhim), "%d values, error %v", got, last)
	}
	closeModel(ex)
}
