// Command mutants checks that the module's tests notice bugs.
//
// Its testdata holds small, deliberate bugs in the deque, the notifier, the executor, the graph, the parker and the
// protocol of clusters, each with the tests that must fail because of it. The command builds those tests against a
// changed copy of one file, by go's overlay, and leaves the tree alone. A package may be in a nested module.
//
//	go run ./cmd/internal/mutants               all of them
//	go run ./cmd/internal/mutants -run 07 -v    those whose name matches, with the output of the tests
//	go run ./cmd/internal/mutants -part 0/120   every 120th one, as CI does; -part 1/120 to 119/120 have the others
//	go run ./cmd/internal/mutants -list         list the mutants
//
// A mutant is killed when one of its tests fails or crashes the process. If the mutant's file says so, a test that does
// not end kills it too: with the mutant, a test may take ten seconds more than five times its time without. Such a kill
// depends on the machine and is reported as one by a time limit. Model programs fail at once where other tests would
// hang.
//
// The command fails if a mutant survives, does not build, does not find its lines, or hangs although its file does not
// say so: on a busy machine that may be a survivor. When all mutants are killed the last line is "proved: N mutants
// killed".
//
// # Files
//
// A mutant is a file NN-name.mutant: a header, then one or more edits. An edit has old lines, which stand exactly once
// in the file that it changes, and the new lines that replace them.
//
//	bug: what is wrong, in one sentence; a line that begins with a tab continues the line before
//	seen: where this bug was seen in practice (optional)
//	file: deque/deque.go
//	package: ./deque
//	tags: modelcheck (optional)
//	run: ^TestModelLastItem$
//	bound: 3 (optional: how many preemptions model programs explore)
//	hangs: yes (optional: a test that does not end kills it)
//	--- old
//		if !d.top.CompareAndSwap(t, t+one) {
//	--- new
//		if d.top.Store(t + one); false {
//
// package, tags and run say which tests must fail.
package main
