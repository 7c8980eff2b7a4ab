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
// A task runs when all its predecessors have. Everything a task did happens before its successors run, and before Run
// returns.
//
// # Other tasks
//
// [Graph.Module] makes a task of another graph, [Graph.Subflow] one of a graph that is built while it runs; what comes after
// [Graph.DetachedSubflow] does not wait for that graph. A [Value] is what
// a task makes and others take, with its type. [Graph.Condition] adds a task that chooses which of those behind it runs, and
// so makes branches and loops; then a run ends when nothing is left that could run. [Task.Limit] has a task run only while it
// holds permits of a [Semaphore].
//
// # Order
//
// Among tasks that are ready there is no order: a worker mostly goes on with what it has made ready last, and the oldest may
// wait until the end. [Task.Priority] says which come first, and then none waits for ever.
//
// # Errors
//
// The first task to fail cancels the run's context, and tasks that have not started are skipped. Run returns the
// failures of all tasks that did run, each a [*TaskError], joined in the order in which the tasks were added. A panic
// becomes an *executor.PanicError, a task that calls runtime.Goexit fails with executor.ErrGoexit. If the caller's
// context ends the run, the error matches the context's error and its cause (errors.Is); what tasks then return
// because they were cancelled is left out.
//
// Mistakes in the program (a nil function, a task of another graph, a change during a run) panic where they are made.
// Mistakes in the data are errors of [Graph.Validate] and of Run: cycles, and tasks that a condition would start too early or
// that nothing could ever start, in the graph or a module of it.
//
// # Cost
//
// The first run freezes the graph: 16 bytes a task and 4 an edge. Each run in progress takes 32 bytes a task, kept for
// the next run. A run of a frozen graph allocates two small objects, whatever the graph's size; conditions and subflows allocate
// more. Tasks of several priorities cost more, and some bytes for each that is ready: see [Task.Priority].
package graph
