package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
)

// tourNotes follow the table of the tour: what to make of it, and how to read it.
func tourNotes(rows []bench.Row) []string {
	notes := []string{
		"How to read it: ns/task is the time of a whole run divided by its tasks; vs serial is the speed compared with",
		"one goroutine that walks the same graph. The tasks of chain, btree, dag and fan do next to nothing, so their",
		"rows show what scheduling a task costs: less is better. Only the tasks of matmul are real work, which more",
		"workers finish sooner. Full sizes: wsbench run chain btree dag fan matmul. Programs that fork, sort and loop:",
		"wsbench run fib sort mandelbrot -engine magpie,serial. Everything else: wsbench run -h.",
	}
	if short := conclusion(rows); short != "" {
		notes = append([]string{short, ""}, notes...)
	}
	return notes
}

// conclusion says the result of a tour, with the most workers that it had. It is "" if the tour lacks an engine or has
// wrong answers.
func conclusion(rows []bench.Row) string {
	workers := 0
	for _, r := range rows {
		n, _ := strconv.Atoi(r.Value("workers"))
		workers = max(workers, n)
	}
	median := func(workload, engine string) float64 {
		return bench.StatOf(slices.DeleteFunc(slices.Clone(rows), func(r bench.Row) bool {
			return r.Value("workload") != workload || r.Value("engine") != engine ||
				engine != "serial" && r.Value("workers") != strconv.Itoa(workers)
		}), "ns/task").Median
	}
	// A task of these graphs does next to nothing.
	costs := func(engine string) (least, most float64) {
		least, most = math.Inf(1), 0
		for _, w := range []string{"chain", "btree", "dag", "fan"} {
			m := median(w, engine)
			least, most = min(least, m), max(most, m) // NaN if there is none
		}
		return least, most
	}
	least, most := costs("magpie")
	leastGo, mostGo := costs("goroutines")
	faster := median("matmul", "serial") / median("matmul", "magpie")
	if math.IsNaN(least + leastGo + faster) {
		return ""
	}
	f := bench.Significant
	return fmt.Sprintf("In short, with %d workers: a task costs %s to %s ns, on goroutines %s to %s; matmul is %s times "+
		"as fast as serial.", workers, f(least), f(most), f(leastGo), f(mostGo), f(faster))
}
