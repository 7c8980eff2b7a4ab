// Package replay repeats the experiments of the source documents and judges each of their claims by what it measured:
// it is behind the command wsbench replay.
//
// An [Experiment] is a figure, a table or a passage of a document. It plans [Measurement]s, each one or several runs of
// wsbench in processes of their own, and has [Claim]s, the document's sentences. The runs of a [Replay] are kept in a
// directory as they are made, so that an interrupted replay can be resumed. From the [Data] of an experiment come its
// figures, its table and the [Verdict] on each claim, which are put together in one page. The page begins with what was
// reproduced exactly, then has what was measured, and then what the machine cannot decide.
//
// An experiment that measures has a control, a second measurement of a baseline in the same window: control.go has the
// ways to plan one.
//
// A new experiment is one value in the file of its document, and its name in [Experiments]. What its document has of
// its figures is in the file printed00N.go of that document, [Register] and [Parameters] have where it is replayed, and
// the questions of choose.go those that it answers.
package replay
