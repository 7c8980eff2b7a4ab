package waited

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	mu   sync.Mutex
	sum  time.Duration
	last = map[string]time.Duration{} // of each thread that was alive at the last call
)

// ForCores returns for how long the threads of the process have been ready without a core so far. It never falls: of a
// thread that has ended it has what there was at the last call.
func ForCores() time.Duration {
	mu.Lock()
	defer mu.Unlock()
	const dir = "/proc/self/task/"
	threads, _ := os.ReadDir(dir)
	alive := make(map[string]time.Duration, len(threads))
	for _, thread := range threads {
		stat, err := os.ReadFile(dir + thread.Name() + "/schedstat")
		if err != nil {
			continue
		}
		if fields := strings.Fields(string(stat)); len(fields) > 1 { // the first is the time with a core
			ns, _ := strconv.ParseInt(fields[1], 10, 64)
			wait := time.Duration(ns)
			alive[thread.Name()] = wait
			if before := last[thread.Name()]; before <= wait {
				wait -= before
			} // else another thread has the number of one that has ended
			sum += wait
		}
	}
	last = alive
	return sum
}
