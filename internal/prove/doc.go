// Command prove is the long form of what CI does quickly: it explores every model program with more preemptions, repeats
// random tests a million times, and so on, in layers that can be interrupted and taken up again.
//
//	go run ./internal/prove                     every layer that is not complete yet
//	go run ./internal/prove -only pct,graphs    those whose names begin with one of these
//	go run ./internal/prove -list               what there is, and how far each has come
//
// All of it takes some hours. Each layer keeps what it has done in testdata/proof, in a file of its own, so layers may
// also run in several commands at once; the table made of those files is testdata/proof/README.md. Both are committed: they
// are the record of what was shown, when, and on what machine.
//
// A layer notes a fingerprint of the code that it tests, comments left out. When that has changed it begins anew.
package main
