//go:build !modelcheck

package executor

import "time"

// How groups bound what they do and keep. Correctness does not depend on the values.
const (
	// maxBatch is how many functions from outside a worker takes from a group without a limit at a time. It is
	// arbitrary: the lock is then cheap, and a batch takes a kilobyte.
	maxBatch = 64

	// inboxPause is how many yields a worker waits for functions from outside, about a microsecond, in which a caller
	// gives some tens. After inboxLooks pauses without a full batch it takes what there is. Arbitrary.
	inboxPause = 4
	inboxLooks = 4

	// maxStoredBatches is how many empty batches an executor keeps: 330 kB, once some group had 16,384 functions from
	// outside that no worker had taken.
	maxStoredBatches = 256

	// patientTurns is how many functions of a group with a limit wait for their turn before Go of a task waits, too.
	// Arbitrary: to wait costs as much as some dozens of functions.
	patientTurns = 256

	// maxInGo is how many calls of Go there may be on a worker's stack that call the function that they were given. The
	// functions of deeper calls are queued. Arbitrary: deeper than directories are, and some MB of stack at most.
	maxInGo = 256

	// lookInterval is how soon a task that waits in Go notices that the spares have run out. After turnLooks of it in
	// which no function has had its turn the task goes on. Arbitrary.
	lookInterval = 10 * time.Millisecond
	turnLooks    = 100
)
