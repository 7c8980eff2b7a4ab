package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

func Example() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	o, ctx := parallel.Options{Executor: ex}, context.Background()

	squares := make([]int, 1000)
	if err := parallel.For(ctx, o, 0, len(squares), func(i int) { squares[i] = i * i }); err != nil {
		log.Fatal(err)
	}
	sum, err := parallel.Reduce(ctx, o, squares, func(a, b int) int { return a + b })
	fmt.Println(sum, err)
	first, err := parallel.IndexFunc(ctx, o, squares, func(x int) bool { return x > 1000 })
	fmt.Println(first, err)
	// Output:
	// 332833500 <nil>
	// 32 <nil>
}

func ExampleFold() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	lines := []string{"the pie and the jay", "the jackdaw", "a jay"}
	counts, err := parallel.Fold(context.Background(), parallel.Options{Executor: ex}, lines,
		func() map[string]int { return map[string]int{} },
		func(counts map[string]int, line string) map[string]int {
			for word := range strings.FieldsSeq(line) {
				counts[word]++
			}
			return counts
		},
		func(left, right map[string]int) map[string]int {
			for word, n := range right {
				left[word] += n
			}
			return left
		})
	fmt.Println(counts, err)
	// Output: map[a:1 and:1 jackdaw:1 jay:2 pie:1 the:3] <nil>
}

func ExampleForEachErr() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	err = parallel.ForEachErr(context.Background(), parallel.Options{Executor: ex}, strings.SplitSeq("a,b,,d", ","),
		func(_ context.Context, s string) error {
			if s == "" {
				return fmt.Errorf("an empty field")
			}
			return nil
		})
	fmt.Println(err)
	// Output: an empty field
}

func ExampleMap() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	names := []string{"pica", "corvus", "garrulus"}
	lengths := make([]int, len(names))
	err = parallel.Map(context.Background(), parallel.Options{Executor: ex}, lengths, names, func(s string) int {
		return len(s)
	})
	fmt.Println(lengths, err)
	// Output: [4 6 8] <nil>
}

func ExampleScan() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	o, ctx := parallel.Options{Executor: ex}, context.Background()
	lengths := []int{3, 1, 4, 1, 5}
	ends, starts := make([]int, 5), make([]int, 5)
	add := func(a, b int) int { return a + b }
	fmt.Println(parallel.Scan(ctx, o, ends, lengths, add), ends)
	fmt.Println(parallel.ExclusiveScan(ctx, o, starts, lengths, 0, add), starts)
	// Output:
	// <nil> [3 4 8 9 14]
	// <nil> [0 3 4 8 9]
}

func ExampleSort() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	s := make([]int, 100_000)
	for i := range s {
		s[i] = i * 7919 % len(s)
	}
	err = parallel.Sort(context.Background(), parallel.Options{Executor: ex}, s)
	fmt.Println(slices.IsSorted(s), err)
	// Output: true <nil>
}

func ExampleForErr() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	files := []string{"a.txt", "b.txt", "", "d.txt"}
	// One file a piece: after an error no worker begins another.
	o := parallel.Options{Executor: ex, Grain: 1}
	err = parallel.ForErr(context.Background(), o, 0, len(files), func(ctx context.Context, i int) error {
		if files[i] == "" {
			return fmt.Errorf("file %d has no name", i)
		}
		return ctx.Err() // ends when another call has failed
	})
	fmt.Println(err)
	// Output: file 2 has no name
}

func ExampleMapReduceErr() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	parse := func(_ context.Context, s string) (int, error) { return strconv.Atoi(s) }
	add := func(_ context.Context, a, b int) (int, error) { return a + b, nil }
	o, ctx := parallel.Options{Executor: ex}, context.Background()
	fmt.Println(parallel.MapReduceErr(ctx, o, []string{"3", "1", "4"}, parse, add))
	_, err = parallel.MapReduceErr(ctx, o, []string{"3", "one", "4"}, parse, add)
	fmt.Println(errors.Is(err, strconv.ErrSyntax))
	// Output:
	// 8 <nil>
	// true
}

