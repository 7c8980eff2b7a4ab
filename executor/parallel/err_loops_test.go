package parallel_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/executor/parallel"
)

// A span is the sum of some elements: those with indices from lo to hi-1. Only neighbours can be added.
type span struct{ lo, hi int }

func spans(n int) []span {
	s := make([]span, n)
	for i := range s {
		s[i] = span{i, i + 1}
	}
	return s
}

// sums returns what a scan of spans(n) leaves, inclusive or exclusive.
func sums(n int, inclusive bool) []span {
	s := make([]span, n)
	for i := range s {
		s[i] = span{0, i + 1}
		if !inclusive {
			s[i] = span{-1, i}
		}
	}
	return s
}

// A check fails, or does not, for an index.
type check func(ctx context.Context, i int) error

// add returns a function that adds spans, and calls f with the index where they meet.
func (f check) add() func(ctx context.Context, a, b span) (span, error) {
	return func(ctx context.Context, a, b span) (span, error) {
		if a.hi != b.lo {
			panic(fmt.Sprintf("%v and %v are added", a, b))
		}
		if err := f(ctx, b.lo); err != nil {
			return span{}, err
		}
		return span{a.lo, b.hi}, nil
	}
}

// A failing is a function of the package whose functions may fail.
type failing struct {
	// call calls it for n elements, with functions that call f for the index of each, at least once. It returns a
	// result that depends on n alone.
	call func(ctx context.Context, o parallel.Options, n int, f check) (any, error)
	want func(n int) any
	// begin and end are how many elements at the beginning and at the end f is not called for.
	begin, end int
	alone      bool // with a Grain of 1, one worker calls f for all
}

func ones(n int) any { return slices.Repeat([]int{1}, n) }

