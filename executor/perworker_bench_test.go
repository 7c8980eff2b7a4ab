package executor_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/stretchr/testify/require"
)

// BenchmarkPerWorkerLoop sums 10^8 numbers, with PerWorker.Local once for each range, and with an array that is padded
// by hand and indexed by worker. The two take turns. "local/array" is the median of the ratios of two turns next to
// each other.
func BenchmarkPerWorkerLoop(b *testing.B) {
	const n = 100_000_000
	ex := newExecutor(b, executor.Config{Workers: 2})
	o := parallel.Options{Executor: ex}
	type padded struct {
		_ [128]byte
		v uint64
		_ [128]byte
	}
	array := make([]padded, ex.WorkersAndSpares())
	local := executor.NewPerWorker[uint64](ex, nil)
	sum := func(at *uint64, lo, hi int) {
		v := uint64(0)
		for i := lo; i < hi; i++ {
			v += uint64(i) ^ v>>1
		}
		*at += v
	}
	turn := func(body func(lo, hi int)) float64 {
		begun := time.Now()
		require.NoError(b, parallel.ForBlocks(context.Background(), o, 0, n, body))
		return float64(time.Since(begun))
	}
	var ratios, alone []float64
	for i := 0; b.Loop(); i++ {
		var times [2]float64
		for j := range 2 {
			if k := (i + j) % 2; k == 0 {
				times[k] = turn(func(lo, hi int) { sum(local.Local(), lo, hi) })
			} else {
				times[k] = turn(func(lo, hi int) { sum(&array[ex.WorkerIndex()].v, lo, hi) })
			}
		}
		ratios, alone = append(ratios, times[0]/times[1]), append(alone, times[1])
	}
	slices.Sort(ratios)
	slices.Sort(alone)
	b.ReportMetric(ratios[len(ratios)/2], "local/array")
	b.ReportMetric(alone[len(alone)/2]/n, "ns/element")
}

// BenchmarkPerWorker measures what one lookup costs.
func BenchmarkPerWorker(b *testing.B) {
	ex := newExecutor(b, executor.Config{Workers: 2})
	p := executor.NewPerWorker[int](ex, nil)
	in := func(b *testing.B, f func(s *executor.Scope)) {
		require.NoError(b, ex.Run(context.Background(), executor.NewJob("b", func(s *executor.Scope) error {
			f(s)
			return nil
		})))
	}
	b.Run("Local", func(b *testing.B) {
		in(b, func(*executor.Scope) {
			for b.Loop() {
				*p.Local()++
			}
		})
	})
	b.Run("In", func(b *testing.B) {
		in(b, func(s *executor.Scope) {
			for b.Loop() {
				*p.In(s)++
			}
		})
	})
	b.Run("Do", func(b *testing.B) {
		in(b, func(*executor.Scope) {
			for b.Loop() {
				p.Do(func(v *int) { *v++ })
			}
		})
	})
	b.Run("Do/outside", func(b *testing.B) {
		for b.Loop() {
			p.Do(func(v *int) { *v++ })
		}
	})
}
