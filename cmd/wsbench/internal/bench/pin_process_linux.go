package bench

import (
	"fmt"
	"os"
	"strings"

	"github.com/magpie-go/magpie/internal/osthread"
	"golang.org/x/sys/unix"
)

// pinProcess lets the threads of the process run on n of the processors that it may use, or on all if there are fewer.
// They are dealt over the processor packages: with two packages, half are of each. Threads that start later inherit it.
func pinProcess(n int) (restore func(), err error) {
	var may, set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		return nil, fmt.Errorf("-pin: %w", err)
	}
	byPackage := make(map[string][]int)
	var packages []string
	for cpu, left := 0, may.Count(); left > 0; cpu++ {
		if !may.IsSet(cpu) {
			continue
		}
		left--
		// Without the file all processors are of one package.
		id, _ := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu))
		key := strings.TrimSpace(string(id))
		if byPackage[key] == nil {
			packages = append(packages, key)
		}
		byPackage[key] = append(byPackage[key], cpu)
	}
	for i := 0; set.Count() < min(n, may.Count()); i++ {
		key := packages[i%len(packages)]
		if cpus := byPackage[key]; len(cpus) > 0 {
			set.Set(cpus[0])
			byPackage[key] = cpus[1:]
		}
	}
	restore = func() { _ = setAffinity(&may) } // the set was allowed before
	if err := setAffinity(&set); err != nil {
		restore()
		return nil, fmt.Errorf("-pin: %w", err)
	}
	return restore, nil
}

// setAffinity sets the processors of all threads of the process.
func setAffinity(set *unix.CPUSet) error {
	return osthread.Each(func(id int) error { return unix.SchedSetaffinity(id, set) })
}
