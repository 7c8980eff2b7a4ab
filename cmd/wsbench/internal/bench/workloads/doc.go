// Package workloads has what wsbench runs: one file for each workload, and their table, [All]. It knows nothing of how
// they are measured.
//
// A [Workload] makes a task graph of any size, which is a [Work], a [Program], whose tasks come into being while it
// runs, or a [Division], which is work that is divided into a list of tasks before it runs. Each verifies its own
// result: it is known, or can be checked.
//
// Some programs are written for a [Team], an interface of fork-join, instead of for each engine, or in addition.
package workloads
