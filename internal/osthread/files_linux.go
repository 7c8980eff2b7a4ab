package osthread

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// fsys is the root of a file system, whose names are relative to it; a test passes a tree of its own. It is not an
// fs.FS: that of package os would bring some hundred kilobytes of it into every program with an executor.
type fsys interface {
	ReadFile(name string) ([]byte, error)
	// names returns the names in a folder, in any order, as far as it can be read.
	names(dir string) ([]string, error)
}

// An attempt notes whether the system refuses to open a file because too many are open.
type attempt struct {
	fsys
	refused bool
}

// ReadFile implements fsys.
func (a *attempt) ReadFile(name string) ([]byte, error) {
	b, err := a.fsys.ReadFile(name)
	a.note(err)
	return b, err
}

// names implements fsys.
func (a *attempt) names(dir string) ([]string, error) {
	names, err := a.fsys.names(dir)
	a.note(err)
	return names, err
}

func (a *attempt) note(err error) {
	a.refused = a.refused || errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE)
}

// machine is the root of the machine's file system.
var machine fsys = systemCalls{}

// systemCalls reads a file by an open, two reads and a close. Package os makes eleven calls for a file of /proc: it
// also asks for its size, and whether it can be polled. A look at /proc reads a file of each process.
type systemCalls struct{}

// ReadFile implements fsys.
func (systemCalls) ReadFile(name string) (b []byte, err error) {
	b = make([]byte, 0, 2048)
	err = read(name, 0, func(fd int) (int, error) {
		b = slices.Grow(b, 1)
		n, err := unix.Read(fd, b[len(b):cap(b)])
		b = b[:len(b)+max(n, 0)]
		return n, err
	})
	return b, err
}

// names implements fsys.
func (systemCalls) names(dir string) (names []string, err error) {
	b := make([]byte, 32<<10)
	err = read(dir, unix.O_DIRECTORY, func(fd int) (int, error) {
		n, err := unix.Getdents(fd, b)
		_, _, names = unix.ParseDirent(b[:max(n, 0)], -1, names)
		return n, err
	})
	return names, err
}

// read opens a file, and calls more with it until that returns no number above 0.
func read(name string, flags int, more func(fd int) (n int, err error)) error {
	fd, err := unix.Open("/"+name, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for n := 1; n > 0; {
		n, err = more(fd)
	}
	return err
}

func readString(root fsys, name string) string {
	b, err := root.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// readInt reads a file that holds one number. ok is false if the file is missing or says max.
func readInt(root fsys, name string) (n int64, ok bool) {
	n, err := strconv.ParseInt(readString(root, name), 10, 64)
	return n, err == nil
}

// readFields reads lines like "MemAvailable: 1234 kB" or "inactive_file 1234". It converts kB to bytes.
func readFields(root fsys, name string) map[string]int64 {
	m := make(map[string]int64)
	for line := range strings.Lines(readString(root, name)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		n, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			continue
		}
		if len(f) == 3 && f[2] == "kB" {
			n *= 1024
		}
		m[strings.TrimSuffix(f[0], ":")] = n
	}
	return m
}

// fieldOf returns the number in a line like "Threads: 7", or the first number of "Uid: 5 6 7 8", or 0 if there is none.
// It makes no map, as readFields does: a look reads a status for each process of the machine.
func fieldOf(text, name string) int64 {
	name += ":\t"
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			first, _, _ := strings.Cut(strings.TrimSpace(rest), "\t")
			n, _ := strconv.ParseInt(first, 10, 64)
			return n
		}
	}
	return 0
}

// cgroups lists the directories of the process's cgroup and of the cgroups above it, relative to root, lowest first.
// The controller is a name of version 1, or empty for version 2.
//
// A container may see the path on the host beside a mount that begins at the container's own cgroup. The directories
// below the mount then do not exist, and readers pass over them. The mount, always last, is the process's own cgroup.
func cgroups(root fsys, controller string) []string {
	mount := path.Join("sys/fs/cgroup", controller)
	for line := range strings.Lines(readString(root, "proc/self/cgroup")) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":") // 4:cpu,cpuacct:/a/b
		controllers, group, ok := strings.Cut(rest, ":")
		if !ok || !slices.Contains(strings.Split(controllers, ","), controller) {
			continue
		}
		var dirs []string
		for group = path.Clean("/" + group); group != "/"; group = path.Dir(group) {
			dirs = append(dirs, path.Join(mount, group))
		}
		return append(dirs, mount)
	}
	return []string{mount}
}
