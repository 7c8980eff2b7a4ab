// Package service measures an HTTP service that has work in the background: how long its answers take, and how much
// work gets done meanwhile, for several ways to run the work.
//
// Each measurement has two processes of its own. The server answers cheap requests, and runs the background. The load
// process sends requests at times that are fixed in advance, whether or not earlier ones have been answered, and takes
// the latency of each from the time at which it should have been sent. So no latency is left out because the load
// waited for the server. Both processes are the program itself, started again: it calls [Child] before anything else.
//
// Nothing is reported of a measurement with a wrong answer, a wrong result of the background, or a request without an
// answer.
package service
