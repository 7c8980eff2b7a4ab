package osthread

import (
	"fmt"
	"math"
)

// A limit is an allowed number of threads or processes, and the number in use, or a part of it that leaves too few.
type limit struct {
	name      string
	max, used int64
	remedy    string
}

// left returns how many threads the limits allow besides those in use.
func left(limits []limit) int64 {
	n := int64(math.MaxInt64)
	for _, l := range limits {
		n = min(n, l.max-l.used)
	}
	return n
}

// checkRoom returns an error if one of the limits does not allow n more threads and others more besides.
func checkRoom(limits []limit, n, others int64) error {
	for _, l := range limits {
		if l.max-l.used < n+others {
			return fmt.Errorf("%d more threads, and %d that the process may start besides, "+
				"do not fit %s: %d allowed, %d or more in use: ask for fewer, or %s",
				n, others, l.name, l.max, l.used, l.remedy)
		}
	}
	return nil
}

// The Go runtime may have perP threads for each P: one that runs goroutines, and one that has just given the P away and
// waits for a core before it can be used again. It may have beyondPs others, without those with locked goroutines: for
// its monitor, for starting threads, for signals, for the network, and for some that are in system calls.
const (
	perP     = 2
	beyondPs = 6
)

// A claim is what a process has claimed.
type claim struct {
	all    int64 // threads for locked goroutines that exist or will exist
	coming int64 // those of them that may not exist yet
	ps     int64 // Ps that the process is to have besides those that it has
}

// others returns how many threads the process may still start besides those that are asked for now, with ps Ps and
// threads threads. The Go runtime starts threads for each P that has something to do; during a garbage collection all
// have. A thread that is about to end counts as free, and as in use: when it has ended there is one less of both.
func (c claim) others(threads int64, ps int) int64 {
	free := threads - (c.all - c.coming) // of locked goroutines
	return c.coming + max(0, perP*(int64(ps)+c.ps)+beyondPs-max(0, free))
}
