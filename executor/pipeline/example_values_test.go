package pipeline_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"slices"
	"strconv"
	"strings"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pipeline"
)

// Results are ranged over while the pipeline runs, and the loop is left when it has seen enough.
func ExampleValues() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	endless := func(yield func(int) bool) {
		defer fmt.Println("the source has returned")
		for n := 1; yield(n); n++ {
		}
	}
	square := func(_ *pipeline.Token, n int) (int, error) { return n * n, nil }
	squares := pipeline.Map(pipeline.SourceSeq("squares", 0, endless), pipeline.Parallel, square)
	for n, err := range pipeline.Values(context.Background(), ex, squares) {
		if err != nil {
			log.Fatal(err)
		}
		if n > 20 {
			break
		}
		fmt.Println(n)
	}
	fmt.Println("the run has ended")
	// Output:
	// 1
	// 4
	// 9
	// 16
	// the source has returned
	// the run has ended
}

// A sequence of values and errors is the source: lines of a file that may fail to be read.
func ExampleSourceSeq2() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	in := bufio.NewScanner(strings.NewReader("3\n1\n2\n"))
	lines := pipeline.SourceSeq2("numbers", 0, func(yield func(string, error) bool) {
		for in.Scan() {
			if !yield(in.Text(), nil) {
				return
			}
		}
		if err := in.Err(); err != nil {
			yield("", err)
		}
	})
	numbers := pipeline.Map(lines, pipeline.Parallel, func(_ *pipeline.Token, line string) (int, error) {
		return strconv.Atoi(line)
	})
	fmt.Println(pipeline.Collect(context.Background(), ex, numbers))
	// Output: [3 1 2] <nil>
}

// Large values are made one at a time: there are never more than one in each line and one that is to enter.
func ExampleFlow_MaxAhead() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	pictures := func(yield func([]byte) bool) {
		for i := range 10 {
			if !yield(slices.Repeat([]byte{byte(i)}, 8<<20)) {
				return
			}
		}
	}
	sum := func(_ *pipeline.Token, picture []byte) (sum int, err error) {
		for _, b := range picture {
			sum += int(b)
		}
		return sum, nil
	}
	sums := pipeline.Map(pipeline.SourceSeq("sums", 2, pictures).MaxAhead(1), pipeline.Parallel, sum)
	all, err := pipeline.Collect(context.Background(), ex, sums)
	fmt.Println(len(all), all[9]>>20, err)
	// Output: 10 72 <nil>
}
