// Package cgroup reads the CPU quota under which the process runs: that of its control group and of the groups around
// it, in both versions of the Linux interface.
//
// A group with a quota may use so much CPU time in each period. When it is used up, the kernel stops every thread of
// the group until the next period: the group is throttled.
package cgroup

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A State is what the groups of the process say at one time.
type State struct {
	// CPUs is the smallest quota of the process's group and the groups around it, in CPUs: CPU time in a period divided
	// by the period. It is +Inf if none of them has a quota.
	CPUs float64
	// Period is the period of that group; 0 if there is no quota.
	Period time.Duration
	// Periods counts the periods of that group in which it had anything to run, and Throttled those in which it was
	// throttled. Both may start again from less when another group's quota becomes the smallest.
	Periods, Throttled uint64
	// Group is the path of that group's directory; "" if there is no quota.
	Group string
}

// Limited reports whether there is a quota.
func (s State) Limited() bool { return !math.IsInf(s.CPUs, 1) }

// Read reads the state. A process without control groups has no quota. Any thread; it opens about five files for each
// group between the process's and the root.
func Read() (State, error) { return read("/") }

// read is Read with the file system's root at the given directory.
func read(root string) (State, error) {
	s := State{CPUs: math.Inf(1)}
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("cgroup: the process's groups: %w", err)
	}
	mounts, err := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	if err != nil {
		return s, fmt.Errorf("cgroup: the mounts: %w", err)
	}
	for _, v := range versions {
		own, ok := v.group(groups)
		if !ok {
			continue
		}
		m, ok := v.mount(mounts)
		if !ok {
			continue
		}
		if err := s.visit(root, v, m, own); err != nil {
			return s, err
		}
	}
	return s, nil
}

// visit looks at the group own, and those around it that the mount shows.
func (s *State) visit(root string, v version, m mount, own string) error {
	for _, dir := range m.dirs(own) {
		quota, period, err := v.quota(filepath.Join(root, dir))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the root group, or one without the controller
		}
		if err != nil {
			return fmt.Errorf("cgroup: the quota of %s: %w", dir, err)
		}
		cpus := float64(quota) / float64(period)
		if quota < 0 || period <= 0 || cpus >= s.CPUs {
			continue
		}
		s.CPUs, s.Period, s.Group = cpus, period, dir
		s.Periods, s.Throttled = throttling(filepath.Join(root, dir, "cpu.stat"))
	}
	return nil
}

// A version is one of the two interfaces.
type version struct {
	controller string // in /proc/self/cgroup
	fstype     string
	// quota returns the quota and the period of the group in dir. A negative quota means none.
	quota func(dir string) (quota, period time.Duration, err error)
	// limit returns what to write to which files of a group to give it a quota.
	limit func(quota, period time.Duration) map[string]string
}

var versions = []version{
	{
		"", "cgroup2",
		func(dir string) (quota, period time.Duration, err error) {
			text, err := os.ReadFile(filepath.Join(dir, "cpu.max"))
			if err != nil {
				return 0, 0, err
			}
			return parseMax(string(text))
		},
		func(quota, period time.Duration) map[string]string {
			return map[string]string{"cpu.max": fmt.Sprint(quota.Microseconds(), " ", period.Microseconds())}
		},
	},
	{
		"cpu", "cgroup",
		func(dir string) (quota, period time.Duration, err error) {
			if quota, err = micros(filepath.Join(dir, "cpu.cfs_quota_us")); err == nil {
				period, err = micros(filepath.Join(dir, "cpu.cfs_period_us"))
			}
			return quota, period, err
		},
		func(quota, period time.Duration) map[string]string {
			return map[string]string{
				"cpu.cfs_period_us": fmt.Sprint(period.Microseconds()),
				"cpu.cfs_quota_us":  fmt.Sprint(quota.Microseconds()),
			}
		},
	},
}

// hasWord reports whether a list separated by spaces has a word.
func hasWord(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// parseMax parses the content of a cpu.max: "max 100000" or "150000 100000".
func parseMax(text string) (quota, period time.Duration, err error) {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return 0, 0, fmt.Errorf("unknown form of cpu.max: %q", text)
	}
	if period, err = parseMicros(fields[1]); err != nil || fields[0] == "max" {
		return -1, period, err
	}
	quota, err = parseMicros(fields[0])
	return quota, period, err
}

func parseMicros(s string) (time.Duration, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > math.MaxInt64/1000 {
		return 0, fmt.Errorf("no number of microseconds: %q", s)
	}
	return time.Duration(n) * time.Microsecond, nil
}

func micros(file string) (time.Duration, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return parseMicros(strings.TrimSpace(string(text)))
}

// throttling returns the counts of a cpu.stat, 0 where it has none.
func throttling(file string) (periods, throttled uint64) {
	text, _ := os.ReadFile(file)
	for line := range bytes.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		n, err := strconv.ParseUint(value, 10, 64)
		switch {
		case err != nil:
		case key == "nr_periods":
			periods = n
		case key == "nr_throttled":
			throttled = n
		}
	}
	return periods, throttled
}

// group returns the process's group in the interface's hierarchy, from the content of /proc/self/cgroup.
func (v version) group(text []byte) (group string, ok bool) {
	for line := range bytes.Lines(text) {
		fields := strings.SplitN(strings.TrimSuffix(string(line), "\n"), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for controller := range strings.SplitSeq(fields[1], ",") {
			if controller == v.controller {
				return strings.TrimSuffix(fields[2], " (deleted)"), true
			}
		}
	}
	return "", false
}

// A mount shows a part of a hierarchy, the groups below root, in the directory point.
type mount struct{ root, point string }

// mount returns the interface's mount, from the content of /proc/self/mountinfo.
func (v version) mount(text []byte) (m mount, ok bool) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1) // a line may be long
	for lines.Scan() {
		// 36 35 98:0 /root /mount/point rw,noatime shared:1 - cgroup source rw,cpu
		left, right, found := strings.Cut(lines.Text(), " - ")
		before, after := strings.Fields(left), strings.Fields(right)
		if !found || len(before) < 5 || len(after) < 3 || after[0] != v.fstype {
			continue
		}
		if v.controller != "" && !strings.Contains(","+after[2]+",", ","+v.controller+",") {
			continue
		}
		return mount{unescape(before[3]), unescape(before[4])}, true
	}
	return mount{}, false
}

// unescape replaces the octal escapes of a path in a mountinfo.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// dirs returns the directories of the group own and of the groups around it, the innermost first. A group that the
// mount does not show, as in a container that keeps the host's names, is taken to be the mount's root.
func (m mount) dirs(own string) (dirs []string) {
	below, ok := strings.CutPrefix(path.Clean(own), strings.TrimSuffix(m.root, "/"))
	if !ok || below != "" && below[0] != '/' {
		below = ""
	}
	for below = path.Join("/", below); ; below = path.Dir(below) {
		dirs = append(dirs, path.Join(m.point, below))
		if below == "/" {
			return dirs
		}
	}
}
