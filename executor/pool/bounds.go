//go:build !modelcheck

package pool

// looksInARow is how many looks at the queues a drainer makes before it goes to the end of the executor's queue, so
// that a drainer without a worker comes to run. Arbitrary: some ten microseconds, so that the wake-up of a worker that
// comes with it happens seldom.
const looksInARow = 1 << 12

// pause is called between two looks at the queues.
func pause() {}