func indices(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// hits calls loop with a function that counts its calls for each index, after it has called f.
func hits(n int, f check, loop func(hit check) error) (any, error) {
	s := make([]int, n)
	err := loop(func(ctx context.Context, i int) error {
		if err := f(ctx, i); err != nil {
			return err
		}
		s[i]++
		return nil
	})
	return s, err
}

// fails are all functions of the package with functions that may fail.
var fails = map[string]failing{
	"ForErr": {want: ones, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return hits(n, f, func(hit check) error {
			return parallel.ForErr(ctx, o, 0, n, hit)
		})
	}},
	"ForStepErr": {want: ones, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return hits(n, f, func(hit check) error {
			return parallel.ForStepErr(ctx, o, 5, 5-3*n, -3, func(ctx context.Context, i int) error {
				return hit(ctx, (5-i)/3)
			})
		})
	}},
	"ForBlocksErr": {want: ones, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return hits(n, f, func(hit check) error {
			return parallel.ForBlocksErr(ctx, o, 0, n, func(ctx context.Context, lo, hi int) error {
				for i := lo; i < hi; i++ {
					if err := hit(ctx, i); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}},
	"ForTilesErr": {want: ones, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return hits(n, f, func(hit check) error {
			grid := parallel.Tile{RowLo: -3, RowHi: 0, ColLo: 7, ColHi: 7 + (n+2)/3}
			return parallel.ForTilesErr(ctx, o, grid, 2, 5, func(ctx context.Context, t parallel.Tile) error {
				for r := t.RowLo; r < t.RowHi; r++ {
					for c := t.ColLo; c < t.ColHi; c++ {
						if i := (r+3)*((n+2)/3) + c - 7; i < n {
							if err := hit(ctx, i); err != nil {
								return err
							}
						}
					}
				}
				return nil
			})
		})
	}},
	"ForSliceErr": {want: ones, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		s := make([]int, n)
		return s, parallel.ForSliceErr(ctx, o, s, func(ctx context.Context, i int, x *int) error {
			*x++
			return f(ctx, i)
		})
	}},
	"ForEachErr": {want: ones, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return hits(n, f, func(hit check) error {
			return parallel.ForEachErr(ctx, o, count(n), hit)
		})
	}},
	"MapSeqErr": {
		want: func(n int) any { return indices(n) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			all := []int{}
			for i, err := range parallel.MapSeqErr(ctx, o, count(n), func(ctx context.Context, i int) (int, error) {
				return i, f(ctx, i)
			}) {
				if err != nil {
					return all, err
				}
				all = append(all, i)
			}
			return all, nil
		},
	},
	"MapErr": {
		want: func(n int) any { return indices(n) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			dst := make([]int, n)
			return dst, parallel.MapErr(ctx, o, dst, spans(n), func(ctx context.Context, x span) (int, error) {
				return x.lo, f(ctx, x.lo)
			})
		},
	},
	"Map2Err": {
		want: func(n int) any { return spans(n) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			dst := make([]span, n)
			return dst, parallel.Map2Err(ctx, o, dst, indices(n), indices(n + 1)[1:],
				func(ctx context.Context, a, b int) (span, error) { return span{a, b}, f(ctx, a) })
		},
	},
	"FilterErr": {
		want: func(n int) any { return slices.DeleteFunc(indices(n), func(i int) bool { return i%3 == 0 }) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			s, err := parallel.FilterErr(ctx, o, indices(n), func(ctx context.Context, i int) (bool, error) {
				return i%3 != 0, f(ctx, i)
			})
			return append([]int{}, s...), err
		},
	},
	"FlatMapErr": {
		want: func(n int) any {
			s := []int{}
			for i := range n {
				s = append(s, slices.Repeat([]int{i}, i%3)...)
			}
			return s
		},
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			some := func(ctx context.Context, to []int, i int) ([]int, error) {
				for range i % 3 {
					to = append(to, i)
				}
				return to, f(ctx, i)
			}
			s, err := parallel.FlatMapErr(ctx, o, indices(n), some)
			return append([]int{}, s...), err
		},
	},
	"ReduceErr": {begin: 1, want: whole, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return parallel.ReduceErr(ctx, o, spans(n), f.add())
	}},
	"MapReduceErr": {want: whole, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return parallel.MapReduceErr(ctx, o, indices(n), func(ctx context.Context, i int) (span, error) {
			return span{i, i + 1}, f(ctx, i)
		}, f.add())
	}},
	"ReduceForErr": {want: whole, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return parallel.ReduceForErr(ctx, o, 0, n, func(ctx context.Context, i int) (span, error) {
			return span{i, i + 1}, f(ctx, i)
		}, f.add())
	}},
	"FoldErr": {want: whole, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		add := f.add()
		return parallel.FoldErr(ctx, o, indices(n), func() span { return span{} },
			func(ctx context.Context, acc span, i int) (span, error) {
				if acc == (span{}) {
					return span{i, i + 1}, f(ctx, i)
				}
				return add(ctx, acc, span{i, i + 1})
			},
			func(ctx context.Context, left, right span) (span, error) {
				if right == (span{}) {
					return left, nil
				}
				return add(ctx, left, right)
			})
	}},
	"ScanErr": {
		begin: 1, alone: true,
		want: func(n int) any { return sums(n, true) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			dst := make([]span, n)
			return dst, parallel.ScanErr(ctx, o, dst, spans(n), f.add())
		},
	},
	"ExclusiveScanErr": {
		end: 1, alone: true,
		want: func(n int) any { return sums(n, false) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			s := spans(n) // in place
			return s, parallel.ExclusiveScanErr(ctx, o, s, s, span{-1, 0}, f.add())
		},
	},
	"MapScanErr": {
		want: func(n int) any { return sums(n, true) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			dst := make([]span, n)
			return dst, parallel.MapScanErr(ctx, o, dst, indices(n), func(ctx context.Context, i int) (span, error) {
				return span{i, i + 1}, f(ctx, i)
			}, f.add())
		},
	},
	"ExclusiveMapScanErr": {
		want: func(n int) any { return sums(n, false) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			s := spans(n)
			return s, parallel.ExclusiveMapScanErr(ctx, o, s, s, span{-1, 0},
				func(ctx context.Context, x span) (span, error) { return x, f(ctx, x.lo) }, f.add())
		},
	},
	"IndexFuncErr": {
		want: func(int) any { return -1 },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			return parallel.IndexFuncErr(ctx, o, indices(n), func(ctx context.Context, i int) (bool, error) {
				return false, f(ctx, i)
			})
		},
	},
	"ContainsFuncErr": {
		want: func(int) any { return false },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			return parallel.ContainsFuncErr(ctx, o, indices(n), func(ctx context.Context, i int) (bool, error) {
				return false, f(ctx, i)
			})
		},
	},
}

func whole(n int) any { return span{0, n} }

func fine(context.Context, int) error { return nil }
