// Package executor runs work on OS threads of its own that steal from each other.
//
// An [Executor] has a fixed number of workers, each a goroutine locked to a thread. A worker runs each task to the end,
// keeps the tasks that it makes ready, and steals from other workers when it has none left. No goroutine is started for
// a task, and between two tasks there is no channel, mutex, timer or system call.
//
//	ex, err := executor.New(executor.Config{})
//	if err != nil { … }
//	defer ex.Close()
//	err = ex.Run(ctx, job) // a *graph.Graph, for example
//
// [NewInline] returns an executor for tests, which has no threads.
//
// # Runs
//
// [Executor.Run] runs a [Job] and waits for it. [Executor.Start] returns a [Run] at once. In the terminology of the Go
// memory model, a call of Start synchronizes before the job's tasks, and the tasks synchronize before the return of the
// run's Wait. [With] gives the runs of a job a name, a priority and a limit of workers. [Times] and [Until] are jobs
// that run another several times.
//
// # Which one when
//
// RECIPES.md has a table.
//
//   - Package graph: tasks in an order known before the run. Nothing is quicker.
//   - [Fork] and [Scope.Go]: a function splits its own work, and waits for it. [Call] and [NewJob] give it the [Scope]
//     for that.
//   - [Async]: a single call from anywhere, perhaps after other futures and runs.
//   - [Group]: functions that return only an error, as with an errgroup.
//   - [First]: the first result of several functions.
//   - [Promise], [Timer], and external tasks of a graph: something outside the executor ends them. No worker and no
//     goroutine waits meanwhile.
//   - [Run.OnEnd] and [Future.OnEnd]: a call at the end.
//   - Package parallel: loops, reductions, sorting.
//   - Package pipeline: values that pass through stages.
//   - Package pool: independent tasks with priorities, or with one result to find.
//
// # Calls
//
// Unless they say otherwise, functions and methods may be called from any goroutine, from tasks too, at the same time,
// and after the end of their run, future or executor. They panic if a context, a job or a function is nil. A nil
// executor stands for that of the task to which the context was given, see [FromContext], and outside tasks for
// [Default], which the whole process may use.
//
// # Errors
//
// A task fails by an error, a panic or [runtime.Goexit]. The failure cancels the task's run, and becomes the run's
// error. A run that is cancelled, by its context or by [Run.Cancel], skips tasks that have not started. With errors.Is,
// its error matches both the cause and the context's error, [context.Canceled] or [context.DeadlineExceeded]. A task's
// error that only says again why the run was stopped is not reported. RECIPES.md has errors and contexts that panic.
//
// # Waiting inside a task
//
// Run and Wait may be called from a task of the same executor, with any number of workers. Meanwhile the worker runs
// items of the awaited run, and of runs nested in it. It runs nothing else, so that a task that holds a lock does not
// find, on its own stack, another task that wants the same lock. [Forked.Join] and [Scope.Wait] run only what they wait
// for and what that has started, and [Future.Wait] only the future and those that it comes after. On a worker of
// another executor Wait, Close and Shutdown are as in [Blocking].
//
// A task that waits for anything else, such as I/O or a lock, should do so inside Blocking: a spare worker then stands
// in for its worker at once. Otherwise one does some milliseconds later, see [host.Threads].OnlyBlocking.
//
// # Bounds and the end
//
// [Config.MaxRuns] bounds the runs and futures in progress that were started from outside. [Executor.Close] waits for
// all work and ends the workers. [Executor.Shutdown] does so until its context ends, and then cancels the rest.
//
// # Beside other goroutines and programs
//
// A busy worker occupies a P. Once workers are busy for long, an executor raises GOMAXPROCS by four Ps for three
// workers, so that other goroutines keep theirs, during a garbage collection too. [host.Threads] says how the kernel
// schedules the workers' threads. A [host.QuotaShare] leaves a part of a CPU quota to the rest of the process, and
// executors with a [host.Share] divide the processors among themselves. [Yield] lets others go first. BENCHMARKS.md has
// figures.
//
// # Looking inside
//
// [Executor.Stats], [Executor.Dump], [Executor.Stacks] and [Run.Progress] say what an executor does. An [Observer] is
// told of runs, tasks, steals and sleeps. Packages observe, metrics, watch and httpdebug make of these traces, times by
// task, figures by name, reports of stalls, and pages for operators.
//
// A task has the profiler labels of the context that its run or [Async] was started with, so pprof.Do around a Run
// labels all of its tasks. If it has none, they are "executor", a name, and "worker", a number: see RECIPES.md.
//
// # Layers of your own
//
// [Item], [Body], [Hooks], [Worker] and [JobRun] are for implementations of [Job] only, such as package graph, and may
// change in a minor version. The example of Item is the smallest one. PROTOCOL.md has the protocol, its invariants,
// what is not promised, and the files to read first. Document 000 is Lin, Huang and Wong, "An Efficient Work-Stealing
// Scheduler for Task Dependency Graph" (2020).
package executor
