// Package executor runs work on OS threads of its own that steal from each other.
//
// An [Executor] has a fixed number of workers, each a goroutine locked to a thread. A worker runs each task to the end,
// keeps the tasks that it makes ready, and steals from other workers when it has none left. When there is nothing to
// steal it sleeps. No goroutine is started for a task, and between one task and the next there is no channel, mutex,
// timer or system call.
//
//	ex, err := executor.New(executor.Config{})
//	if err != nil { … }
//	defer ex.Close()
//	err = ex.Run(ctx, job) // a *graph.Graph, for example
//
// # Runs
//
// [Executor.Run] runs a [Job] and waits for it. [Executor.Start] returns a [Run] at once. Any number of runs may be in
// progress. In the terminology of the Go memory model, a call of Start synchronizes before the job's tasks, and the
// tasks synchronize before the return of the run's Wait. [With] gives the runs of a job a name, a priority and a limit
// of workers. [Times] and [Until] are jobs that run another several times.
//
// # Which one when
//
//   - Package graph: the tasks and their order are known before the run. Nothing is quicker. An edge may carry a
//     result.
//   - [Fork] and [Scope.Go]: a function splits its own work and waits for it. [Call] and [NewJob] give it the [Scope]
//     for that. A Fork costs a few nanoseconds, and a child of Scope.Go may fail.
//   - [Async]: a single call from anywhere, which returns a [Future]. It may come after other futures and runs.
//   - [Group]: functions that return only an error. It has the methods of an errgroup, and one for an order among
//     functions.
//   - [First]: the first result of several functions.
//   - [Promise], [Timer], and external tasks of a graph: something outside the executor ends them. Nothing waits
//     meanwhile, no worker and no goroutine.
//   - [Run.OnEnd] and [Future.OnEnd]: a call at the end.
//   - Package parallel: loops, reductions, sorting.
//   - Package pipeline: values that pass through stages in order.
//   - Package pool: independent tasks with priorities, or of which one finds the result and ends the others.
//
// # Workers
//
// A task finds its executor by the context that it was given, see [FromContext]. Where a function of this package takes
// a context and an executor, nil stands for that executor. Outside tasks nil stands for the executor of [Default],
// which the whole process may use. [Executor.WorkerIndex] tells a task the index of its worker, and a [PerWorker] has a
// value for each worker.
//
// # Errors
//
// A task fails by an error, a panic or [runtime.Goexit]. The failure cancels the task's run, and becomes the run's
// error. A run that is cancelled, by its context or by [Run.Cancel], skips tasks that have not started. With errors.Is,
// its error matches both the cause and the context's error, context.Canceled or context.DeadlineExceeded.
//
// A task's error that only says again why the run was stopped is not reported. The Unwrap and Is methods of the error
// decide this. RECIPES.md tells what follows if one of these, or a method of the caller's context, panics or calls
// Goexit.
//
// # Waiting inside a task
//
// Run and Wait may be called from a task of the same executor, with any number of workers. Meanwhile the worker runs
// items of the awaited run, and of runs nested in it. It runs nothing else, so that a task that holds a lock does not
// find, on its own stack, another task that wants the same lock. [Forked.Join] and [Scope.Wait] run only what they wait
// for and what that has started. [Future.Wait] runs only the future and those that it comes after. On a worker of
// another executor, Wait waits as in [Blocking].
//
// A task that waits for anything else, such as I/O or a lock, should do so inside Blocking: a spare worker then stands
// in for its worker at once. Otherwise one does when items have waited for some milliseconds for a worker, see
// [host.Threads].OnlyBlocking.
//
// # Bounds and the end
//
// [Config.MaxRuns] bounds the runs and futures in progress that were started from outside. [Executor.Close] waits for
// all work and ends the workers. [Executor.Shutdown] does so within a bounded time: when its context ends, it cancels
// the work that is left.
//
// # Beside other goroutines and programs
//
// A busy worker occupies a P. By default, an executor raises GOMAXPROCS by four Ps for three workers until it is
// closed, so that other goroutines have as many Ps as before, during a garbage collection too. [host.Threads] says how
// the kernel schedules the workers' threads. A [host.QuotaShare] leaves a part of a CPU quota to the rest of the
// process, and executors with a [host.Share] divide the processors among themselves. A long task lets others go first
// by [Yield]. BENCHMARKS.md has figures and advice for services.
//
// # Looking inside
//
// [Executor.Stats] has counters and gauges, [Executor.Dump] writes the state of each worker, and [Executor.Stacks]
// tells where each is. [Run.Progress] says how far a run is. An [Observer] is told of runs, tasks, steals and sleeps.
// Packages observe, metrics, watch and httpdebug make of these traces, times by task, figures by name, reports of
// stalls, and pages for operators.
//
// A task has the profiler labels of the context that its run or [Async] was started with, so pprof.Do around a Run
// labels everything that the run does. If that context has none, the labels are "executor", the executor's name, and
// "worker", the worker's number. RECIPES.md has the details.
//
// # Tests
//
// [NewInline] returns an executor without threads: everything runs on the goroutine that calls, in an order that a seed
// chooses.
//
// # Layers of your own
//
// [Item], [Body], [Hooks], [Worker] and [JobRun] are for implementations of [Job] only, such as package graph.
// [Job.Begin] gets a JobRun and returns the first item. An item pushes others with its Worker. The job ends the run
// with [JobRun.Finish]. The example of Item is the smallest such layer.
//
// PROTOCOL.md, beside this file, has the protocol, its invariants and what is not promised. Document 000 is Lin, Huang
// and Wong, "An Efficient Work-Stealing Scheduler for Task Dependency Graph" (2020).
package executor
