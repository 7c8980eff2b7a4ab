// Package bench measures for the command wsbench: it has engines that run the workloads of package workloads,
// verification, statistics and formats.
//
// An [Engine] runs a workload in one [Setting]. A [Session] builds each graph and has every setting run it once with
// tasks that check the order of every edge. Then it measures repetitions of all settings in turn, so that a machine
// that drifts favours none. Each repetition is verified: a wrong answer ends the session with a [WrongAnswer], and no
// time of that workload is reported. A program has a result that is known, or can be checked.
//
// A profiler is a team that measures the work and the span of a program for teams, and a muster notes when every worker
// has had work.
//
// Of a [workloads.Division] package pool runs the tasks from one of its queues. The queue and the number of tasks make
// a Setting a [DivisionPoint].
//
// A [Probe] is a measurement other than the time of a graph: latencies, the cost of an idle executor, memory.
//
// A [DequeExperiment] measures single kinds of deque, without an executor: the costs of their owners and thieves. A
// [DequeSession] makes such experiments as a Session makes its measurements. A run in which not every item came out
// once is a WrongAnswer.
//
// The fields of [Result] and [DequeResult] document the meaning of each figure. Both are a [Record], of which reports
// see a [Row]: a [Point], which is a list of settings, and figures with their units. [GroupBy] groups rows, [StatOf]
// sums their figures up, and a [Table] shows them, whatever they are of. A [Report] does all of it in one format.
package bench
