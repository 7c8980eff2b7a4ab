package osthread

import "fmt"

// A limit is an allowed number of threads or processes, and the number in use.
type limit struct {
	name      string
	max, used int64
	remedy    string
}

// checkRoom returns an error if one of the limits does not allow n more threads and others more besides.
func checkRoom(limits []limit, n, others int64) error {
	for _, l := range limits {
		if l.max-l.used < n+others {
			return fmt.Errorf("%d more threads, and %d that the process may start besides, "+
				"do not fit %s: %d allowed, %d in use: ask for fewer, or %s",
				n, others, l.name, l.max, l.used, l.remedy)
		}
	}
	return nil
}

// beyondPs is how many threads the Go runtime may have besides one for each P and those with locked goroutines: for its
// monitor, for starting threads, for signals, and for some that are in system calls.
const beyondPs = 6

// A claim is the number of threads that a process has claimed.
type claim struct {
	all    int64 // threads for locked goroutines that exist or will exist
	coming int64 // those of them that may not exist yet
}

// others returns how many threads the process may still start besides those that are asked for now, with ps Ps and
// threads threads. The Go runtime starts a thread for each P that has something to do; during a garbage collection all
// have.
func (c claim) others(threads int64, ps int) int64 {
	free := threads - (c.all - c.coming) // of locked goroutines
	return c.coming + max(0, int64(ps)+beyondPs-max(0, free))
}
