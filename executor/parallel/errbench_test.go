package parallel_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

func shuffled(x uint64, steps int) uint64 {
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// chunk is the number of elements after which a loop without a Grain looks whether others have nothing to do.
const chunk = 64

// BenchmarkErr compares loops whose bodies may fail, and do not, with loops whose bodies cannot. It runs both in turn,
// and reports the medians of the times for an element, by how much the first is longer, and the difference for a chunk
// of elements. A body works for some steps of a generator of random numbers; with 0 steps it does nothing.
func BenchmarkErr(b *testing.B) {
	ex, err := executor.New(executor.Config{Workers: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer ex.Close()
	ctx := context.Background()
	o := parallel.Options{Executor: ex}
	for _, steps := range []int{0, 5, 20} {
		n := 400_000 / (1 + steps)
		s := make([]uint64, n)
		work := func(x uint64) uint64 { return shuffled(x, steps) }
		loops := []struct {
			name       string
			plain, err func() error
		}{
			{"For", func() error {
				return parallel.For(ctx, o, 0, n, func(i int) { s[i] = work(s[i]) })
			}, func() error {
				return parallel.ForErr(ctx, o, 0, n, func(_ context.Context, i int) error {
					s[i] = work(s[i])
					return nil
				})
			}},
			{"ForBlocks", func() error {
				return parallel.ForBlocks(ctx, o, 0, n, func(lo, hi int) {
					for i := lo; i < hi; i++ {
						s[i] = work(s[i])
					}
				})
			}, func() error {
				return parallel.ForBlocksErr(ctx, o, 0, n, func(_ context.Context, lo, hi int) error {
					for i := lo; i < hi; i++ {
						s[i] = work(s[i])
					}
					return nil
				})
			}},
			{"ForSlice", func() error {
				return parallel.ForSlice(ctx, o, s, func(_ int, x *uint64) { *x = work(*x) })
			}, func() error {
				return parallel.ForSliceErr(ctx, o, s, func(_ context.Context, _ int, x *uint64) error {
					*x = work(*x)
					return nil
				})
			}},
			{"Map", func() error {
				return parallel.Map(ctx, o, s, s, func(x uint64) uint64 { return work(x) })
			}, func() error {
				return parallel.MapErr(ctx, o, s, s, func(_ context.Context, x uint64) (uint64, error) {
					return work(x), nil
				})
			}},
			{"Reduce", func() error {
				_, err := parallel.Reduce(ctx, o, s, func(a, b uint64) uint64 { return work(a ^ b) })
				return err
			}, func() error {
				_, err := parallel.ReduceErr(ctx, o, s, func(_ context.Context, a, b uint64) (uint64, error) {
					return work(a ^ b), nil
				})
				return err
			}},
			{"Scan", func() error {
				return parallel.Scan(ctx, o, s, s, func(a, b uint64) uint64 { return work(a ^ b) })
			}, func() error {
				return parallel.ScanErr(ctx, o, s, s, func(_ context.Context, a, b uint64) (uint64, error) {
					return work(a ^ b), nil
				})
			}},
		}
		for _, l := range loops {
			b.Run(fmt.Sprintf("%s/steps=%d", l.name, steps), func(b *testing.B) {
				var times [2][]float64
				for b.Loop() {
					for i, f := range []func() error{l.plain, l.err} {
						start := time.Now()
						if err := f(); err != nil {
							b.Fatal(err)
						}
						times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/float64(n))
					}
				}
				slices.Sort(times[0])
				slices.Sort(times[1])
				plain, failing := times[0][len(times[0])/2], times[1][len(times[1])/2]
				b.ReportMetric(plain, "ns/element")
				b.ReportMetric(failing, "ns/element-Err")
				b.ReportMetric(100*(failing/plain-1), "%dearer")
				b.ReportMetric(chunk*(failing-plain), "ns-dearer/chunk")
			})
		}
	}
}
