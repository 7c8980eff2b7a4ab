package osthread

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// tree makes a file system of names and contents.
func tree(files map[string]string) fsys {
	m := make(fstest.MapFS)
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return mapFS{m}
}

type mapFS struct{ fstest.MapFS }

// names implements fsys.
func (m mapFS) names(dir string) (names []string, err error) {
	entries, err := m.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
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

func TestFieldOf(t *testing.T) {
	const status = "Name:\tUid:\nPPid:\t4\nPid:\t3\nUid:\t5\t6\t7\t8\nThreads:\t9\nSeccomp:\trubbish\nNoNewPrivs:"
	for name, want := range map[string]int64{
		"Pid": 3, "PPid": 4, "Uid": 5, "Threads": 9, "Name": 0, "Seccomp": 0, "NoNewPrivs": 0, "Missing": 0, "pid": 0,
	} {
		require.Equal(t, want, fieldOf(status, name), name)
	}
}

// TestMachine: the machine's files are read whole, as package os reads them.
func TestMachine(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{0, 1, 2047, 2048, 2049, 100_000} {
		name := filepath.Join(dir, strconv.Itoa(size))
		want := strings.Repeat("magpie", size)[:size]
		require.NoError(t, os.WriteFile(name, []byte(want), 0o600))
		require.Equal(t, want, readString(machine, name[1:]), size)
	}
	require.NotEmpty(t, readString(machine, "proc/self/status"))
	for _, name := range []string{"missing", ""} { // the other one is a folder
		_, err := machine.ReadFile(filepath.Join(dir, name)[1:])
		require.Error(t, err)
	}
	names, err := machine.names(dir[1:])
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"0", "1", "2047", "2048", "2049", "100000"}, names)
	names, err = machine.names("missing")
	require.ErrorIs(t, err, unix.ENOENT)
	require.Empty(t, names)
	fds := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(all)
	}
	before := fds()
	for range 100 {
		readString(machine, "proc/self/status")
		_, _ = machine.names("proc/self")
	}
	require.Less(t, fds(), before+50, "files stay open")
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