func ExampleOptions_workers() {
	ex, err := executor.New(executor.Config{Workers: 8})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	// The database takes two queries at a time; other work has the other workers.
	o := parallel.Options{Executor: ex, Grain: 1, Workers: 2}
	var queries, most atomic.Int32
	err = parallel.ForErr(context.Background(), o, 0, 100, func(context.Context, int) error {
		if n := queries.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer queries.Add(-1)
		return nil
	})
	fmt.Println(most.Load() <= 2, err)
	// Output: true <nil>
}

func ExampleFilter() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	o, ctx := parallel.Options{Executor: ex}, context.Background()
	s := []int{3, 1, 4, 1, 5, 9, 2, 6}
	fmt.Println(parallel.Filter(ctx, o, s, func(x int) bool { return x%2 == 1 }))
	fmt.Println(parallel.FlatMap(ctx, o, s[:3], func(to []string, x int) []string {
		for range x {
			to = append(to, strconv.Itoa(x))
		}
		return to
	}))
	// Output:
	// [3 1 1 5 9] <nil>
	// [3 3 3 1 4 4 4 4] <nil>
}

func ExampleForTiles() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	const rows, cols = 100, 200
	var a [rows][cols]int
	var b [cols][rows]int
	a[3][5] = 7
	// Both the rows of a tile in a and its columns in b fit a cache.
	err = parallel.ForTiles(context.Background(), parallel.Options{Executor: ex}, parallel.Tile{RowHi: rows, ColHi: cols},
		32, 32, func(t parallel.Tile) {
			for r := t.RowLo; r < t.RowHi; r++ {
				for c := t.ColLo; c < t.ColHi; c++ {
					b[c][r] = a[r][c]
				}
			}
		})
	fmt.Println(b[5][3], err)
	// Output: 7 <nil>
}

// A volume of three dimensions: its planes lie one below the other in one grid. The height of a tile divides that of a
// plane, so a tile is in one plane.
func ExampleForTiles_volume() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	const planes, rows, cols = 4, 64, 100
	var volume [planes][rows][cols]int
	err = parallel.ForTiles(context.Background(), parallel.Options{Executor: ex},
		parallel.Tile{RowHi: planes * rows, ColHi: cols}, 16, 32, func(t parallel.Tile) {
			for r := t.RowLo; r < t.RowHi; r++ {
				row := &volume[r/rows][r%rows]
				for c := t.ColLo; c < t.ColHi; c++ {
					row[c] = r/rows + r%rows + c
				}
			}
		})
	fmt.Println(volume[3][63][99], err)
	// Output: 165 <nil>
}

func ExampleReduceFor() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	o, ctx := parallel.Options{Executor: ex}, context.Background()
	x, y := []int{1, 2, 3}, []int{4, 5, 6}
	add := func(a, b int) int { return a + b }
	fmt.Println(parallel.ReduceFor(ctx, o, 0, len(x), func(i int) int { return x[i] * y[i] }, add))
	fmt.Println(parallel.MaxIndex(ctx, o, y))
	fmt.Println(parallel.Map2(ctx, o, x, x, y, add), x)
	fmt.Println(parallel.ForStep(ctx, o, 0, len(x), 2, func(i int) { x[i] = 0 }), x)
	// Output:
	// 32 <nil>
	// 2 <nil>
	// <nil> [5 7 9]
	// <nil> [0 7 0]
}

func ExampleMapScan() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	words := []string{"pica", "corvus", "garrulus"}
	ends := make([]int, len(words))
	err = parallel.MapScan(context.Background(), parallel.Options{Executor: ex}, ends, words,
		func(s string) int { return len(s) }, func(a, b int) int { return a + b })
	fmt.Println(ends, err)
	// Output: [4 10 18] <nil>
}
