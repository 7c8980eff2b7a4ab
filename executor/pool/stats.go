package pool

import "time"

// Stats has the counters of one run.
type Stats struct {
	Drainers []DrainerStats // by drainer
	Total    DrainerStats   // their sum
	Found    bool           // a task has found the result
}

// DrainerStats has the counters of one drainer, or the sum of several. The times are 0 unless [Options.Timed] is set.
type DrainerStats struct {
	Tasks        int           // tasks begun
	Busy         time.Duration // in tasks
	Steals       int           // steals that brought tasks
	Moved        int           // tasks that they brought
	FailedSteals int           // looks that found all queues of others empty, or their tasks gone
	LockWaits    int           // how often the lock of a queue was not free
	LockWait     time.Duration // spent waiting for such locks
	Looks        int           // looks at the queues that brought no task and were followed by another
}

func (a *DrainerStats) add(b *DrainerStats) {
	a.Tasks += b.Tasks
	a.Busy += b.Busy
	a.Steals += b.Steals
	a.Moved += b.Moved
	a.FailedSteals += b.FailedSteals
	a.LockWaits += b.LockWaits
	a.LockWait += b.LockWait
	a.Looks += b.Looks
}
