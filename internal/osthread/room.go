package osthread

import "fmt"

// A limit is a number of threads or processes that something allows, and how many there are.
type limit struct {
	name      string
	max, used int64
	remedy    string
}

// checkRoom returns an error if one of the limits does not allow n more threads and others besides.
func checkRoom(limits []limit, n, others int64) error {
	for _, l := range limits {
		if l.max-l.used < n+others {
			return fmt.Errorf("%d more threads, and %d that the process may start besides, do not fit %s: %d allowed, %d in use: "+
				"ask for fewer, or %s", n, others, l.name, l.max, l.used, l.remedy)
		}
	}
	return nil
}

// beyondPs is how many threads the Go runtime may come to have apart from one for each P and those with locked
// goroutines: for its monitor, for starting others, for signals, and for some that are in system calls.
const beyondPs = 6

// A claim is what a process has claimed of the threads that it may have.
type claim struct {
	all    int64 // threads for locked goroutines, that exist or will
	coming int64 // those of them that need not exist yet
}

// others is how many threads, of those not asked for now, the process may still start, with so many Ps, when it has so
// many threads. The Go runtime starts one for each P that has something to do, as in a garbage collection all have.
func (c claim) others(threads int64, ps int) int64 {
	free := threads - (c.all - c.coming) // of locked goroutines
	return c.coming + max(0, int64(ps)+beyondPs-max(0, free))
}
