package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A Group is a control group with a limit that this process has created below its own.
type Group struct {
	Dir string // of its files
}

// quotaPeriod is the kernel's default.
const quotaPeriod = 100 * time.Millisecond

// Create creates a group with the given quota in CPUs. It needs the right to write to the process's own group, which
// usually only root has.
func Create(name string, cpus float64) (*Group, error) {
	return create(name, "cpu", fmt.Sprintf("a quota of %v CPUs", cpus), func(v version) map[string]string {
		return v.limit(time.Duration(cpus*float64(quotaPeriod)), quotaPeriod)
	})
}

// CreateThreads creates a group that may have the given number of threads. It needs the same right as Create.
func CreateThreads(name string, most int) (*Group, error) {
	return create(name, "pids", fmt.Sprintf("a limit of %d threads", most), func(version) map[string]string {
		return map[string]string{"pids.max": strconv.Itoa(most)}
	})
}

// create creates a group with a limit that a controller sets. files returns what to write to which of its files.
func create(name, controller, limit string, files func(v version) map[string]string) (*Group, error) {
	parent, v, err := writable(controller)
	if err != nil {
		return nil, fmt.Errorf("cgroup: cannot create a group with %s: %w", limit, err)
	}
	g := &Group{filepath.Join(parent, name)}
	if err := os.Mkdir(g.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("cgroup: cannot create a group with %s: %w", limit, err)
	}
	for file, text := range files(v) {
		if err := os.WriteFile(filepath.Join(g.Dir, file), []byte(text), 0o644); err != nil {
			return nil, errors.Join(fmt.Errorf("cgroup: %s: %w", limit, err), g.Remove())
		}
	}
	return g, nil
}

// Add moves a process into the group.
func (g *Group) Add(pid int) error {
	if err := os.WriteFile(filepath.Join(g.Dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
		return fmt.Errorf("cgroup: process %d cannot be moved into the group: %w", pid, err)
	}
	return nil
}

// Remove removes the group. Its processes must have ended; one that has just ended may take a moment to leave it.
func (g *Group) Remove() (err error) {
	for range 100 {
		if err = os.Remove(g.Dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("cgroup: the group stays behind: %w", err)
}

// writable returns the process's group in a hierarchy whose groups may have limits that the controller sets.
func writable(controller string) (dir string, v version, err error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", version{}, err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", version{}, err
	}
	for _, v := range versions {
		unified := v.controller == ""
		if !unified {
			v.controller = controller
		}
		own, ok := v.group(groups)
		m, mounted := v.mount(mounts)
		if !ok || !mounted {
			continue
		}
		dir := m.dirs(own)[0]
		if unified {
			// Groups inside have limits only if the controller is on for them.
			_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
			text, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
			if !hasWord(string(text), controller) {
				err = fmt.Errorf("%s does not delegate the %s controller", dir, controller)
				continue
			}
		}
		return dir, v, nil
	}
	if err == nil {
		err = fmt.Errorf("no hierarchy of control groups has the %s controller", controller)
	}
	return "", version{}, err
}
