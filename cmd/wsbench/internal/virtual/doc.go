// Package virtual runs jobs on virtual processors: a discrete model of work-stealing jobs that share a machine, for the
// theory of document 003 (Sen, "Dynamic Processor Allocation for Adaptively Parallel Work-Stealing Jobs", MIT, 2004)
// and for its experiments on more processors than the real machine has.
//
// Time goes in steps. In a step a processor does one unit of work, or is spent on a steal attempt (section 4.1). A
// [Job] is a sequence of phases, and a [Phase] so many equal tasks, of which so many can run at the same time. A
// [Machine] has processors, and one of three controls:
//
//   - [Static] partitions: a job has a fixed number of processors, and waits until they are free. This is Cilk with
//     static processor allocation (section 7).
//   - [Uncontrolled]: each job has workers for the whole machine, all awake. The kernel shares the processors among
//     workers evenly, and knows not which of them steal in vain.
//   - [Shared]: each job estimates its desire every cycle, and the desires decide how many workers of each are awake
//     (chapters 5 and 6). The rules and the allotments are those of package allot.
//
// Thieves draw their victims, from a generator with the machine's seed. A result is a function of the machine and the
// jobs.
//
// # What is left out
//
// Moving a task, waking a worker, switching between workers and reading the table of allotments take no time. So
// Uncontrolled is at its best here. A thief finds a task in the step in which there is one, if the phase lets it be
// begun; a phase can limit how many tasks are begun in a step, as a loop that spawns them one by one does. A thief
// picks one of the other awake workers, each with the same probability.
//
// All tasks of a phase with neither Width nor Spread are ready from its begin. A real computation unfolds them, so that
// allot.Instant looks better here than it is, except on loops.
//
// No worker sleeps with tasks in its deque, for tasks are not kept by worker. So there is no thief that wakes such a
// worker. A worker that runs a task sleeps at the end of the task at the earliest, as in the document.
package virtual
