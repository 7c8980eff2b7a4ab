package executor

// isInOnEnd reports whether w, the topmost worker that the caller runs on, or nil, is in a function of OnEnd, which
// must not wait: that of a run, which no run is around, or that of a future.
func isInOnEnd(w *Worker) bool {
	return w != nil && w.body != nil && (w.run() == nil || partsOf(w).inOnEnd)
}
