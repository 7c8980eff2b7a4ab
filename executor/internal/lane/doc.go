// Package lane has where a worker keeps its items until it runs them or thieves take them.
//
// A [Lane] has two ends. The owner's end pushes and pops, and tells of each operation whether thieves see more than before.
// The thieves' end steals, asks and counts. A lane wakes nobody: its owner acts on what the lane tells.
//
// How the owner keeps its items is one file each:
//
//	direct.go    a deque of Chase and Lev, without a call through an interface: the default
//	queue.go     a queue of any other [deque.Kind]
//	alone.go     a plain stack, while there is no thief
//	shuffled.go  a bag from which a seed chooses, for inline executors
//
// Thieves see two places: the queue, if the lane has one, and the open deque, which they try first. The open deque has
// everything of a direct lane. Of a lane with a queue it has what is older than all that is in the queue: the overflow, and what
// the owner has given away.
package lane
