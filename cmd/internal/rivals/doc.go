// Command rivals measures Magpie beside other libraries for tasks: those of Go, and Lace, oneTBB, OpenMP, rayon and
// chili. It also measures loops of real programs beside goroutines.
//
//	go run . [-bench fib,sort] [-workers 1,2] [-rounds 5] [-most 15] [-seconds 0.5] [-format text|json]
//
// It is a module of its own, so that nobody who uses Magpie depends on its rivals. The drivers of rivals in C++ and in
// Rust are in the folder drivers. They are compiled when the command begins, if there is a compiler, and the library is
// found. A rival that is not here is listed with the reason. Lace is found by pkg-config:
//
//	PKG_CONFIG_PATH=/where/it/is/lib/pkgconfig go run . -rivals serial,lace
//
// Each measurement, but for loops, is a process of its own that does one thing with one rival, checks every answer, and
// tells the median of its repetitions. Rivals take turns, so that a machine that drifts favours none. The figures of
// the table are the medians over the rounds.
//
// A median that may be off by more than 10 %, by its 90 % confidence interval, is loose. What is loose has more rounds,
// up to -most, together with what it is compared with. If it is loose after them, it has a mark as ±23 %, in JSON
// "loose" beside "spread", and is worth nothing. Fewer than five rounds have no such interval: their range counts.
//
// # Loops
//
//	go run . -bench loops [-ms 0.1,1,5,20] [-callers main,handler,client8] [-workers 2] [-rounds 3]
//
// A loop is what a program does with the rows of an image, the blocks of a file, the lines of a log, the packages of a
// program, or ten calls for an answer. Those whose names end in -alloc, and types, allocate for each item. A size is
// the milliseconds that one thread took on the machine that perMS in the table is from: the work is the same
// everywhere. It is called from the main goroutine, from eight goroutines, and from handlers of HTTP for one and for
// eight clients that pause for a millisecond between requests. What is timed is the loop alone. With client8 it is the
// whole request. Goroutines of eight handlers wait for a P before their loops begin, and the loops' times do not show
// it. Callers of an executor wait after their loops have begun. An executor takes some of its Ps in the first second
// of several callers, so blocks of client8 are to be longer: -seconds 2.
//
// All rivals of a loop are in one process and have the same data. They take turns by blocks, each with GOMAXPROCS as at
// the start of a program, and with an executor of its own: one that is open raises GOMAXPROCS for goroutines too. In a
// block each caller makes one call whose results are compared with those of one thread, calls that are timed, and
// another that is compared. A block is -seconds long, but has three timed calls of each caller at least.
//
// Goroutines, one for each P with as many items each, are what the others are compared with. The first figures are the
// ratios to them of the p50, by rounds, and of p90 and p99 of the calls of all rounds. With fewer than a hundred calls
// p99 is that of the slowest. A mark beside goroutines is about their p50, and beside others about the ratio of p50.
//
//   - magpie is parallel.ForBlocks on an executor with a zero Config but for Workers; magpie-keep has KeepGOMAXPROCS,
//     and magpie-brief has BriefCallers.
//   - goroutines-locked is goroutines that are locked to their threads, as the workers of an executor are: what the Go
//     runtime takes for that, above all while the collector starts and ends.
//   - goroutine-items is a goroutine for each item, and a semaphore with as much room as Ps.
//   - errgroup and conc are a function for each item, with a limit of as many goroutines as Ps.
//   - magpie-group and errgroup-all are a function for each item, without a limit, as handlers have it.
//
// # Rivals that are no libraries
//
//   - serial is a loop or a recursion on one thread.
//   - frames is the same recursion, but one half is a call through a function value that is stored first: the least
//     that a fork and its join can cost in Go.
//   - walk runs a graph on one thread, with a stack of ready tasks and counters.
//   - goroutines is what one writes without a library.
//   - call is executor.Call, group a Group, and async futures of Async. The figure of magpie beside them is that of a
//     graph of one task that is run again, and in rare-few that of a Group.
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
