// Package executor runs work on OS threads of its own that steal from each other.
//
// An [Executor] has a fixed number of workers, each a goroutine locked to a thread. A worker runs tasks to completion,
// keeps what they make ready, and steals from the others when it has nothing left. When there is nothing to steal it
// sleeps on a futex. No goroutine is started per task, and on the way from one task to the next there is no channel,
// mutex, timer or system call.
//
//	ex, err := executor.New(executor.Config{})
//	if err != nil { … }
//	defer ex.Close()
//	err = ex.Run(ctx, job) // a *graph.Graph, for example
//
// # Runs
//
// [Executor.Run] runs a [Job] and waits for it, [Executor.Start] returns a [Run] at once. A Job is a graph, a pipeline,
// or a function, see [Func]. Any number of runs may be in progress, from any number of goroutines. Everything before a
// Start happens before the job's tasks; everything they do happens before the run's Wait returns.
//
// # Forks, scopes, futures
//
// A function that is given a [Scope], by [Call] or [Func], can start other work and wait for it. [Fork] makes one call
// available to workers that have nothing to do, for a few nanoseconds. [Scope.Go] starts a child that may fail. All of
// it ends before the function's run does. [Async] starts a single call from anywhere and returns a [Future]. [First]
// calls several functions and takes the first result. Package parallel is made of forks.
//
// # Errors
//
// A task that fails, by an error, a panic or [runtime.Goexit], cancels its run, and the run's error is the task's. A
// run that is cancelled, by its context or by [Run.Cancel], skips what has not started. Its error then matches, with
// errors.Is, both context.Canceled or context.DeadlineExceeded and the cause.
//
// An error that only says again why the run was stopped is not reported. Which ones do is decided by their Unwrap and
// Is methods, and by no more than the first few thousand errors of a tree. A method that panics has not answered.
//
// A panic in a method of the caller's context goes to the caller in Start and Async, and to the task in a task.
// Elsewhere it cancels the run or future, as the cause. Two cases are not contained: package context calls Done, Err
// and Value on goroutines of its own, where a panic ends the process; and a method that calls runtime.Goexit on a
// worker, or does not return, takes the run with it.
//
// # Waiting inside a task
//
// Run and Wait may be called from a task of the same executor, with any number of workers. The worker does not block:
// it runs items of the run that is awaited, and of runs nested in it, until that is over. It never runs anything else
// meanwhile, so a task that holds a lock does not find, on its own stack, another that wants the same lock. On a worker
// of another executor, Wait waits as in [Blocking]. [Forked.Join] and [Scope.Wait] run only what the call that is
// joined has started, [Future.Wait] only what it waits for.
//
// A task that waits for anything else, such as I/O or a lock, does so inside [Blocking]: a spare worker stands in for
// its own meanwhile. In any other way it blocks its worker.
//
// # Tests
//
// [NewInline] returns an executor without threads: everything runs on the goroutine that calls, in an order that a seed
// chooses.
//
// # Beside other goroutines
//
// A worker that computes keeps a P busy. Unless told otherwise, an executor raises GOMAXPROCS by its number of workers
// until it is closed, so that other goroutines have as many Ps as before, and the kernel shares out the cores. With
// [Config.Nice] it can be told that the workers come last.
//
// # Profiler labels
//
// A task has the labels of the context that its run was started with, or that was given to [Async]; without any, it has
// those of its worker: "executor" and "worker", a name and a number. So pprof.Do around a Run labels all that the run
// does. A task may use pprof.Do too, also around another Run with the context that this gives it. After a Wait inside
// pprof.Do a task may find the labels of its run: the worker may have run tasks of others meanwhile. Labels that a task
// leaves behind last, at most, until the worker turns to another run. On an executor of [NewInline] tasks have the
// labels of the goroutine that runs them.
//
// # Layers of your own
//
// Some types are for implementations of [Job] only: [Item], [Body], [Hooks], [Stopper], [Worker] and [JobRun]. The
// executor knows nothing of graphs: package graph is made of these types, and so can other layers be. [Job.Begin] gets
// a JobRun and returns the first item. An item pushes others by its Worker, Hooks tell the job what its items cannot
// see, and the job ends the run by [JobRun.Finish]. The example of Item is the smallest such layer.
//
// The protocols, their invariants and what is not promised are in PROTOCOL.md beside this file. Sources: document 000
// is Lin, Huang and Wong, "An Efficient Work-Stealing Scheduler for Task Dependency Graph" (2020).
package executor
