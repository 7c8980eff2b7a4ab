// Package energy reads the energy that the processor packages have used, from the kernel's power capping framework
// (RAPL).
package energy

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// A Reading has the energy counters of the processor packages, by domain. It is empty where they cannot be read.
type Reading map[string]counter

// A counter counts microjoules, up to its range, and begins again.
type counter struct{ value, wraps float64 }

// Read reads the counters. Virtual machines have none, and some systems let only the superuser read them.
func Read() Reading { return read(os.DirFS("/")) }

func read(root fs.FS) Reading {
	const dir = "sys/class/powercap"
	e := make(Reading)
	domains, err := fs.ReadDir(root, dir)
	if err != nil {
		return e
	}
	for _, d := range domains {
		// intel-rapl:0 is a package, intel-rapl:0:0 a part of one, and intel-rapl-mmio:0 the same package again.
		if name, number, ok := strings.Cut(d.Name(), ":"); !ok || name != "intel-rapl" || strings.Contains(number,
			":") {
			continue
		}
		value, ok := number(root, path.Join(dir, d.Name(), "energy_uj"))
		wraps, _ := number(root, path.Join(dir, d.Name(), "max_energy_range_uj"))
		if ok {
			e[d.Name()] = counter{value, wraps}
		}
	}
	return e
}

func number(root fs.FS, name string) (float64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	return x, err == nil
}

// Until returns the joules used between e and a later reading. It is 0 if there are no counters.
func (e Reading) Until(later Reading) (joules float64) {
	for name, now := range later {
		before, ok := e[name]
		if !ok {
			continue
		}
		used := now.value - before.value
		if used < 0 {
			used += now.wraps
		}
		joules += used / 1e6
	}
	return joules
}
