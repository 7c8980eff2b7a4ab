// Command prove is the long form of the checks that CI does quickly: it explores every model program with more
// preemptions, repeats random tests a million times, and so on. Its work is divided into layers, which can be
// interrupted and taken up again.
//
//	go run ./cmd/internal/prove                     run every layer that is not complete
//	go run ./cmd/internal/prove -only pct,graphs    run the layers whose names begin with one of these
//	go run ./cmd/internal/prove -jobs 2             explore two model programs at a time
//	go run ./cmd/internal/prove -list               list the layers, and how far each has come
//
// All layers together take some hours. Each layer keeps its latest record in testdata/proof, in a file of its own, so
// several commands may run different layers at once. testdata/proof/README.md is a table of those files. The files and
// the table are committed: they record what was shown, when, for which commit, and on what machine.
//
// A piece that this machine cannot do is skipped, and another is done in its place: the row says why. The plan of a
// full disk of cluster-faults mounts one, and so needs root.
//
// If a model program fails, its layer says so at once, goes on with the others, and is not complete.
//
// A record holds for its commit only. That is the last commit that has changed anything but records, so a commit of
// records does not end them. A layer is taken up again where it stopped, or is left alone if it is complete, as long as
// the tree is that of the record's commit. Else the layer begins anew, and its next record replaces the one before. A
// tree with changes that are not committed has no commit: the record names none, and the layer begins anew each time.
// So does a layer during which the tree has changed.
package main
