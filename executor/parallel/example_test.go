package parallel_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

func Example() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	on, ctx := parallel.On{Executor: ex}, context.Background()

	squares := make([]int, 1000)
	if err := parallel.For(ctx, on, 0, len(squares), func(i int) { squares[i] = i * i }); err != nil {
		log.Fatal(err)
	}
	sum, err := parallel.Reduce(ctx, on, squares, func(a, b int) int { return a + b })
	fmt.Println(sum, err)
	first, err := parallel.Find(ctx, on, squares, func(x int) bool { return x > 1000 })
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
	counts, err := parallel.Fold(context.Background(), parallel.On{Executor: ex}, lines,
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

func ExampleForEach() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	err = parallel.ForEach(context.Background(), parallel.On{Executor: ex}, strings.SplitSeq("a,b,,d", ","),
		func(s string) error {
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
	err = parallel.Map(context.Background(), parallel.On{Executor: ex}, lengths, names, func(s string) int {
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
	on, ctx := parallel.On{Executor: ex}, context.Background()
	lengths := []int{3, 1, 4, 1, 5}
	ends, starts := make([]int, 5), make([]int, 5)
	add := func(a, b int) int { return a + b }
	fmt.Println(parallel.Scan(ctx, on, ends, lengths, add), ends)
	fmt.Println(parallel.ExclusiveScan(ctx, on, starts, lengths, 0, add), starts)
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
	err = parallel.Sort(context.Background(), parallel.On{Executor: ex}, s)
	fmt.Println(slices.IsSorted(s), err)
	// Output: true <nil>
}
