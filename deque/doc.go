// Package deque has work-stealing deques: one owner, many thieves.
//
// The owner is the one thread that pushes and pops, at the bottom, last in first out. Thieves are any other threads;
// they steal at the top, first in first out. So a thief takes the oldest item, which in a computation that branches is
// the largest piece of work. The [Outcome] of a steal is [Stolen], [Empty] or [Lost], with some kinds also [NotReady].
// A scheduler must not take Lost for Empty when it decides to sleep.
//
// [Deque], the deque of Chase and Lev, is right for most uses: it grows, and thieves see every item. A scheduler that
// works with any kind of deque uses the interface [Queue], and [NewGroup] makes the queues. The methods of [Kind] tell
// the differences between kinds.
//
// Last in, first out keeps caches warm and gives no fairness: the first item pushed may wait until everything else is
// done. Use it for throughput, not for the tail of a latency distribution.
//
// # Kinds
//
// Two kinds besides chaselev show thieves every item: abp, the bounded deque of Arora, Blumofe and Plaxton, and locked,
// which has a mutex. The others hide items. In return, a push or a pop costs no locked instruction as long as no thief
// steals.
//
//   - bwos is bounded, in blocks. Thieves see nothing of the owner's block. bwos-fifo is first in, first out for the
//     owner too.
//   - padws is bounded, in blocks. A thief asks for items of the owner's block, and the owner grants them when it next
//     pushes, pops or polls.
//   - adws and pdqr grow. Thieves ask for each item; a thief of pdqr waits for the answer.
//   - pdqs grows. Owners without items wait, and owners with items deal.
//
// The cost of a push or a pop to the owner, by the share of the items that one thief steals, and the duration of a
// steal. All are in ns, and about 2 ns of each are the measuring loop and the interface:
//
//	             0 %   1 %   10 %   40 %   steal, median
//	chaselev     8.1   9.4   18.0   37.5      180
//	abp         11.0  11.8   19.0   25.6      156
//	bwos         4.3   4.6    4.9    6.2       19
//	bwos-fifo    4.6   6.2    7.3    9.5       20
//	padws        4.3   4.8    5.1    7.0       24
//	adws         4.9   6.0   13.2   32.6       93
//	pdqr         4.5   5.6   12.5   34.4      324
//	pdqs         6.5   7.4   (it deals no more than 9 %)  353
//	locked      15.5  18.4   25.4   34.2      106
//
// The cost of a fork (fib, thin) or a task (btree, dag) in package executor, with one worker and with two:
//
//	                          fib          thin         btree        dag
//	chaselev, private forks   8.8   4.5    4.5   2.3    13.9   7.7    56    56
//	chaselev, pushed forks   28.0  15.3   14.0   7.6    as above: these fork nothing
//	padws, private forks      8.8   4.5    4.5   2.3    14.0   7.8    56    57
//
// The executor's default is chaselev with private forks: a fork stays with the worker until there is demand for it.
// With one worker the executor keeps its items in a plain stack, whatever the kind, except for bwos-fifo.
//
//   - The default is right for all work. It hides no task, hides a fork only until the next Fork or Join, and is never
//     full.
//   - padws is for small items of which some are stolen: a steal costs the owner little. In package executor it is as
//     fast as the default, not faster. While the owner runs a long item, thieves get only granted items. So padws is
//     not for coarse work, nor for tasks that wait for each other.
//   - bwos is as cheap, also for thieves, and its owner answers no requests. But thieves never see the items of the
//     owner's block. With small blocks wide work is slower, and with large blocks one worker does all of narrow work. A
//     wide tree (fat) whose nodes do nothing took two workers 11.6 ns a node with blocks of 1, 5.7 with blocks of 64,
//     and 11, without a steal, with blocks of 512; padws took 23, 5.6 and 5.3, abp 12. A narrow tree (thin) with 300 ns
//     of work a node took 191 ns with blocks of 1, and 335 to 346, without a steal, with blocks of 8 and more; padws
//     took 201 to 206 with any block size, abp 192.
//   - bwos-fifo is for fairness: the owner runs the item that was pushed first. The executor's scopes cannot use it.
//   - adws, pdqr and pdqs cost nothing while no thief steals. A steal costs the owner as much as with chaselev, or the
//     thief more. They are for comparison, as are abp and locked.
//
// Measured on 2026-11-21 on two virtual cores of an Intel Xeon, Linux, Go 1.26.8, by wsbench deque and wsbench run;
// medians. Two cores tell nothing about many thieves at one deque; on machines with more cores, run wsbench deque
// thieves.
//
// PROTOCOL.md beside this file, and the pages that it lists, have the algorithms, their invariants, and the properties
// that are not guaranteed.
package deque
