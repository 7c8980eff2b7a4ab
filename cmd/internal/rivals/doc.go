// Command rivals measures Magpie beside other libraries for tasks: those of Go, and Lace, oneTBB, OpenMP, rayon and
// chili.
//
//	go run . [-bench fib,sort] [-workers 1,2] [-rounds 5] [-most 15] [-seconds 0.5] [-format text|json]
//
// It is a module of its own, so that nobody who uses Magpie depends on its rivals. The drivers of rivals in C++ and in
// Rust are in the folder drivers. They are compiled when the command begins, if there is a compiler, and the library is
// found. A rival that is not here is listed with the reason. Lace is found by pkg-config:
//
//	PKG_CONFIG_PATH=/where/it/is/lib/pkgconfig go run . -rivals serial,lace
//
// Each measurement is a process of its own that does one thing with one rival, checks every answer, and tells the
// median of its repetitions. Rivals take turns, so that a machine that drifts favours none. The figures of the table
// are the medians over the rounds.
//
// A median that may be off by more than 10 %, by its 90 % confidence interval, is loose. What is loose has more rounds,
// up to -most, together with what it is compared with. If it is loose after them, it has a mark as ±23 %, in JSON
// "loose" beside "spread", and is worth nothing. Fewer than five rounds have no such interval: their range counts.
//
// # Rivals that are no libraries
//
//   - serial is a loop or a recursion on one thread.
//   - frames is the same recursion, but one half is a call through a function value that is stored first: the least
//     that a fork and its join can cost in Go.
//   - walk runs a graph on one thread, with a stack of ready tasks and counters.
//   - goroutines is what one writes without a library.
//   - magpie-first is the first sort of a new executor. The figure of magpie is that of repeated sorts, each of which
//     finds the memory that the one before needed. The other libraries sort in place.
//
// Graphs of oneTBB are flow graphs. rayon has no graphs: its driver counts predecessors down by hand. Nor has OpenMP: a
// task depends on others, or, in btree, starts them, and each run makes the tasks anew. rayon compares floats by
// total_cmp. Strings are sorted as slices of texts in every language, and not copied.
//
// # Rivals that are missing
//
// Taskflow and libfork have no drivers: Debian 12 has no package of them, where a compiler would find them without a
// path. go-taskflow is not a rival, as the module proxy refused it when the other rivals were added.
//
// # Drivers
//
// A driver is called with the names of what it does, the number of workers, the size, and the seconds that it may take:
//
//	driver fib 2 30 0.5
//
// It prints the nanoseconds of one repetition, the median, or exits with a message if it cannot do that or an answer is
// wrong.
package main
