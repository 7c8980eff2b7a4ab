package osthread

import "fmt"

// A limit is a number of threads or processes that something allows, and how many there are.
type limit struct {
	name      string
	max, used int64
	remedy    string
}

// checkRoom returns an error if one of the limits does not allow n more.
func checkRoom(limits []limit, n int) error {
	for _, l := range limits {
		if l.max-l.used < int64(n) {
			return fmt.Errorf("%d more threads do not fit %s: %d allowed, %d in use: ask for fewer, or %s",
				n, l.name, l.max, l.used, l.remedy)
		}
	}
	return nil
}
