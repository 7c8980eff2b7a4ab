// Package bench is what wsbench is a face of: workloads, the engines that run them, measurement, verification,
// statistics and formats.
//
// A [Workload] makes a task graph of any size, or a [Program], whose tasks come into being while it runs. An [Engine] runs
// it in one [Setting]. A [Session] builds each graph, has every setting run it once with tasks that check the order of
// every edge, then measures repetitions of all settings in turn, so that a machine that drifts favours none. Each
// repetition is verified before its time is believed: a wrong answer ends the session with a [WrongAnswer], and no time of
// that workload is reported. A program has a result that is known, or can be checked.
//
// A [Probe] is a measurement that is not the time of a graph: latencies, what an idle executor costs, memory.
//
// A [DequeExperiment] measures single kinds of deque, without an executor: what their owners and thieves pay. A [DequeSession]
// makes such experiments as a Session does its measurements, and a run in which not every item came out once is a WrongAnswer.
//
// What a figure means is said once, at the fields of [Result] and [DequeResult].
package bench
