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
//	chaselev     9.4  10.8   20.0   38.4      175
//	abp         12.8  13.4   20.3   30.3      164
//	bwos         4.8   5.1    6.1    6.5       79
//	padws        4.9   5.8    5.9    7.2       83
//	adws         5.4   6.1   14.7   32.2       96
//	pdqr         5.3   6.9   15.3   40.1      374
//	pdqs         7.3   9.7   (it deals no more than 8 %)  306
//	locked      17.9  20.5   29.8   41.8      125
//
// And what a fork (fib, thin) or a task (btree, dag) costs in package executor, with one worker and with two:
//
//	             fib          thin         btree        dag
//	split        9.6   5.1    4.7   2.4    14.5   7.6    58    56
//	chaselev    29.9  15.5   15.2   8.0    as split, which differs in forks only
//	padws       10.2   5.2    4.6   2.3    15.0   7.5    59    55
//
// From which follows:
//
//   - The executor's default, split, is [Deque] with forks in the worker's own hands until somebody wants them. It is right for
//     all work: no task is hidden, a fork until the next Fork or Join only, and nothing is full.
//   - [PadWS] is for small items of which some are stolen: the owner hardly notices its thieves. In package executor it is as fast
//     as the default, not faster: forks are private either way, and what else a task costs is more than a push. While its owner
//     runs a long item thieves get no more than was granted, so it is not for coarse work, nor for tasks that wait for each other.
//   - [BWoS] is as cheap, also for thieves, and needs no answers. But as many items as a block has are never seen: work that is
//     wide pays for small blocks, work that is narrow is done by one worker if blocks are large. With two workers and 300 ns of
//     work for each node, a tree with 64 children a node took 334 ns a node with blocks of 1 and 587, nothing stolen, with blocks
//     of 512; one with 2 children and long branches 300 at best with PadWS, and 418 to 528, nothing stolen, with BWoS and blocks
//     of 8 and more.
//   - [BWoSFIFO] is for fairness: what was pushed first is run first. Scopes cannot do with it.
//   - [ADWS], [PDQR] and [PDQS] grow, and cost nothing while nobody steals; each steal costs their owner as much as Chase and
//     Lev's, or their thief more. They are here to compare with, as are [ABP] and [Locked].
//
// Measured on 2026-11-21 on two virtual cores of an Intel Xeon, Linux, Go 1.26.8, with other work on the machine, by
// wsbench deque and wsbench run; medians. Two cores say nothing about many thieves at one deque: wsbench deque thieves
// is for machines that have more.
//
// The algorithms, their invariants and what is not promised are in PROTOCOL.md beside this file.
package deque
