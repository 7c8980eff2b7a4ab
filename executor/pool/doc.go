// Package pool runs a flat list of tasks from queues: one queue for all workers, one for each, or one in the order of
// priority. The tasks are added first and then dispatched by a run:
//
//	p, err := pool.New("rows", pool.Options{Queue: pool.PerThread, Stealing: pool.NeighbourHalf})
//	for y := range height {
//		p.Add(func(*pool.Task) error { return draw(y) })
//	}
//	err = ex.Run(ctx, p)
//
// It is the thread pool of Shreedhar and Chaudhari, "Dynamic Scheduling with Work Stealing" (document 001), as a layer
// of the executor: its queues, its six ways to steal, its search that ends all tasks when one has found the result, and
// its busy-waiting. It is for experiments with these, and for lists of tasks with priorities or a result to be found.
// For loops package parallel is faster, and package graph is for tasks that wait for others.
//
// # Drainers
//
// A run has as many drainers as the executor has workers, unless [Options.Drainers] says otherwise. A drainer is an
// item of the executor that takes tasks from the queues, one after the other, until none is left for it. Any worker may
// run a drainer, and between two tasks another worker may take it over. So a pool runs under every policy, on every
// kind of deque and with one worker, beside other runs and inside a task. A queue per thread belongs to a drainer.
//
// While a task waits in [executor.Blocking], its drainer waits too, and with it the queue of the drainer, unless other
// drainers steal. A task must therefore not wait for another task of the same pool.
//
// # Queues
//
// Centralised is one queue under a lock. Tasks begin in the order of adding.
//
// PerThread has a queue for each drainer, among which the tasks are dealt in turn before the first begins. A drainer
// takes the newest task of its queue; with PerThreadFIFO it takes the oldest. Without stealing no other drainer touches
// the queue, which needs no lock and no atomic operation. With stealing each queue has a lock, and a drainer whose
// queue is empty moves the tasks of the other end of another queue to its own.
//
// ByPriority is one heap under a lock. The task with the largest priority begins first, and of several the one that was
// added first.
package pool
