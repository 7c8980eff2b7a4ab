package cgroup

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A tree is a file system, by path.
type tree map[string]string

func (files tree) write(t *testing.T) (root string) {
	root = t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	return root
}

const (
	mount2 = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	mount1 = "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
		"33 30 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
	home = "1 0 8:1 / / rw - ext4 /dev/root rw\n"
)

func TestRead(t *testing.T) {
	const ms = time.Millisecond
	none := State{CPUs: math.Inf(1)}
	for name, c := range map[string]struct {
		files tree
		want  State
		err   string
	}{
		"no control groups": {files: tree{}, want: none},
		"version 2, a container with names of its own": {
			files: tree{
				"proc/self/cgroup":          "0::/\n",
				"proc/self/mountinfo":       home + mount2,
				"sys/fs/cgroup/cpu.max":     "150000 100000\n",
				"sys/fs/cgroup/cpu.stat":    "usage_usec 5\nnr_periods 7\nnr_throttled 3\nthrottled_usec 9\n",
				"sys/fs/cgroup/cpu.weight":  "100\n",
				"sys/fs/cgroup/cgroup.type": "domain\n",
			},
			want: State{1.5, 100 * ms, 7, 3, "/sys/fs/cgroup"},
		},
		"version 2, the smallest is two groups out": {
			files: tree{
				"proc/self/cgroup":               "0::/pods/a/b\n",
				"proc/self/mountinfo":            mount2,
				"sys/fs/cgroup/pods/cpu.max":     "50000 50000\n",
				"sys/fs/cgroup/pods/cpu.stat":    "nr_periods 1\n",
				"sys/fs/cgroup/pods/a/cpu.max":   "max 100000\n",
				"sys/fs/cgroup/pods/a/b/cpu.max": "200000 100000\n",
			},
			want: State{1, 50 * ms, 1, 0, "/sys/fs/cgroup/pods"},
		},
		"version 2, no quota": {
			files: tree{
				"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mount2, "sys/fs/cgroup/a/cpu.max": "max 100000\n",
			},
			want: none,
		},
		"version 2, the mount shows only the group": {
			files: tree{
				"proc/self/cgroup":      "0::/docker/abc\n",
				"proc/self/mountinfo":   "29 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n",
				"sys/fs/cgroup/cpu.max": "25000 100000\n",
			},
			want: State{0.25, 100 * ms, 0, 0, "/sys/fs/cgroup"},
		},
		"version 2, the mount is of another group": {
			files: tree{
				"proc/self/cgroup":      "0::/docker/abcd\n",
				"proc/self/mountinfo":   "29 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n",
				"sys/fs/cgroup/cpu.max": "25000 100000\n",
			},
			want: State{0.25, 100 * ms, 0, 0, "/sys/fs/cgroup"},
		},
		"version 1": {
			files: tree{
				"proc/self/cgroup":                                "12:memory:/m\n5:cpu,cpuacct:/a b\n0::/\n",
				"proc/self/mountinfo":                             home + mount1 + mount2,
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":      "-1\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":     "100000\n",
				"sys/fs/cgroup/cpu,cpuacct/a b/cpu.cfs_quota_us":  "75000\n",
				"sys/fs/cgroup/cpu,cpuacct/a b/cpu.cfs_period_us": "50000\n",
				"sys/fs/cgroup/cpu,cpuacct/a b/cpu.stat":          "nr_periods 4\nnr_throttled 2\nthrottled_time 1\n",
			},
			want: State{1.5, 50 * ms, 4, 2, "/sys/fs/cgroup/cpu,cpuacct/a b"},
		},
		"a mount point with a space": {
			files: tree{
				"proc/self/cgroup":    "0::/\n",
				"proc/self/mountinfo": `29 23 0:26 / /my\040groups rw - cgroup2 cgroup2 rw` + "\n",
				"my groups/cpu.max":   "100000 100000\n",
			},
			want: State{1, 100 * ms, 0, 0, "/my groups"},
		},
		"a cpu.max of a form to come": {
			files: tree{
				"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mount2, "sys/fs/cgroup/cpu.max": "half of it\n",
			},
			err: `cgroup: the quota of /sys/fs/cgroup: unknown form of cpu.max: "half of it\n"`,
		},
		"no number": {
			files: tree{
				"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mount2,
				"sys/fs/cgroup/cpu.max": "99999999999999999999 100000\n",
			},
			err: `no number of microseconds: "99999999999999999999"`,
		},
		"no mounts": {
			files: tree{"proc/self/cgroup": "0::/\n"},
			err:   "cgroup: the mounts: ",
		},
		"lines of no form": {
			files: tree{"proc/self/cgroup": "0\n\n::\n", "proc/self/mountinfo": "1 2\n - \n" + mount2},
			want:  none,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(c.files.write(t))
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			require.Equal(t, c.want.Group != "", got.Limited())
		})
	}
}

// The groups of the process that runs the test, whatever they are, can be read.
func TestReadHere(t *testing.T) {
	s, err := Read()
	require.NoError(t, err)
	require.Greater(t, s.CPUs, 0.0)
	t.Log(s)
}

// A process in a group that Create has made is under its quota, and Read sees it. The test runs itself in the group.
func TestCreate(t *testing.T) {
	const quota = 0.1
	if os.Getenv("MAGPIE_TEST_IN_GROUP") != "" {
		s, err := Read()
		require.NoError(t, err)
		require.Equal(t, quota, s.CPUs)
		require.Equal(t, 100*time.Millisecond, s.Period)
		begin, used := time.Now(), osthread.ProcessCPU()
		for after := s; after.Throttled == s.Throttled; {
			for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
			}
			after, err = Read()
			require.NoError(t, err)
			if wall := time.Since(begin); wall > testkit.Patience && after.Throttled == s.Throttled {
				// On a busy machine the process may never get what the quota allows.
				used = osthread.ProcessCPU() - used
				require.Less(t, used.Seconds(), 0.9*quota*wall.Seconds(), "it is not throttled")
				break
			}
		}
		return
	}
	g, err := Create(fmt.Sprintf("magpie-test-%d", os.Getpid()), quota)
	if err != nil {
		t.Skip("a group with a quota cannot be made here:", err)
	}
	defer func() { require.NoError(t, g.Remove()) }()
	cmd := exec.Command("sh", "-c", `read -r go && exec "$0" -test.run='^TestCreate$'`, os.Args[0])
	cmd.Env = append(os.Environ(), "MAGPIE_TEST_IN_GROUP=1")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	require.NoError(t, g.Add(cmd.Process.Pid))
	_, err = in.Write([]byte("go\n"))
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), "%s", &out)
}
