//go:build !modelcheck

package osthread

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestSetCPUs(t *testing.T) {
	mine, err := CPUs()
	require.NoError(t, err)
	require.NotEmpty(t, mine)
	var one, all, none, some []int
	var errs [6]error
	onThread(func() {
		errs[0] = SetCPUs(mine[:1])
		one, _ = affinity(0)
		errs[1] = SetCPUs(mine)
		all, _ = affinity(0)
		errs[2] = SetCPUs([]int{maxCPUs - 1})
		none, _ = affinity(0)
		errs[3] = SetCPUs([]int{mine[0], maxCPUs - 3, maxCPUs - 2})
		some, _ = affinity(0)
		_, errs[4] = affinity(1 << 30)
	})
	require.NoError(t, errs[0])
	require.Equal(t, mine[:1], one)
	require.NoError(t, errs[1])
	require.Equal(t, mine, all)
	require.ErrorIs(t, errs[2], unix.EINVAL)
	require.ErrorContains(t, errs[2], "none of CPUs 16383 is in the process's cpuset")
	require.Equal(t, mine, none, "nothing has changed")
	require.EqualError(t, errs[3], "CPUs 16381-16382 are not in the process's cpuset")
	require.Equal(t, mine[:1], some)
	require.ErrorIs(t, errs[4], unix.ESRCH)

	after, err := CPUs()
	require.NoError(t, err)
	require.Equal(t, mine, after, "the main thread keeps its own")
	require.Subset(t, OnlineCPUs(), mine)
}

// cpus is a machine with the given lists of siblings by CPU.
func cpus(siblings ...string) fsys {
	files := make(map[string]string)
	for cpu, list := range siblings {
		files[cpuDir+"/cpu"+strconv.Itoa(cpu)+"/topology/thread_siblings_list"] = list + "\n"
	}
	return tree(files)
}

func TestCoresFirst(t *testing.T) {
	for _, c := range []struct {
		machine  fsys
		in, want []int
	}{
		{cpus("0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"),
			[]int{0, 1, 2, 3, 4, 5, 6, 7}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{cpus("0-1", "0-1", "2-3", "2-3"), []int{0, 1, 2, 3}, []int{0, 2, 1, 3}},
		{cpus("0-1", "0-1", "2-3", "2-3"), []int{1, 2, 3}, []int{1, 2, 3}},
		{cpus("0-1", "0-1", "2-3", "2-3"), []int{1, 3}, []int{1, 3}},
		{cpus("0-2", "0-2", "0-2", "3"), []int{0, 1, 2, 3}, []int{0, 3, 1, 2}},
		{cpus("0-1", "0-1", "", "x"), []int{0, 1, 2, 3, 9}, []int{0, 2, 3, 9, 1}}, // unknown ones
		{cpus(), []int{2, 0}, []int{2, 0}},
		{cpus(), nil, []int{}},
	} {
		require.Equal(t, c.want, coresFirst(c.machine, c.in))
	}
	mine, err := CPUs()
	require.NoError(t, err)
	require.ElementsMatch(t, mine, CoresFirst(mine))
}

func TestOnlineCPUs(t *testing.T) {
	for list, want := range map[string][]int{
		"0\n": {0}, "0-3\n": {0, 1, 2, 3}, "0-1,4,6-7\n": {0, 1, 4, 6, 7},
		"": nil, "x\n": nil, "0-\n": nil, "-1\n": nil, "0-99999999\n": nil, "0-16384\n": nil,
	} {
		got := onlineCPUs(tree(map[string]string{cpuDir + "/online": list}))
		require.Equal(t, want, got, "%q", list)
		if want != nil {
			require.Equal(t, list, formatCPUs(got)+"\n")
		}
	}
	require.Nil(t, onlineCPUs(tree(nil)))
}
