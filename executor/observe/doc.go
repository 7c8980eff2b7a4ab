// Package observe has observers for [executor.Config.Observers]: they show which tasks an executor runs, when, and on
// which worker.
//
//   - [Trace] writes a file for the viewers of Perfetto and Chrome: tasks by worker, steals and edges as arrows.
//   - [RuntimeTrace] makes runs and tasks visible in go tool trace.
//   - [Labels] makes CPU profiles readable by job and task.
//   - [Times] counts the tasks and adds up how long they take. [Times.Shades] colours the drawing of a graph by that.
//   - [Measures] tells a function how each run and task has ended, and what it took: for metrics.
//   - [Switch] turns an observer on and off while the executor runs.
//
// An executor takes several observers. They cost time at every task: about 20 ns for having any, 35 ns with Labels, and
// 80 to 120 ns with Times or Trace, most of it two readings of the clock (AMD EPYC, Go 1.26, 2026-11-27). The
// benchmarks of this package measure it. Without observers the code of a task is the same as if there were none.
//
// # Names
//
// A task without a name is shown as "#7", where 7 is its index in the job. A job without a name is shown as "job". A
// run has the name of its job, or that of [executor.RunOptions]. Labels, Trace and RuntimeTrace tell it, Times does
// not.
package observe
