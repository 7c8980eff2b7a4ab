package pool

// A queue has the tasks of a run that have not begun. The run's drainers are its workers: d is always the caller.
type queue interface {
	// take takes the number of the task that d is to run next.
	take(d *drainer) (number int, got outcome)
}

// An outcome says what take has brought.
type outcome uint8

const (
	taken outcome = iota // a task
	none                 // no task is left for the drainer, now and later
	again                // nothing, but tasks may be left: another drainer was moving some, or was faster
)
