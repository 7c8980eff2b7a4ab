package executor

// A vigil is what a worker keeps while it waits inside a task: the looks at other workers that have found no item for
// the wait. What the worker does meanwhile is its policy's to say.
type vigil struct {
	w    *Worker
	vain int  // looks in a row
	idle bool // the policy knows that the worker has nothing to do
}

// noteVain notes a look that has found nothing. It reports whether the worker is to sleep.
func (v *vigil) noteVain() bool {
	if !v.idle {
		v.idle = true
		v.w.search.thief.Waits()
	}
	v.vain++
	if !v.w.search.thief.Vain(v.vain) {
		return false
	}
	v.vain = 0
	return true
}

// resume notes that the worker has found an item, stolen or not, or that the wait is over.
func (v *vigil) resume(stolen bool) {
	v.vain = 0
	if v.idle {
		v.idle = false
		v.w.search.thief.Resumes(stolen)
	}
}

// rest rests until the worker's sleeper is woken. To all others the worker sleeps: they wake it, and a spare may stand
// in for it. If its policy does not let it sleep, it looks at one victim after the other. It takes nothing there: that
// there may be an item for the wait, it is told. A worker that shares the machine has given its processor up, and does
// sleep.
func (w *Worker) rest() {
	thief := w.search.thief
	for vain := 1; w.inline == nil && !w.core.attached.sleepsAlways && !thief.MaySleep(); vain++ {
		if w.sleeper.parker.TryPark() {
			return
		}
		if w.counts.tried++; vain%flushInterval == 0 {
			w.publishCounts()
		}
		w.core.roster[w.search.random(len(w.core.workers()))].lane.Len() // no Ask: the owner would show an item for nobody
		thief.Vain(vain)
		giveWay()
	}
	w.counts.parks++
	w.park(func() { w.sleeper.sleep(w) })
}
