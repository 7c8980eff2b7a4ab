// Command soak runs task graphs of every shape while the process around them is disturbed, and checks every run: each
// task ran exactly once and after those before it, or the run's result says why not. Chores of all other kinds run
// beside them, from forks to subflows, and are checked by the values that they compute.
//
//	go run ./cmd/internal/soak                       a hundred million tasks, in less than a minute
//	go run ./cmd/internal/soak -tasks 10000000000    the long form
//	go run -tags magpie_chaos ./cmd/internal/soak    with delays inside the library's own contention points as well
//
// Disturbances are switched on and off about ten times a second. After ten seconds without progress the command prints
// the state of every executor and every stack, and fails. An interrupt ends it with a report of the work done.
//
// All random choices come from one seed, which is printed. Threads do not follow a seed: the same seed gives the same
// graphs, plans and kinds of disturbance, but not the same interleaving.
package main
