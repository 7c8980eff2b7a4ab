package osthread

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// fsys is the root of the file system; tests give a tree of their own.
type fsys = fs.FS

func readString(root fsys, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func parseInt(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// readInt reads a file that holds one number. There is none in a missing file, nor in one that says max.
func readInt(root fsys, name string) (n int64, ok bool) {
	n, err := strconv.ParseInt(readString(root, name), 10, 64)
	return n, err == nil
}

// readFields reads lines like "MemAvailable:   1234 kB" or "inactive_file 1234". Sizes in kB are given in bytes.
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

// cgroups lists the directories of the process's cgroup (version 2) and of those above it, relative to root.
func cgroups(root fsys) []string {
	var dirs []string
	for line := range strings.Lines(readString(root, "proc/self/cgroup")) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for group = path.Clean("/" + group); ; group = path.Dir(group) {
			dirs = append(dirs, path.Join("sys/fs/cgroup", group))
			if group == "/" {
				break
			}
		}
	}
	return dirs
}
