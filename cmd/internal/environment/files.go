package environment

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// text returns the content of a file, or "".
func text(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(b)
}

// line returns the only line of a file, or "".
func line(root fs.FS, name string) string { return strings.TrimSpace(text(root, name)) }

// field returns the first value of a key in lines of the form "key : value".
func field(text, key string) string {
	for l := range strings.Lines(text) {
		if k, v, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func hasWord(text, word string) bool {
	for w := range strings.FieldsSeq(text) {
		if w == word {
			return true
		}
	}
	return false
}

// bracketed returns the marked choice in a line of the form "always [madvise] never".
func bracketed(s string) string {
	_, s, _ = strings.Cut(s, "[")
	s, _, _ = strings.Cut(s, "]")
	return s
}

// caches describes the caches of the first core, as in "L1 data 48K".
func caches(root fs.FS) (all []string) {
	const dir = "sys/devices/system/cpu/cpu0/cache"
	entries, _ := fs.ReadDir(root, dir)
	for _, e := range entries {
		d := path.Join(dir, e.Name())
		level, kind, size := line(root, d+"/level"), line(root, d+"/type"), line(root, d+"/size")
		if level == "" || size == "" {
			continue
		}
		if kind = strings.ToLower(kind); kind == "unified" {
			kind = ""
		} else {
			kind += " "
		}
		all = append(all, "L"+level+" "+kind+size)
	}
	return all
}

// cgroupLimits finds the strictest limits of this process's cgroup (version 2) and the cgroups above it.
func cgroupLimits(root fs.FS) (memory, cpu string) {
	own := ""
	for l := range strings.Lines(text(root, "proc/self/cgroup")) {
		if p, ok := strings.CutPrefix(l, "0::"); ok {
			own = strings.Trim(strings.TrimSpace(p), "/")
		}
	}
	lowest, share := int64(-1), -1.0
	for dir := path.Join("sys/fs/cgroup", own); strings.HasPrefix(dir, "sys/fs/cgroup"); dir = path.Dir(dir) {
		if limit := line(root, dir+"/memory.max"); limit != "" {
			n, err := strconv.ParseInt(limit, 10, 64)
			if err == nil && (lowest < 0 || n < lowest) {
				lowest, memory = n, limit
			} else if memory == "" {
				memory = limit
			}
		}
		if limit := line(root, dir+"/cpu.max"); limit != "" {
			quota, period, _ := strings.Cut(limit, " ")
			q, err := strconv.ParseFloat(quota, 64)
			p, perr := strconv.ParseFloat(period, 64)
			if err == nil && perr == nil && p > 0 && (share < 0 || q/p < share) {
				share, cpu = q/p, limit
			} else if cpu == "" {
				cpu = limit
			}
		}
	}
	return memory, cpu
}
