package osthread

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAvailableMemory(t *testing.T) {
	const (
		meminfo = "MemTotal:       1000000 kB\nMemAvailable:    500000 kB\n"
		free    = 500000 << 10
		v1      = "sys/fs/cgroup/memory/"
	)
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no cgroup", map[string]string{"proc/meminfo": meminfo}, free},
		{"nothing known", nil, 0},
		{"cgroup without a limit", map[string]string{
			"proc/meminfo":                   meminfo,
			"proc/self/cgroup":               "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "max\n",
			"sys/fs/cgroup/a/memory.current": "1\n",
		}, free},
		{"cgroup with more than the system", map[string]string{
			"proc/meminfo":                   meminfo,
			"proc/self/cgroup":               "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "9000000000\n",
			"sys/fs/cgroup/a/memory.current": "1\n",
		}, free},
		{"its own limit is lower than that above", map[string]string{
			"proc/meminfo":                     meminfo,
			"proc/self/cgroup":                 "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max":       "1000000\n",
			"sys/fs/cgroup/a/memory.current":   "400000\n",
			"sys/fs/cgroup/a/b/memory.max":     "500000\n",
			"sys/fs/cgroup/a/b/memory.current": "200000\n",
		}, 300000},
		{"the limit of the cgroup above is lower, with files to reclaim", map[string]string{
			"proc/meminfo":                     meminfo,
			"proc/self/cgroup":                 "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max":       "1000000\n",
			"sys/fs/cgroup/a/memory.current":   "400000\n",
			"sys/fs/cgroup/a/memory.stat":      "anon 1\ninactive_file 50000\n",
			"sys/fs/cgroup/a/b/memory.max":     "max\n",
			"sys/fs/cgroup/a/b/memory.current": "1\n",
		}, 650000},
		{"used up", map[string]string{
			"proc/meminfo":                 meminfo,
			"proc/self/cgroup":             "0::/\n",
			"sys/fs/cgroup/memory.max":     "1000\n",
			"sys/fs/cgroup/memory.current": "2000\n",
		}, 1},
		{"the system does not tell, the cgroup does", map[string]string{
			"proc/self/cgroup":             "0::/\n",
			"sys/fs/cgroup/memory.max":     "3000\n",
			"sys/fs/cgroup/memory.current": "1000\n",
		}, 2000},
		{"version 1", map[string]string{
			"proc/meminfo":                 meminfo,
			"proc/self/cgroup":             "4:memory:/a/b\n0::/\n",
			v1 + "a/memory.limit_in_bytes": "2000000\n",
			v1 + "a/memory.usage_in_bytes": "500000\n",
			v1 + "a/memory.stat":           "inactive_file 1\ntotal_inactive_file 20\n",
			v1 + "memory.limit_in_bytes":   "9223372036854771712\n",
			v1 + "memory.usage_in_bytes":   "600000000\n",
			v1 + "memory.stat":             "total_inactive_file 900000000\n",
		}, 1500020},
		{"version 1, the host's path in a container", map[string]string{
			"proc/meminfo":               meminfo,
			"proc/self/cgroup":           "4:memory:/docker/1234\n",
			v1 + "memory.limit_in_bytes": "2000000\n",
			v1 + "memory.usage_in_bytes": "500000\n",
		}, 1500000},
		{"version 1 without a limit", map[string]string{
			"proc/meminfo":               meminfo,
			v1 + "memory.limit_in_bytes": "9223372036854771712\n",
			v1 + "memory.usage_in_bytes": "500000\n",
		}, free},
	} {
		require.Equal(t, c.want, availableMemory(tree(c.files)), c.name)
	}
}

func TestAvailableMemoryHere(t *testing.T) {
	require.Positive(t, AvailableMemory())
}
