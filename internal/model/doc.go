// Package model enumerates interleavings of small concurrent programs that are made of the module's real code.
//
// Under -tags modelcheck, internal/xatomic and internal/park do not access memory and the kernel directly. Before each
// atomic operation, park and wake they call [Point], which lets one thread go on at a time and decides which. Locks,
// wait groups and the starts of threads do the same in internal/xsync and internal/osthread. [Explore] runs a program
// again and again until every order of operations that depend on each other was taken, within its bounds.
//
// Go's atomics behave as in one sequentially consistent order. So for programs without data races the interleavings of
// atomic operations are all the behaviours there are. Plain words that one thread writes and others read without a lock
// are therefore checked for races as well, with vector clocks ([Read], [Write]): the baton that threads pass would hide
// such races from the race detector. These words are those of package xatomic: the slots of queues, join counters,
// spans, and every xatomic.Plain. The race detector, on real threads, checks the other plain words: words under a lock,
// and words of a worker that only the worker's thread accesses, or the thread that takes its place.
//
// An exploration finds failed assertions and panics, data races, deadlocks (no thread can go on, for example because a
// wake-up was lost) and livelocks (an execution that does not end). A failure comes with a trace and with the decisions
// that lead to it, which [Config.Replay] takes again.
//
// An exploration does not show executions with more preemptions than the bound, with more threads and operations than
// the program has, or the kernel's own futex.
package model
