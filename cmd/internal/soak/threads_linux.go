package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// threads lists the threads of the process. Some may be gone when the list arrives, and others new.
func threads() (ids []int) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// threadsNamed returns the number of threads whose names begin with prefix.
func threadsNamed(prefix string) (n int) {
	for _, id := range threads() {
		name, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/comm", id))
		if err == nil && strings.HasPrefix(string(name), prefix) {
			n++
		}
	}
	return n
}

// signals interrupts threads wherever they are, asleep or not, with the signal by which the runtime stops goroutines.
// The runtime takes a signal that it has not sent for a stale one.
var signals = disturbance{name: "signals", begin: func(_ *soak, rng *rand.Rand) (end func(), err error) {
	pid := unix.Getpid()
	return repeat(1, func() {
		for _, id := range threads() {
			_ = unix.Tgkill(pid, id, unix.SIGURG) // a thread that is gone cannot be disturbed
		}
		time.Sleep(time.Duration(rng.IntN(500)) * time.Microsecond)
	}), nil
}}

// affinity restricts threads to one core, all to the same or each to its own, and then gives them all cores back.
var affinity = disturbance{name: "affinity", begin: func(s *soak, rng *rand.Rand) (end func(), err error) {
	whole, cores, err := allowedCores()
	if err != nil {
		return nil, err
	}
	stop := repeat(1, func() {
		same, scatter := rng.IntN(len(cores)), rng.IntN(2) == 0
		for i, id := range threads() {
			core := same
			if scatter {
				core = (same + i) % len(cores)
			}
			var one unix.CPUSet
			one.Set(cores[core])
			if err := bind(id, &one); err != nil {
				s.fail(err)
			}
		}
		time.Sleep(time.Duration(1+rng.IntN(30)) * time.Millisecond)
	})
	return func() {
		stop()
		if err := unbind(whole); err != nil {
			s.fail(err)
		}
	}, nil
}}

func allowedCores() (whole unix.CPUSet, cores []int, err error) {
	if err := unix.SchedGetaffinity(0, &whole); err != nil {
		return whole, nil, fmt.Errorf("affinity: %w", err)
	}
	for core := 0; len(cores) < whole.Count(); core++ {
		if whole.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return whole, cores, nil
}

func bind(id int, to *unix.CPUSet) error {
	if err := unix.SchedSetaffinity(id, to); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("affinity of thread %d: %w", id, err)
	}
	return nil
}

// unbind gives every thread all cores. A new thread inherits the cores of the thread that started it, so unbind repeats
// until no thread has fewer.
func unbind(whole unix.CPUSet) error {
	for again := true; again; {
		again = false
		for _, id := range threads() {
			var has unix.CPUSet
			if err := unix.SchedGetaffinity(id, &has); err != nil || has == whole {
				continue // gone, or done already
			}
			if err := bind(id, &whole); err != nil {
				return err
			}
			again = true
		}
	}
	return nil
}
