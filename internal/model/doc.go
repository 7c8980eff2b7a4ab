// Package model enumerates interleavings of small concurrent programs that are made of the module's real code.
//
// Built with -tags modelcheck, internal/xatomic and internal/park do not go to memory and to the kernel directly: before
// each atomic operation, park and wake they come to [Point], which lets one thread go on at a time and decides which.
// Locks, wait groups and the starts of threads do so in internal/xsync and internal/osthread.
// [Explore] runs a program again and again until every sequence of decisions within its bounds has been taken.
//
// Go's atomics behave as in one sequentially consistent order, so interleavings of atomic operations are all the
// behaviours there are, for programs without data races. Plain words that one thread writes and others read without a
// lock are therefore checked for races as well, with vector clocks ([Read], [Write]): the baton that threads pass would
// hide those from the race detector. They are those of package xatomic: what is in a queue's slots, join counters, spans,
// and every xatomic.Plain. Left to the race detector, on real threads, are words under a lock and those of a worker that
// only its own thread comes to, and the thread that takes its place.
//
// What is found: a failed assertion or panic, a data race, a deadlock (nobody can go on, for example because a wake-up
// was lost), a livelock (an execution that does not end). A failure comes with the decisions that lead to it, which
// [Config.Replay] takes again, and with a trace.
//
// What is not shown: executions with more preemptions than the bound, more threads and operations than the program has,
// and the kernel's own futex.
package model
