// Package executor runs work on OS threads of its own that steal from each other.
//
// A [Worker] is a goroutine locked to a thread of its own. It runs items to completion, keeps what it makes ready in a
// deque, and when it has nothing left it steals from the others; when there is nothing to steal it sleeps on a futex.
// No goroutine is started per item, and on the way from one item to the next there is no channel, mutex, timer or
// system call.
//
//	ex, err := executor.New(executor.Config{})
//	if err != nil { … }
//	defer ex.Close()
//	err = ex.Run(ctx, job) // a *graph.Graph, for example
//
// # Runs
//
// [Executor.Run] runs a [Job] and waits for it, [Executor.Start] does not wait. Any number of runs may be in progress,
// from any number of goroutines. Everything before a Start happens before the job's items; everything they do happens
// before the run's Wait returns.
//
// A run that is cancelled, by its context or by [Run.Cancel], skips what has not started. Its error matches, with
// errors.Is, both context.Canceled or context.DeadlineExceeded and the cause. A task that fails cancels its run in the
// same way, and the run's error is then the task's.
//
// What is a failure, and what only says again why the run was stopped, is decided by asking errors for Unwrap and Is.
// Of a tree of errors the first few thousand are asked, so that it may lead round in a circle, and a method that panics
// has not answered. Methods of the caller's context may panic as well: in Start and Async the caller gets the panic, in
// a task the task, and otherwise the run, or the future, is cancelled with it as the cause. But package context calls
// Done, Err and Value on goroutines of its own, where a panic ends the process; and a method that calls runtime.Goexit
// on a worker, or does not return, takes the run with it.
//
// # Forks, scopes, futures
//
// A function that is given a [Scope], by [Call] or [Func], can start other work and wait for it: [Fork] hands one call to
// whoever has nothing to do, for a few nanoseconds, [Scope.Go] starts a child that may fail. All of it ends before the
// function's run does. [Async] starts a single call from anywhere and returns a [Future]. [First] calls several functions
// and takes the first result. Package parallel is made of forks.
//
// # Waiting inside a task
//
// Run and Wait may be called from a task of the same executor, with any number of workers. The worker does not block:
// it runs items of the run that is awaited, and of runs nested in it, until that is over. It never runs anything else
// meanwhile, so a task that holds a lock does not find, on its own stack, another that wants the same lock. On a worker
// of another executor, Wait waits as in [Blocking]. [Forked.Join] and [Scope.Wait] run only what the call that is
// joined has started, [Future.Wait] only what it waits for.
//
// A task that waits for anything else, such as I/O or a lock, does so inside [Blocking]: a spare worker stands in for its own
// meanwhile. In any other way it blocks its worker.
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
// The executor knows nothing of graphs. Package graph is built on [Item], [Body], [Hooks] and [Job] alone, and so can
// other layers be.
//
// The protocols, their invariants and what is not promised are in PROTOCOL.md beside this file. Sources: document 000
// is Lin, Huang and Wong, "An Efficient Work-Stealing Scheduler for Task Dependency Graph" (2020).
package executor
