package pipeline_test

import (
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor/pipeline"
)

// BenchmarkStages is the cost of a token in a stage that does next to nothing: an int goes through three stages.
func BenchmarkStages(b *testing.B) {
	for _, workers := range []int{1, 2} {
		for _, kind := range []struct {
			name string
			make func(b *testing.B, tokens int) *pipeline.Pipeline
		}{
			{"untyped", untypedStages},
			{"typed", typedStages},
		} {
			b.Run(fmt.Sprintf("%s/workers=%d", kind.name, workers), func(b *testing.B) {
				ex := newExecutor(b, workers)
				const tokens = 20_000
				p := kind.make(b, tokens)
				b.ReportAllocs()
				for b.Loop() {
					if err := ex.Run(b.Context(), p); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tokens*3), "ns/stage")
			})
		}
	}
}

const benchLines = 8

func untypedStages(b *testing.B, tokens int) *pipeline.Pipeline {
	values := make([]int, benchLines)
	p, err := pipeline.New("untyped", benchLines,
		pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
			if t.Number() == tokens {
				t.Stop()
				return nil
			}
			values[t.Line()] = t.Number()
			return nil
		}},
		pipeline.Stage{Run: func(t *pipeline.Token) error { values[t.Line()] *= 3; return nil }},
		pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
			if values[t.Line()] != 3*t.Number() {
				return errTest
			}
			return nil
		}})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func typedStages(b *testing.B, tokens int) *pipeline.Pipeline {
	f := pipeline.Map(pipeline.Source("typed", benchLines, count(tokens)), pipeline.Parallel,
		func(_ *pipeline.Token, v int) (int, error) { return 3 * v, nil })
	p, err := pipeline.Sink(f, pipeline.Serial, func(t *pipeline.Token, v int) error {
		if v != 3*t.Number() {
			return errTest
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return p
}
