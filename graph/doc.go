// Package graph describes task graphs and runs them on an executor.
//
// A graph is built once and run many times:
//
//	g := graph.New("etl")
//	load := g.Task(func(ctx context.Context) error { … }).Named("load")
//	clean := g.Task(…)
//	count := g.Task(…)
//	report := g.Task(…)
//	load.Precede(clean, count)    // load before clean and count
//	report.Succeed(clean, count)  // report after both
//	err := ex.Run(ctx, g)
//
// A task runs when all its predecessors have ended. Everything that a task does happens before its successors run, and
// before Run returns.
//
// # Other tasks
//
// [Graph.Module] adds a task that runs another graph. [Graph.Subflow] adds a task that builds a graph while it runs.
// The successors of a [Graph.DetachedSubflow] do not wait for the graph that it builds. A task of [Graph.External] ends
// when somebody says so, and holds no worker until then. [Graph.Retry] adds a task that calls its function again if it
// fails. A [Value] is a typed result that one task makes and others take. [Graph.Condition] adds a task that chooses
// which of its successors runs next, for branches and loops; a run with conditions ends when no task is left that could
// run. With [Task.Hold] a task runs only while it holds permits of a [Semaphore]; from a [Task.Acquire] to a
// [Task.Release] a run holds them.
//
// # Walking and editing
//
// [Graph.Tasks], [Task.Successors], [Task.Predecessors] and other methods of Task tell what a graph looks like. Between
// runs it can be changed anywhere: [Task.Unprecede] removes edges and [Task.Remove] a task, [Task.Rebind] gives a task
// another function, as [Task.RebindCondition] and others do for tasks of other kinds, [Graph.Append], [Graph.Clone] and
// [Graph.Clear] are for whole graphs. [FromJSON] reads what [Graph.MarshalJSON] has written, with functions found by
// the names of tasks.
//
// # Order
//
// Ready tasks run in no particular order. A worker mostly goes on with the first of the tasks that it has just made
// ready, in the order in which the edges were added, and the oldest may wait until the end. So add an edge to a task
// that works on the same memory before the others. [Task.Priority] sets an order in which no task waits for ever.
//
// # Errors
//
// The first task to fail cancels the run's context, and tasks that have not started are skipped. Run returns the
// failures of all tasks that did run, each a [*TaskError], joined in the order of [Graph.Tasks], with those of the
// tasks of modules behind the others. A panic becomes an *executor.PanicError. A task that calls runtime.Goexit fails
// with executor.ErrGoexit, or ends the caller of Run if the caller runs it, see [executor.Executor.Run]. If the
// caller's context ends the run, the error matches the context's error and its cause (errors.Is). Errors that tasks
// return only because they were cancelled are left out. A run of [KeepGoing] goes on with all tasks that do not come
// after a failed one, and its error is a [*Report].
//
// Mistakes in the program (a nil function, a task of another graph, a change during a run) panic where they are made.
// Mistakes in the data are errors of [Graph.Validate] and of Run: a cycle, or a task that a condition would start too
// early or that could never run, in the graph or one of its modules.
//
// # Cost
//
// The first run freezes the graph: 16 bytes a task and 4 an edge. Each run in progress takes 32 bytes a task, which are
// kept for the next run. A run of a frozen graph allocates two small objects, whatever the graph's size. Conditions and
// subflows allocate more. Tasks of several priorities cost time and some bytes for each ready task, see
// [Task.Priority].
//
// After a few edits of a graph without modules, the next run copies the frozen form of the last with the changes, and
// uses its memory again: that takes a small part of the time of building the graph. After [Task.Rebind] it does nothing
// beforehand.
package graph
