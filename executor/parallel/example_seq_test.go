package parallel_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"strconv"
	"strings"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

// Lines are measured in parallel while a loop ranges over the results, in the order of the lines.
func ExampleMapSeq() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	in := bufio.NewScanner(strings.NewReader("one\nfor\nsorrow\ntwo\n"))
	lines := func(yield func(string) bool) {
		for in.Scan() && yield(in.Text()) {
		}
	}
	o := parallel.Options{Executor: ex}
	for n, err := range parallel.MapSeq(context.Background(), o, lines, func(line string) int { return len(line) }) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(n)
	}
	fmt.Println(in.Err())
	// Output:
	// 3
	// 3
	// 6
	// 3
	// <nil>
}

// Numbers are read until the first that is none. MaxAhead bounds how many texts are taken before that is noticed.
func ExampleMapSeqErr() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	o := parallel.Options{Executor: ex, MaxAhead: 2}
	texts := strings.FieldsSeq("1 2 three 4 5 6")
	for n, err := range parallel.MapSeqErr(context.Background(), o, texts,
		func(_ context.Context, text string) (int, error) { return strconv.Atoi(text) }) {
		if errors.Is(err, strconv.ErrSyntax) {
			fmt.Println("stopped:", err)
			break
		}
		_ = n // 1 and 2, unless the failure has come first
	}
	// Output: stopped: strconv.Atoi: parsing "three": invalid syntax
}
