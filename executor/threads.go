package executor

import (
	"fmt"
	"slices"
	"time"

	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/osthread"
)

const (
	shortestSlice = 100 * time.Microsecond
	longestSlice  = 100 * time.Millisecond
	maxCPU        = 1<<14 - 1 // more than any kernel supports
)

// checkThreads reports every bad field to bad. It puts the CPUs in ascending order, each once.
func checkThreads(t *host.Threads, bad func(format string, args ...any)) {
	if t.Nice < 0 || t.Nice > 19 {
		bad("Threads.Nice is %d: give 0 (normal) to 19 (lowest)", t.Nice)
	}
	if int(t.Class) >= len(systemClasses) {
		bad("Threads.Class is %d: use one of %v", uint8(t.Class), classes)
	}
	if t.Slice != 0 && (t.Slice < shortestSlice || t.Slice > longestSlice) {
		bad("Threads.Slice is %v: give %v to %v, or 0 for the kernel's choice", t.Slice, shortestSlice, longestSlice)
	} else if t.Slice != 0 && t.Class == host.ClassIdle {
		bad("Threads.Slice is %v, but threads of %v have no slice of their own: leave Slice 0", t.Slice, host.ClassIdle)
	}
	if t.CPUs == nil {
		return
	}
	t.CPUs = slices.Compact(slices.Sorted(slices.Values(t.CPUs)))
	if len(t.CPUs) == 0 {
		bad("Threads.CPUs is empty: give the numbers of CPUs, or nil for those of the process")
		return
	}
	online := osthread.OnlineCPUs()
	isBad := func(cpu int) bool {
		return cpu < 0 || cpu > maxCPU || !t.BestEffort && online != nil && !slices.Contains(online, cpu)
	}
	if wrong := slices.DeleteFunc(slices.Clone(t.CPUs), func(cpu int) bool { return !isBad(cpu) }); len(wrong) > 0 {
		there := ""
		if online != nil {
			there = fmt.Sprintf(", give some of %v", online)
		}
		bad("Threads.CPUs has %v: there are no such CPUs, or they are offline%s", wrong, there)
	}
}
