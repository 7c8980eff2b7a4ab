// Command prove is the long form of the checks that CI does quickly: it explores every model program with more
// preemptions, repeats random tests a million times, and so on. Its work is divided into layers, which can be
// interrupted and taken up again.
//
//	go run ./internal/prove                     run every layer that is not complete
//	go run ./internal/prove -only pct,graphs    run the layers whose names begin with one of these
//	go run ./internal/prove -jobs 2             explore two model programs at a time
//	go run ./internal/prove -list               list the layers, and how far each has come
//	go run ./internal/prove -check              check that README.md claims only what the records show
//
// All layers together take some hours. Each layer keeps its record in testdata/proof, in a file of its own, so several
// commands may run different layers at once. testdata/proof/README.md is a table of those files. The files and the
// table are committed: they record what was shown, when, for which commit, and on what machine.
//
// A layer's record has a fingerprint of the code that the layer tests, without comments. When that code has changed the
// layer begins anew. A layer of model programs has a fingerprint for each program, of the code that the program's
// package is compiled from and of its own text. It explores only the programs that have changed.
//
// README.md names the layers that it claims in a table. -check fails when a claimed layer is not complete, or when more
// than a few commits have changed its code since its record: then run it again, or remove the claim. -check counts
// commits, so it needs a clone that is not shallow.
package main
