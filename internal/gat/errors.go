package gat

import "errors"

var (
	// ErrLost is wrapped by the error of an update whose table is gone or broken. The job is alone from then on.
	ErrLost = errors.New("the table is lost")
	// ErrFull is wrapped by the error of Join when every slot has a live job.
	ErrFull = errors.New("every slot is taken")
	// ErrBusy is wrapped by the error of Join when another job has held the table's lock for too long.
	ErrBusy = errors.New("the table is locked")
	// ErrTerms is wrapped by the error of Join when the table has another number of processors or another cycle.
	ErrTerms = errors.New("the jobs of a table must agree")
	// ErrForeign is wrapped by the error of Join and Read for a file that is not a table of this version and machine.
	ErrForeign = errors.New("not a table of this version, machine and boot")
	// ErrLeft is wrapped by the error of an update after Leave.
	ErrLeft = errors.New("the job has left")
)
