package executor

// Resume is [JobRun.Inject] for a caller on worker w: the item goes to w's deque. w runs an item of any run, or ends
// another run in [Hooks].Leave or Flush.
func (r *JobRun) Resume(w *Worker, it *Item) {
	r.visit(w) // I5
	effect := w.put(it)
	// D1(push). In Leave the worker is in no body, so tell, not wakeForPushed.
	if w.core.anyoneAsleep() {
		w.tell(effect)
	}
}
