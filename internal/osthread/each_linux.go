package osthread

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Each calls do for each thread of the process, until do fails. A thread that another has started meanwhile may be
// missed, so it looks again until there is no new one. A thread that has ended by then is no failure. Linux only.
func Each(do func(id int) error) error {
	done := make(map[int]bool)
	for found := true; found; {
		found = false
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil || done[id] {
				continue
			}
			done[id], found = true, true
			if err := do(id); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
	}
	return nil
}
