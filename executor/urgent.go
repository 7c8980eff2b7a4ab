package executor

// newcomer takes an item for which a busy worker interrupts the work on items of priority own, if there is one: a
// submitted item of a higher priority, an item of a higher one from the lane of another worker, or a submitted item of
// that priority. At some takes it prefers submitted items of a lower priority, so that these do not wait for ever.
func (w *Worker) newcomer(own Priority) *Item {
	q := &w.core.injector
	if q.isPlain() {
		it, _ := w.takeSubmitted()
		return it
	}
	w.search.takes++
	if w.search.takes%takesPerRound == 0 {
		if it := w.takeOf(orders[1], func(p Priority) bool { return p < own }); it != nil {
			return it
		}
	}
	if it := w.takeOf(orders[0], func(p Priority) bool { return p > own }); it != nil {
		return it
	}
	if it := w.stealAbove(own); it != nil {
		return it
	}
	it, _ := q.of(own).Steal()
	return it
}

// takeOf takes the oldest submitted item of the first priority in order that may be taken and has one.
func (w *Worker) takeOf(order []Priority, may func(Priority) bool) *Item {
	for _, p := range order {
		if !may(p) {
			continue
		}
		if it, _ := w.core.injector.of(p).Steal(); it != nil {
			return it
		}
	}
	return nil
}

// aboveTries is how many items a busy worker takes from one lane to come to one of a higher priority. The first ones
// may be older items of another run. Arbitrary.
const aboveTries = 4

// stealAbove looks for an item of a priority above own in the lanes of the workers that run such items. Other items
// that it comes upon go to the worker's own lane or, if they are forks, to the injector, as in stealMany.
func (w *Worker) stealAbove(own Priority) *Item {
	if own == High {
		return nil
	}
	for _, victim := range w.core.workers() {
		if victim == w || Priority(victim.shown.Load()) <= own {
			continue
		}
		for tries := 0; tries < aboveTries && victim.lane.Ask(); tries++ {
			it, _ := w.steal(victim)
			switch {
			case it == nil:
				continue
			case it.Body.level() > own:
				return it
			}
			w.keep(it)
		}
	}
	return nil
}
