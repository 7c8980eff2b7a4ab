package bench

import (
	"fmt"
	"io"
	"strings"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
)

// WriteEnvironment writes e for people.
func WriteEnvironment(w io.Writer, e *environment.Environment) error {
	return EnvironmentTable(e).write(w)
}

// EnvironmentTable returns e for people: names and values.
func EnvironmentTable(e *environment.Environment) *Table {
	t := &Table{Columns: make([]Column, 2)} // which need no headings
	say := func(what, value string) {
		if value == "" {
			value = "unknown"
		}
		t.Row(what, value)
	}
	say("system", e.GOOS+"/"+e.GOARCH)
	say("kernel", e.Kernel)
	say("CPU", e.CPU)
	say("cores", fmt.Sprint(e.Cores))
	say("caches", strings.Join(e.Caches, ", "))
	say("virtual machine", yes(e.Hypervisor))
	say("frequency governor", e.Governor)
	say("load average", e.Load)
	say("memory", memoryText(e.MemoryTotal))
	say("memory available", memoryText(e.MemoryAvailable))
	say("cgroup memory limit", e.CgroupMemory)
	say("cgroup CPU limit", e.CgroupCPU)
	say("huge pages", e.HugePages)
	say("Go", e.Go)
	say("GOMAXPROCS", fmt.Sprint(e.GOMAXPROCS))
	say("threads sleep on", e.Park)
	say("commit", e.Commit)
	return t
}

func memoryText(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return workloads.GiB(float64(bytes))
}
