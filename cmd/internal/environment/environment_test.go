package environment

import (
	"encoding/json"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestFiles(t *testing.T) {
	const cpuinfo = "processor\t: 0\nmodel name\t: Abacus 3000\nflags\t\t: fpu hypervisor sse\n\n" +
		"processor\t: 1\nmodel name\t: Other\n"
	root := fstest.MapFS{}
	for name, text := range map[string]string{
		"proc/sys/kernel/osrelease":                            "6.1.0\n",
		"proc/cpuinfo":                                         cpuinfo,
		"proc/meminfo":                                         "MemTotal:        2048 kB\nMemFree: 1 kB\n",
		"proc/loadavg":                                         "0.10 0.20 0.30 1/99 1234\n",
		"proc/self/cgroup":                                     "1:cpu:/old\n0::/a/b\n",
		"sys/fs/cgroup/cpu.max":                                "max 100000\n",
		"sys/fs/cgroup/a/cpu.max":                              "150000 100000\n",
		"sys/fs/cgroup/a/b/cpu.max":                            "200000 100000\n",
		"sys/fs/cgroup/a/memory.max":                           "1000\n",
		"sys/fs/cgroup/a/b/memory.max":                         "max\n",
		"sys/kernel/mm/transparent_hugepage/enabled":           "always [madvise] never\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
		"sys/devices/system/cpu/cpu0/cache/index0/level":       "1\n",
		"sys/devices/system/cpu/cpu0/cache/index0/type":        "Data\n",
		"sys/devices/system/cpu/cpu0/cache/index0/size":        "48K\n",
		"sys/devices/system/cpu/cpu0/cache/index1/level":       "2\n",
		"sys/devices/system/cpu/cpu0/cache/index1/type":        "Unified\n",
		"sys/devices/system/cpu/cpu0/cache/index1/size":        "2048K\n",
		"sys/devices/system/cpu/cpu0/cache/uevent":             "",
	} {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	var e Environment
	e.readFiles(root)
	require.Empty(t, cmp.Diff(Environment{
		Kernel:       "6.1.0",
		CPU:          "Abacus 3000",
		Caches:       []string{"L1 data 48K", "L2 2048K"},
		Hypervisor:   true,
		Governor:     "performance",
		HugePages:    "madvise",
		Load:         "0.10 0.20 0.30",
		MemoryTotal:  2 << 20,
		CgroupMemory: "1000",
		CgroupCPU:    "150000 100000",
	}, e))
}

// TestWithoutFiles is the case of any system but Linux.
func TestWithoutFiles(t *testing.T) {
	var e Environment
	e.readFiles(fstest.MapFS{})
	require.Empty(t, cmp.Diff(Environment{}, e))
}

func TestCgroupUnlimited(t *testing.T) {
	memory, cpu := cgroupLimits(fstest.MapFS{
		"proc/self/cgroup":         {Data: []byte("0::/\n")},
		"sys/fs/cgroup/memory.max": {Data: []byte("max\n")},
		"sys/fs/cgroup/cpu.max":    {Data: []byte("max 100000\n")},
	})
	require.Equal(t, "max", memory)
	require.Equal(t, "max 100000", cpu)
}

func TestRead(t *testing.T) {
	e := Read()
	require.Equal(t, runtime.GOOS, e.GOOS)
	require.Equal(t, runtime.Version(), e.Go)
	require.Equal(t, runtime.NumCPU(), e.Cores)
	require.Positive(t, e.GOMAXPROCS)
	require.Contains(t, []string{"futex", "portable"}, e.Park)
	var back Environment
	b, err := json.Marshal(e)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &back))
	require.Empty(t, cmp.Diff(*e, back))
}

func TestSummary(t *testing.T) {
	e := &Environment{GOOS: "linux", GOARCH: "amd64", CPU: "Abacus 3000", Cores: 2, Go: "go1.26.8"}
	require.Equal(t, "linux/amd64, Abacus 3000, 2 cores, go1.26.8", e.Summary())
	plan9 := &Environment{GOOS: "plan9", GOARCH: "386", Cores: 1, Go: "go1.26.8"}
	require.Equal(t, "plan9/386, 1 core, go1.26.8", plan9.Summary())
}
