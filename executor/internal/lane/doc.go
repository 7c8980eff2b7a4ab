// Package lane implements lanes. A [Lane] holds a worker's items until the worker runs them or thieves take them.
//
// A lane has two ends. The owner's end pushes and pops. Each of its operations returns a [deque.Effect], which says
// whether thieves see more items than before. The thieves' end steals, asks and counts. A lane wakes no worker: the
// owner acts on the effect.
//
// Each way to keep items is a file:
//
//	direct.go    a deque of Chase and Lev, without a call through an interface: the default
//	queue.go     a queue of any other [deque.Kind]
//	alone.go     a plain stack, while there is no thief
//	shuffled.go  a bag from which a seed chooses, for inline executors
//
// Thieves see the open deque, and after it the queue, if the lane has one. In a direct lane the open deque has all
// items. In a lane with a queue, it has the overflow and what the owner has exposed. These items are older than all
// that are in the queue (I11).
package lane
