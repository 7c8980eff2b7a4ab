package executor

// HeldUp says that a task of the run waits for something that a task of another run may have to give, such as a permit,
// and that no item stands for it meanwhile. Each call is followed by one of GoesOn.
//
// A worker that waits for the run, inside a task, runs only what the run consists of. If it sleeps while a run is held
// up, a spare stands in for it, as if a worker were in [Blocking]: otherwise no worker might be left to run the task
// that has to give. Any thread; before the task can go on, or at the same time.
func (r *JobRun) HeldUp() { r.core.spares.Hold() }

// GoesOn undoes HeldUp. Any thread.
func (r *JobRun) GoesOn() { r.core.spares.Release() }
