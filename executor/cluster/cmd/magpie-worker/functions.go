package main

import (
	"context"
	"strings"

	"github.com/magpie-go/magpie/executor/cluster"
)

// functions registers what this worker can do. A function may run more than once for one call, so it must not matter if
// it does. Its inputs and its result are what encoding/json can write.
func functions() *cluster.Registry {
	reg := cluster.NewRegistry()
	cluster.Register(reg, "words", func(_ context.Context, text string) (map[string]int, error) {
		counts := map[string]int{}
		for _, word := range strings.Fields(text) {
			counts[strings.ToLower(word)]++
		}
		return counts, nil
	})
	cluster.RegisterAll(reg, "merge", func(_ context.Context, all []map[string]int) (map[string]int, error) {
		sum := map[string]int{}
		for _, counts := range all {
			for word, n := range counts {
				sum[word] += n
			}
		}
		return sum, nil
	})
	return reg
}
