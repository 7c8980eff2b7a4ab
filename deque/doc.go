// Package deque has the work queues of the executor: one owner, many thieves.
//
// The cast: the owner is the one thread that pushes and pops, at the bottom, last in first out. Thieves are any other
// threads; they steal at the top, first in first out, so they take the oldest item, which in a computation that
// branches is the largest piece of work. A steal ends in one of three ways: [Stolen], [Empty] or [Lost]. A scheduler
// must not take Lost for Empty when it decides to sleep.
//
// The owner's last-in-first-out order keeps caches warm and gives no fairness: what was pushed first may wait until
// everything else is done. Use it for throughput, not for the tail of a latency distribution.
//
// A [Deque], that of Chase and Lev, grows and shows thieves every item; it is what the executor uses. The other kinds are those
// that it is compared with. [PadWS] and [ADWS] have the owner hand out what thieves ask for: its pushes and pops cost no locked
// instruction, but thieves cannot see what it has, and a steal of theirs may also end [NotReady]. With [PDQR] a thief waits for
// the answer; with [PDQS] nobody asks, and owners deal. [BWoS], with no atomic operation for the owner inside a block, hides a
// block of items from thieves, and [BWoSFIFO] is first in, first out for the owner too. [ABP] is the bounded deque that began it
// all; [Locked] has a mutex.
//
// A scheduler that is to work with any kind takes each as a [Queue], from [NewGroup].
//
// The algorithms, their invariants and what is not promised are in PROTOCOL.md beside this file.
package deque
