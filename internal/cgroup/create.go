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

// A Group is a control group with a quota that this process has created below its own.
type Group struct{ dir string }

// quotaPeriod is the kernel's default.
const quotaPeriod = 100 * time.Millisecond

// Create creates a group with the given quota in CPUs. It needs the right to write to the process's own group, which
// usually only root has.
func Create(name string, cpus float64) (*Group, error) {
	parent, v, err := writable()
	if err != nil {
		return nil, fmt.Errorf("cgroup: cannot create a group with a quota: %w", err)
	}
	g := &Group{filepath.Join(parent, name)}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("cgroup: cannot create a group with a quota: %w", err)
	}
	for file, text := range v.limit(time.Duration(cpus*float64(quotaPeriod)), quotaPeriod) {
		if err := os.WriteFile(filepath.Join(g.dir, file), []byte(text), 0o644); err != nil {
			return nil, errors.Join(fmt.Errorf("cgroup: a quota of %v CPUs: %w", cpus, err), g.Remove())
		}
	}
	return g, nil
}

// Add moves a process into the group.
func (g *Group) Add(pid int) error {
	if err := os.WriteFile(filepath.Join(g.dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
		return fmt.Errorf("cgroup: process %d cannot be moved into the group: %w", pid, err)
	}
	return nil
}

// Remove removes the group. Its processes must have ended; one that has just ended may take a moment to leave it.
func (g *Group) Remove() (err error) {
	for range 100 {
		if err = os.Remove(g.dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("cgroup: the group stays behind: %w", err)
}

// writable returns the process's group in a hierarchy whose groups may have quotas.
func writable() (dir string, v version, err error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", version{}, err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", version{}, err
	}
	for _, v := range versions {
		own, ok := v.group(groups)
		m, mounted := v.mount(mounts)
		if !ok || !mounted {
			continue
		}
		dir := m.dirs(own)[0]
		if v.controller == "" {
			// Groups inside have quotas only if the controller is on for them.
			_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+cpu"), 0o644)
			text, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
			if !hasWord(string(text), "cpu") {
				err = fmt.Errorf("%s does not delegate the cpu controller", dir)
				continue
			}
		}
		return dir, v, nil
	}
	if err == nil {
		err = errors.New("no hierarchy of control groups has quotas")
	}
	return "", version{}, err
}
