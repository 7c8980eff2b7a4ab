package graph_test

import (
	"cmp"
	"fmt"
	"slices"
)

// A hold is a vertex with its permits, and the observed period for which it held them.
type hold struct {
	v          *vertex
	begin, end int64
}

// holds lists the holds. A flow or a module has its permits while any task inside it runs, unless Goexit has unwound
// the task that waits for them.
func (x *execution) holds(unwound bool) (all []hold) {
	last := make(map[*firing]int64) // of what a flow has built
	ends := make(map[*firing]int64)
	for _, f := range slices.Backward(x.log) {
		ends[f] = max(f.end, last[f])
		if f.flow != nil && !unwound {
			last[f.flow] = max(last[f.flow], ends[f])
		}
		if f.v.limits != nil {
			all = append(all, hold{f.v, f.start, ends[f]})
		}
	}
	for _, run := range x.replayed.runs {
		if v := x.only(run); v != nil && !unwound {
			end := int64(0)
			for _, f := range run.firings {
				end = max(end, ends[f])
			}
			all = append(all, hold{v, run.firings[0].start, end})
		}
	}
	return all
}

// only returns the module of which a run is, if there is only one candidate.
func (x *execution) only(run *rerun) (only *vertex) {
	if run.flow != nil || run.root == x.root {
		return nil
	}
	for _, v := range x.vertices {
		if v.does == stands && v.child == run.root && !v.isCopied() {
			if only != nil {
				return nil
			}
			only = v
		}
	}
	return only
}

// limited checks that at no moment the tasks of all executions held more permits than there are.
func (b *built) limited(all []*execution) error {
	for s, permits := range b.permits {
		var changes []change
		for _, x := range all {
			for _, h := range x.holds(x.isUnwound()) {
				need := 0
				for _, l := range h.v.limits {
					if l == s {
						need++
					}
				}
				changes = append(changes, change{h.begin, need}, change{h.end, -need})
			}
		}
		if at, held := highest(changes); held > permits {
			return fmt.Errorf("at %d %d permits of semaphore %d were held, of %d", at, held, s, permits)
		}
	}
	return nil
}

// A change is an increment at a moment.
type change struct {
	at int64
	by int
}

// highest returns the largest sum of changes, and its moment.
func highest(changes []change) (at int64, most int) {
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	n := 0
	for _, c := range changes {
		if n += c.by; n > most {
			at, most = c.at, n
		}
	}
	return at, most
}
