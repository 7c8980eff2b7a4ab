package parallel_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

// Elements in the order of keys that have to be parsed. The keys are made first, once for each element.
func ExampleSortFunc_keys() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	type keyed struct {
		key  time.Duration
		text string
	}
	sorted := func(texts []string) ([]keyed, error) {
		ctx, o := context.Background(), parallel.Options{Executor: ex}
		all := make([]keyed, len(texts))
		err := parallel.MapErr(ctx, o, all, texts, func(_ context.Context, text string) (keyed, error) {
			key, err := time.ParseDuration(text)
			return keyed{key, text}, err
		})
		if err != nil {
			return nil, err
		}
		return all, parallel.SortFunc(ctx, o, all, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	}
	all, err := sorted([]string{"1h", "90s", "3ms", "1m"})
	for _, x := range all {
		fmt.Println(x.text)
	}
	fmt.Println(err)
	_, err = sorted([]string{"1m", "tomorrow"})
	fmt.Println(err)
	// Output:
	// 3ms
	// 1m
	// 90s
	// 1h
	// <nil>
	// time: invalid duration "tomorrow"
}
