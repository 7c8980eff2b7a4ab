// Package living knows the executors of the process that have not been closed. When a test hangs, what it hangs in is
// often an executor to which the test gives no access.
package living

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
)

// A Dumper writes its state.
type Dumper interface{ Dump(out io.Writer) error }

var (
	mu      sync.Mutex // guards what follows
	entries = make(map[uint64]Dumper)
	latest  uint64
)

// Enter adds d until leave is called.
//
// Any thread.
func Enter(d Dumper) (leave func()) {
	mu.Lock()
	defer mu.Unlock()
	latest++
	number := latest
	entries[number] = d
	return func() {
		mu.Lock()
		defer mu.Unlock()
		delete(entries, number)
	}
}

// Dump writes the state of all that live, oldest first.
//
// Any thread.
func Dump(out io.Writer) {
	mu.Lock()
	all := maps.Clone(entries)
	mu.Unlock()
	for _, number := range slices.Sorted(maps.Keys(all)) {
		if err := all[number].Dump(out); err != nil {
			fmt.Fprintf(out, "no state: %v\n", err)
		}
	}
}
