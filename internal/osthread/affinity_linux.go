//go:build !modelcheck

package osthread

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxCPUs is more than any kernel supports.
const maxCPUs = 1 << 14

// SetCPUs makes the calling thread run on these CPUs only. If the process's cpuset does not have all of them, the
// thread runs on those that it has, if any, and SetCPUs returns an error that names the others.
func SetCPUs(cpus []int) error {
	set := unix.NewCPUSet(maxCPUs)
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinityDynamic(0, set); err == unix.EINVAL {
		return fmt.Errorf("none of CPUs %s is in the process's cpuset: %w", formatCPUs(cpus),
			os.NewSyscallError("sched_setaffinity", err))
	} else if err != nil {
		return os.NewSyscallError("sched_setaffinity", err)
	}
	got, err := affinity(0)
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(slices.Clone(cpus), func(cpu int) bool { return slices.Contains(got, cpu) })
	if len(missing) > 0 {
		return fmt.Errorf("CPUs %s are not in the process's cpuset", formatCPUs(missing))
	}
	return nil
}

// CPUs returns the CPUs that the process's main thread may run on, in ascending order.
//
// Any thread.
func CPUs() ([]int, error) { return affinity(os.Getpid()) }

// affinity returns the CPUs of a thread, or of the calling thread for 0.
func affinity(thread int) (cpus []int, err error) {
	set := unix.NewCPUSet(maxCPUs)
	if err := unix.SchedGetaffinityDynamic(thread, set); err != nil {
		return nil, os.NewSyscallError("sched_getaffinity", err)
	}
	for cpu := range maxCPUs {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// OnlineCPUs returns the CPUs of the machine that are online, in ascending order, or nil if they are unknown.
//
// Any thread.
func OnlineCPUs() []int { return onlineCPUs(machine) }

const cpuDir = "sys/devices/system/cpu"

func onlineCPUs(root fsys) []int { return parseCPUs(readString(root, cpuDir+"/online")) }

// CoresFirst orders CPUs so that those of different cores come first, then a second one of each core, and so on. CPUs
// of which it is unknown have a core each.
//
// Any thread.
func CoresFirst(cpus []int) []int { return coresFirst(machine, cpus) }

func coresFirst(root fsys, cpus []int) []int {
	ordered, nth := make([]int, 0, len(cpus)), make([]int, len(cpus))
	cores := make(map[int]int) // by their first CPU: how many of the CPUs they have so far
	for i, cpu := range cpus {
		core := cpu
		list := path.Join(cpuDir, "cpu"+strconv.Itoa(cpu), "topology/thread_siblings_list")
		if siblings := parseCPUs(readString(root, list)); len(siblings) > 0 {
			core = siblings[0]
		}
		nth[i] = cores[core]
		cores[core]++
	}
	for n := 0; len(ordered) < len(cpus); n++ {
		for i, cpu := range cpus {
			if nth[i] == n {
				ordered = append(ordered, cpu)
			}
		}
	}
	return ordered
}

// parseCPUs reads a list of the kernel's, such as 0-3,8. It returns nil if list is not such a list.
func parseCPUs(list string) (cpus []int) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.ParseUint(first, 10, 16)
		to, err2 := strconv.ParseUint(last, 10, 16)
		if err1 != nil || err2 != nil || to >= maxCPUs {
			return nil
		}
		for cpu := from; cpu <= to; cpu++ {
			cpus = append(cpus, int(cpu))
		}
	}
	return cpus
}

// formatCPUs writes CPUs as the kernel does: it is the reverse of parseCPUs.
func formatCPUs(cpus []int) string {
	var parts []string
	for i := 0; i < len(cpus); {
		j := i + 1
		for j < len(cpus) && cpus[j] == cpus[j-1]+1 {
			j++
		}
		part := strconv.Itoa(cpus[i])
		if j-i > 1 {
			part += "-" + strconv.Itoa(cpus[j-1])
		}
		parts, i = append(parts, part), j
	}
	return strings.Join(parts, ",")
}
