// Command soak runs task graphs of every shape while the process around them is disturbed, and checks every run: each
// task ran exactly once and after those before it, or the run's result says why not. Beside them there are chores of all
// other kinds, from forks to subflows, each with what it must compute.
//
//	go run ./internal/soak                       a hundred million tasks, in less than a minute
//	go run ./internal/soak -tasks 10000000000    the long form
//	go run -tags magpie_chaos ./internal/soak    with delays inside the library's own contention points as well
//
// What disturbs it is switched on and off about ten times a second. When nothing progresses for ten seconds it tells the
// state of every executor and every stack, and fails. An interrupt ends it with what was done.
//
// Everything is drawn from one seed, which is printed. Threads do not follow a seed: the same one gives the same graphs,
// the same plans and the same kinds of disturbance, not the same interleaving.
package main
