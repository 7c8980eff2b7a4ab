// Command peers measures Magpie beside other libraries for tasks: those of Go, and Lace, oneTBB, OpenMP and rayon.
//
//	go run . [-bench fib,sort] [-workers 1,2] [-rounds 5] [-seconds 0.5] [-format text|json]
//
// It is a module of its own, so that nobody who uses Magpie depends on its peers. The drivers of peers in C++ and Rust
// are in the folder drivers. They are compiled when the command begins, if there is a compiler, and the library is
// found. A peer that is not here is listed with the reason. Lace is found by pkg-config:
//
//	PKG_CONFIG_PATH=/where/it/is/lib/pkgconfig go run . -peers serial,lace
//
// Each measurement is a process of its own that does one thing with one peer, checks every answer, and tells the median
// of its repetitions. Peers take turns, so that a machine that drifts favours none. The figures of the table are the
// medians over the rounds.
//
// A driver is called with the names of what it does, the number of workers, the size, and the seconds that it may take:
//
//	driver fib 2 30 0.5
//
// It prints the nanoseconds of one repetition, the median, or exits with a message if it cannot do that or an answer is
// wrong.
package main
