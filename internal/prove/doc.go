// Command prove is the long form of what CI does quickly: it explores every model program with more preemptions,
// repeats random tests a million times, and so on, in layers that can be interrupted and taken up again.
//
//	go run ./internal/prove                     every layer that is not complete yet
//	go run ./internal/prove -only pct,graphs    those whose names begin with one of these
//	go run ./internal/prove -jobs 2             two model programs at a time
//	go run ./internal/prove -list               what there is, and how far each has come
//	go run ./internal/prove -check              whether README.md claims only what the records show
//
// All of it takes some hours. Each layer keeps what it has done in testdata/proof, in a file of its own, so layers may
// also run in several commands at once; the table made of those files is testdata/proof/README.md. Both are committed:
// they are the record of what was shown, when, of which commit, and on what machine.
//
// A layer notes a fingerprint of the code that it tests, comments left out. When that has changed it begins anew. A
// layer of model programs notes one for each program, of the code that its package is compiled from and of its own
// text, and explores only those again that have changed.
//
// README.md names the layers that it claims in a table. -check fails when a claimed layer is not complete, or when
// more than a few commits have changed its code since its record: run it again, or strike the claim. It counts
// commits, so it needs a clone that is not shallow.
package main
