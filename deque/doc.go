// Package deque has the work queues of the executor: one owner, many thieves.
//
// The cast: the owner is the one thread that pushes and pops, at the bottom, last in first out. Thieves are any other
// threads; they steal at the top, first in first out, so they take the oldest item, which in a computation that
// branches is the largest piece of work. A steal ends [Stolen], [Empty] or [Lost], of some kinds [NotReady]. A scheduler
// must not take Lost for Empty when it decides to sleep.
//
// The owner's last-in-first-out order keeps caches warm and gives no fairness: what was pushed first may wait until
// everything else is done. Use it for throughput, not for the tail of a latency distribution.
//
// A [Deque], that of Chase and Lev, grows and shows thieves every item; it is what the executor uses unless its Config.Deque
// says otherwise. [PadWS] and [ADWS] have the owner hand out what thieves ask for: its pushes and pops cost no locked
// instruction, but thieves cannot see what it has, and ask. With [PDQR] a thief waits for
// the answer; with [PDQS] nobody asks, and owners deal. [BWoS], with no atomic operation for the owner inside a block, hides a
// block of items from thieves, and [BWoSFIFO] is first in, first out for the owner too. [ABP] is the bounded deque that began it
// all; [Locked] has a mutex.
//
// A scheduler that is to work with any kind takes each as a [Queue], from [NewGroup].
//
// # Which deque for which work
//
// What a push or a pop costs its owner, in ns, by the share of the items that one thief steals, and how long the thief takes for
// one; of each about 2 ns are the measuring loop's and the interface's:
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
// And what a fork (fib, thin) or a task (btree, dag) costs in package executor, with one worker and with two:
//
//	                          fib          thin         btree        dag
//	chaselev, private forks   8.8   4.5    4.5   2.3    13.9   7.7    56    56
//	chaselev, pushed forks   28.0  15.3   14.0   7.6    as above: these fork nothing
//	padws, private forks      8.8   4.5    4.5   2.3    14.0   7.8    56    57
//
// With one worker nobody steals: the executor then keeps its items in a private [Deque], whatever the kind, unless that is
// bwos-fifo.
//
// From which follows:
//
//   - The executor's default is [Deque] with private forks, which stay with the worker until others want them. It is
//     right for all work: no task is hidden, a fork until the next Fork or Join only, and nothing is full.
//   - [PadWS] is for small items of which some are stolen: the owner hardly notices its thieves. In package executor it is as fast
//     as the default, not faster: forks are private either way, and what else a task costs is more than a push. While its owner
//     runs a long item thieves get no more than was granted, so it is not for coarse work, nor for tasks that wait for each other.
//   - [BWoS] is as cheap, also for thieves, and needs no answers. But as many items as a block has are never seen: work that is
//     wide pays for small blocks, work that is narrow is done by one worker if blocks are large. A wide tree (fat)
//     whose nodes do nothing took two workers 11.6 ns a node with blocks of 1, 5.7 with blocks of 64, and 11, nothing stolen, with
//     blocks of 512; PadWS 23, 5.6 and 5.3, ABP 12. A narrow one (thin) with 300 ns of work a node took 191 with blocks of 1
//     and 335 to 346, nothing stolen, with blocks of 8 and more; PadWS 201 to 206 with any, ABP 192.
//   - [BWoSFIFO] is for fairness: what was pushed first is run first. Scopes cannot do with it.
//   - [ADWS], [PDQR] and [PDQS] grow, and cost nothing while nobody steals; each steal costs their owner as much as Chase and
//     Lev's, or their thief more. They are here to compare with, as are [ABP] and [Locked].
//
// Measured on 2026-11-21 on two virtual cores of an Intel Xeon, Linux, Go 1.26.8, by wsbench deque and wsbench run; medians.
// Two cores say nothing about many thieves at one deque: wsbench deque thieves is for machines that have more.
//
// The algorithms, their invariants and what is not promised are in PROTOCOL.md beside this file.
package deque
