//go:build !linux

package main

// threadsNamed returns 0: the names of threads cannot be read.
func threadsNamed(string) int { return 0 }

const onlyLinux = "exists only on Linux: elsewhere a process cannot address one of its threads by number"

var (
	signals  = disturbance{name: "signals", missing: onlyLinux}
	affinity = disturbance{name: "affinity", missing: onlyLinux}
)
