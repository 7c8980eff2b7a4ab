// Package executor runs work on OS threads of its own that steal from each other.
//
// An [Executor] has a fixed number of workers, each a goroutine locked to a thread. A worker runs each task to the end,
// keeps the tasks that it makes ready, and steals from other workers when it has none left. When there is nothing to
// steal it sleeps on a futex. No goroutine is started for a task, and between one task and the next there is no
// channel, mutex, timer or system call.
//
//	ex, err := executor.New(executor.Config{})
//	if err != nil { … }
//	defer ex.Close()
//	err = ex.Run(ctx, job) // a *graph.Graph, for example
//
// # Runs
//
// [Executor.Run] runs a [Job] and waits for it. [Executor.Start] returns a [Run] at once. A Job is a graph, a pipeline,
// or a function, see [NewJob]. Any number of runs may be in progress, started by any number of goroutines. In the
// terminology of the Go memory model, a call of Start synchronizes before the job's tasks, and the tasks synchronize
// before the return of the run's Wait. [Times] and [Until] are jobs that run another several times.
//
// # Forks, scopes, futures
//
// A function that gets a [Scope] from [Call] or [NewJob] can start other work and wait for it. [Fork] makes one call
// available to workers that have nothing to do; it costs a few nanoseconds. [Scope.Go] starts a child that may fail.
// All of this work ends before the function does. [Async] starts a single call from anywhere and returns a [Future].
// [First] calls several functions and takes the first result. A [Promise] is a Future that something outside the
// executor ends, such as a reply or a timer, see [Timer]; it holds no worker and no goroutine. A Future may come after
// other futures and after runs, of other executors too. [Run.OnEnd] and [Future.OnEnd] call a function at the
// end. A [Group] has the methods of an errgroup. Package parallel is built on forks.
//
// # Which one when
//
// Several things here order work, and each is for another case:
//
//   - An edge of a graph: the tasks are known before the run. Nothing is quicker.
//   - A Value of package graph: an edge that carries a result.
//   - [Async] with what it comes after: the work becomes known while other work runs, and has a result.
//   - [Group].GoAfter: the same for functions that only fail or do not.
//   - A [Promise], or an external task of a graph: something outside the executor ends it.
//   - [Fork] and [Scope].Go: a function splits its own work, and waits for it.
//
// For a sequence of values through stages there is package pipeline: a Flow if the stages pass values of types of their
// own, and a Stage for each function if they share a slot by line. For a list of tasks that do not depend on each
// other, a loop of package parallel; package pool if tasks are to be in order or to stop when one has found the result.
//
// # Workers
//
// A task that was given a context need not capture its executor: [FromContext] finds it, and the functions of this
// package that take a context and an executor take a nil executor for it. With the context of no task, nil stands for
// the executor of [Default], which the whole process may use. [Executor.WorkerIndex] tells a task the index of its
// worker, and a [PerWorker] has a value for each. [host.Threads].Start and End are called on the workers' threads.
//
// # Errors
//
// A task fails by an error, a panic or [runtime.Goexit]. The failure cancels the task's run, and becomes the run's
// error. Goexit of a task that the caller of Run runs itself ends the caller, see [Executor.Run]. A run that is
// cancelled, by its context or by [Run.Cancel], skips tasks that have not started. With errors.Is, its error matches
// both the cause and the context's error, context.Canceled or context.DeadlineExceeded.
//
// A task's error that only says again why the run was stopped is not reported. The Unwrap and Is methods of the error
// decide this; at most a few thousand errors of a tree are looked at. If a method panics, the error is reported. If it
// calls Goexit, that is as if the task had: the task has failed with [ErrGoexit], and a caller that runs it ends.
//
// If a method of the caller's context panics, Start and Async panic, and so does a task that uses the context.
// Elsewhere the panic cancels the run or future, and is the cause. Two cases are not contained: package context calls
// Done, Err and Value on goroutines of its own, where a panic ends the process; and if a method calls runtime.Goexit on
// a worker, or does not return, the run may never end.
//
// # Waiting inside a task
//
// Run and Wait may be called from a task of the same executor, with any number of workers. Meanwhile the worker runs
// items of the awaited run, and of runs nested in it. It runs nothing else, so that a task that holds a lock does not
// find, on its own stack, another task that wants the same lock. On a worker of another executor, Wait waits as in
// [Blocking]. [Forked.Join] and [Scope.Wait] run only what they wait for and what that has started. [Future.Wait] runs
// only the future and the futures that it comes after.
//
// A task that waits for anything else, such as I/O or a lock, should do so inside [Blocking]: a spare worker then
// stands in for its worker at once. Otherwise one does when items have waited for some milliseconds for a worker, see
// [host.Threads].OnlyBlocking.
//
// # Bounds and the end
//
// [Config.MaxRuns] bounds the runs and futures in progress that were started from outside: Run, Start and Async wait
// for room, and [Executor.TryStart] returns [ErrBusy]. [With] gives the runs of a job a name, a priority against other
// runs and a limit of workers.
//
// [Executor.Close] waits for all work and ends the workers. [Executor.Shutdown] does so within a bounded time: when its
// context ends, it cancels the work that is left. An executor that the program has forgotten is closed by the garbage
// collector.
//
// # Beside other goroutines
//
// A busy worker occupies a P. By default, an executor raises GOMAXPROCS by four Ps for three workers until it is
// closed, so that other goroutines have as many Ps as before, during a garbage collection too. The kernel then
// distributes the cores: [host.Threads] says how it treats the workers' threads, and [host.QuotaShare] how much of a
// CPU quota workers leave to the rest of the process. A Nice of up to 5 is good for a service, and 19 is not if tasks
// allocate. Then a larger GOGC shortens the tail of the handlers' latencies most. A long task lets others go first by
// [Yield].
//
// # Sharing a machine
//
// Executors with a [host.Share], in one process or in several of one user, divide the processors among themselves. Each
// estimates how many it can use, tells the others by a table in memory, and keeps to what it is allotted.
//
// # Looking inside
//
// [Executor.Stats] has counters and gauges, [Executor.Dump] writes them and the state of each worker for people, and
// [Executor.Stacks] tells where each worker is. [Run.Progress] says how far a run is. An [Observer] is told when runs
// and tasks begin and end, and when workers steal and sleep. Packages observe, metrics, watch and httpdebug are built
// on these: traces, times by task, figures by name, reports of stalls, and pages for operators.
//
// # Profiler labels
//
// A task has the labels of the context that its run was started with, or that was given to [Async]. If that context has
// none, the task has the labels of its worker: "executor", the executor's name, and "worker", the worker's number. So
// pprof.Do around a Run labels everything that the run does. A task may use pprof.Do too, also around another Run with
// the context that pprof.Do passes on. After a Wait inside pprof.Do a task may have the labels of its run, since the
// worker may have run other tasks meanwhile. Labels that a task has set and not restored last until the worker turns to
// another run, at most. On an executor of [NewInline], and on a caller that takes part, tasks have the labels of the
// goroutine that runs them, see [Executor.Run] and [Run.Wait].
//
// # Tests
//
// [NewInline] returns an executor without threads: everything runs on the goroutine that calls, in an order that a seed
// chooses.
//
// # Layers of your own
//
// Some types are for implementations of [Job] only: [Item], [Body], [Hooks], [Worker] and [JobRun]. Package graph is
// built on these types, and other layers can be too. [Job.Begin] gets a JobRun and returns the first item. An item
// pushes others with its Worker. The executor calls Hooks on events that items cannot see. The job ends the run with
// [JobRun.Finish]. The example of Item is the smallest such layer.
//
// PROTOCOL.md, beside this file, describes the protocol of the kernel, its invariants and what is not promised. It
// names the pages of the features. Document 000 is Lin, Huang and Wong, "An Efficient Work-Stealing Scheduler for Task
// Dependency Graph" (2020).
package executor
