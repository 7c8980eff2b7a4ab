// Command mutants asks of the module's tests whether they would notice.
//
// Its testdata holds small, deliberate bugs in the deque, the notifier, the executor, the graph and the parker, each with
// the tests that must fail because of it. The command builds those tests against a changed copy of one file, by go's
// overlay: the tree is left alone.
//
//	go run ./internal/mutants               all of them
//	go run ./internal/mutants -run 07 -v    those whose name matches, with what the tests say
//	go run ./internal/mutants -list         what there is
//
// A mutant is killed when one of its tests fails or crashes the process; if its file says so, also when one does not end: a
// test may take with the mutant ten seconds more than five times what it takes without, which depends on the machine. That
// is said of each such kill. Model programs fail at once where others would hang. A mutant that no test kills fails the
// command, and so does one that does not build, whose lines are not there, or that hangs without saying so: on a busy
// machine that may be a survivor. When all is well the last line is "proved: N mutants killed".
//
// # Files
//
// A mutant is a file NN-name.mutant: a header, then one edit or more, each of lines that stand exactly once in the file
// that it changes and the lines that take their place.
//
//	bug: what is wrong, in one sentence; a line that begins with a tab goes on with the one before
//	seen: where the field has made this bug, if it has (optional)
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
