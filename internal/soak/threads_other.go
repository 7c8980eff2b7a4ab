//go:build !linux

package main

// threadsNamed finds none: threads have no names that can be read.
func threadsNamed(string) int { return 0 }

const onlyLinux = "exists only on Linux: elsewhere nobody may address another thread of the process by number"

var (
	signals  = disturbance{name: "signals", missing: onlyLinux}
	affinity = disturbance{name: "affinity", missing: onlyLinux}
)
