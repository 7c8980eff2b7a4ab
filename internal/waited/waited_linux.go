package waited

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// ForCores returns for how long the threads of the process have been ready without a core so far, summed over all
// that are alive.
func ForCores() (sum time.Duration) {
	const dir = "/proc/self/task/"
	threads, _ := os.ReadDir(dir)
	for _, thread := range threads {
		stat, err := os.ReadFile(dir + thread.Name() + "/schedstat")
		if err != nil {
			continue
		}
		if fields := strings.Fields(string(stat)); len(fields) > 1 { // the first is the time with a core
			wait, _ := strconv.ParseInt(fields[1], 10, 64)
			sum += time.Duration(wait)
		}
	}
	return sum
}
