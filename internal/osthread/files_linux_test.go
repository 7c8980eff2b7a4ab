package osthread

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// tree makes a file system of names and contents.
func tree(files map[string]string) fsys {
	m := make(fstest.MapFS)
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func TestReadFields(t *testing.T) {
	root := tree(map[string]string{
		"status": "Name:\tsh\nVmHWM:\t    1868 kB\nThreads:\t7\nCapEff:\t000001ffffffffff\nUid:\t5\t6\t7\t8\nGroups:\n",
		"stat":   "anon 1\ninactive_file 2",
	})
	require.Equal(t, map[string]int64{"VmHWM": 1868 << 10, "Threads": 7, "Uid": 5}, readFields(root, "status"))
	require.Equal(t, map[string]int64{"anon": 1, "inactive_file": 2}, readFields(root, "stat"))
	require.Empty(t, readFields(root, "missing"))
}

func TestReadInt(t *testing.T) {
	root := tree(map[string]string{"number": "12\n", "max": "max\n", "empty": ""})
	n, ok := readInt(root, "number")
	require.True(t, ok)
	require.EqualValues(t, 12, n)
	for _, name := range []string{"max", "empty", "missing"} {
		_, ok := readInt(root, name)
		require.False(t, ok, name)
	}
}

func TestCgroups(t *testing.T) {
	const mixed = "12:cpu,cpuacct:/c\n4:memory:/box/4a:b\n1:name=systemd:/s\n0::/user.slice/u.service\n"
	for _, c := range []struct {
		name, file, controller string
		want                   []string
	}{
		{"version 2", mixed, "", []string{
			"sys/fs/cgroup/user.slice/u.service", "sys/fs/cgroup/user.slice", "sys/fs/cgroup"}},
		{"version 1", mixed, "memory", []string{
			"sys/fs/cgroup/memory/box/4a:b", "sys/fs/cgroup/memory/box", "sys/fs/cgroup/memory"}},
		{"two controllers of one hierarchy", mixed, "cpu", []string{"sys/fs/cgroup/cpu/c", "sys/fs/cgroup/cpu"}},
		{"root", "0::/\n", "", []string{"sys/fs/cgroup"}},
		{"outside of the namespace", "0::/../../x\n", "", []string{"sys/fs/cgroup/x", "sys/fs/cgroup"}},
		{"not listed", mixed, "pids", []string{"sys/fs/cgroup/pids"}},
		{"no cgroups", "", "", []string{"sys/fs/cgroup"}},
	} {
		root := tree(map[string]string{"proc/self/cgroup": c.file})
		require.Equal(t, c.want, cgroups(root, c.controller), c.name)
	}
}
