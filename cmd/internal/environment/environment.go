// Package environment describes the machine on which something was measured or shown.
package environment

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/procs"
)

// An Environment describes the machine on which figures were measured, and how much of it they could use. Unknown
// fields are empty or zero.
type Environment struct {
	GOOS       string `json:"goos"`
	GOARCH     string `json:"goarch"`
	Go         string `json:"go"`
	Commit     string `json:"commit,omitempty"` // of this module, with "+dirty" if it was changed
	Kernel     string `json:"kernel,omitempty"`
	CPU        string `json:"cpu,omitempty"`
	Cores      int    `json:"cores"`      // that this process may use
	GOMAXPROCS int    `json:"gomaxprocs"` // the process's own
	Park       string `json:"park"`       // how threads sleep: futex or portable

	Caches     []string `json:"caches,omitempty"`     // of the first core: "L1 data 48K"
	Hypervisor bool     `json:"hypervisor"`           // this is a virtual machine
	Governor   string   `json:"governor,omitempty"`   // frequency control of the first core
	HugePages  string   `json:"huge_pages,omitempty"` // transparent huge pages: always, madvise or never
	Load       string   `json:"load,omitempty"`       // averages over 1, 5 and 15 minutes

	MemoryTotal     int64  `json:"memory_total_bytes,omitempty"`
	MemoryAvailable int64  `json:"memory_available_bytes,omitempty"`
	CgroupMemory    string `json:"cgroup_memory_max,omitempty"` // the strictest limit in bytes, or "max"
	CgroupCPU       string `json:"cgroup_cpu_max,omitempty"`    // the strictest: "quota period" in µs, or "max period"
}

// Read describes the machine.
func Read() *Environment {
	e := &Environment{
		GOOS:            runtime.GOOS,
		GOARCH:          runtime.GOARCH,
		Go:              runtime.Version(),
		Commit:          commit(),
		Cores:           runtime.NumCPU(),
		GOMAXPROCS:      procs.Base(),
		Park:            park.Kind,
		MemoryAvailable: osthread.AvailableMemory(),
	}
	e.readFiles(os.DirFS("/"))
	return e
}

// readFiles fills in the fields from the files of /proc and /sys below root. Other systems than Linux do not have them.
func (e *Environment) readFiles(root fs.FS) {
	e.Kernel = line(root, "proc/sys/kernel/osrelease")
	cpuinfo := text(root, "proc/cpuinfo")
	e.CPU = field(cpuinfo, "model name")
	e.Hypervisor = hasWord(field(cpuinfo, "flags"), "hypervisor")
	e.Governor = line(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	e.HugePages = bracketed(line(root, "sys/kernel/mm/transparent_hugepage/enabled"))
	if f := strings.Fields(line(root, "proc/loadavg")); len(f) >= 3 {
		e.Load = strings.Join(f[:3], " ")
	}
	var kib int64
	if _, err := fmt.Sscanf(field(text(root, "proc/meminfo"), "MemTotal"), "%d kB", &kib); err == nil {
		e.MemoryTotal = kib << 10
	}
	e.Caches = caches(root)
	e.CgroupMemory, e.CgroupCPU = cgroupLimits(root)
}

// commit returns the revision that this program was built from, or "" if it is not known.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}

// Summary returns the environment in one line.
func (e *Environment) Summary() string {
	parts := []string{e.GOOS + "/" + e.GOARCH}
	if e.CPU != "" {
		parts = append(parts, e.CPU)
	}
	cores := "1 core"
	if e.Cores != 1 {
		cores = fmt.Sprintf("%d cores", e.Cores)
	}
	parts = append(parts, cores, e.Go)
	return strings.Join(parts, ", ")
}
