package executor

// SkipTask says that the item that w, the calling worker, is running is a task that the job does not run: [Stats] count
// it as skipped. Observers are told of the task, and why it is not run: for cause or, if that is nil, because the run
// is stopped. Unless the run is Observed, task may be nil.
//
//go:noinline
func (r *JobRun) SkipTask(w *Worker, task *TaskInfo, cause error) {
	partsOf(w).skip(r)
	if r.Observed() {
		r.tellSkip(w, task, cause)
	}
}

// skip counts the item of r being run as a skipped task. It publishes that at once: a worker that skips nothing has no
// more to publish.
func (w *workerParts) skip(r *JobRun) {
	r.Uncount(&w.Worker)
	w.skipped.Store(w.skipped.Load() + 1)
}
