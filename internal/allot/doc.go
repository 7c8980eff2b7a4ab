// Package allot decides how many processors each of several work-stealing jobs on one machine desires, and how many it
// is allotted. All of it computes; nothing starts goroutines, reads clocks or touches files.
//
// The source is document 003: Sen, "Dynamic Processor Allocation for Adaptively Parallel Work-Stealing Jobs" (MIT,
// 2004). Two levels share a machine there. Each job estimates its desire, the number of processors that it can use
// without waste, once a cycle, from what its workers counted. From the desires of all jobs follow their allotments.
//
//   - A [Rule] estimates a desire. [WSAP] is the document's (sections 4.2 and 6.1). [Instant] is there to be
//     compared with it.
//   - [WaterFill] computes allotments from desires alone. Whoever computes them, in whatever order, gets the same.
//   - [Incremental] is the document's algorithm DP (section 5.2), which moves processors one at a time from the
//     allotments before. It is there to be compared with, too.
//
// A job is deprived if it has fewer processors than it desires. Allotments are to be [Fair], [Efficient] and
// [Conservative] (section 5.1): those of WaterFill are, as far as weights, minima and limits let them be. Those of
// Incremental are efficient and conservative. They can be unfair, see there.
//
// # Where the document is corrected
//
//   - It defines fairness by m_i, which nothing else mentions: the allotment a_i is meant.
//   - It bounds the efficiency after a desire has grown by 1/η² from below, which is at least 1: η² is meant.
//   - Usage divided by η need not be whole. The document does not round it; here it is rounded up, because rounded
//     down the desire of a job with one processor and η = 0.75 would stay 1.
//   - A cycle without a steal attempt leaves the ratio of unsuccessful ones undefined. All workers were busy then, so
//     it is 0.
//   - If all attempts are purely unsuccessful, the document's formula gives 0. A desire is at least 1 here. That a job
//     has no work at all and desires nothing is its owner's to know.
package allot
