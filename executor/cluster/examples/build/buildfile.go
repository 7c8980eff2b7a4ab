package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// targets are what a Buildfile has, by their names.
type targets struct {
	byName map[string]*target
	first  string
}

// A target is a file that a script makes, or a group without one.
type target struct {
	name   string
	needs  []string // targets and files
	script string
}

// read reads a Buildfile.
func read(file string) (*targets, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := &targets{byName: map[string]*target{}}
	var last *target
	for i, line := range strings.Split(string(text), "\n") {
		name, needs, isTarget := strings.Cut(line, ":")
		switch indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"); {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case indented && last != nil:
			last.script += line + "\n"
		case indented || !isTarget || all.byName[name] != nil || !filepath.IsLocal(name):
			return nil, fmt.Errorf("%s:%d: want a new target, as in \"page.html: page.sed page.md\", got %q", file, i+1, line)
		default:
			last = &target{name: name, needs: strings.Fields(needs)}
			all.byName[name] = last
			if all.first == "" {
				all.first = name
			}
		}
	}
	if last == nil {
		return nil, fmt.Errorf("%s has no targets", file)
	}
	return all, nil
}

// check returns an error if not all can be made that the goals need.
func (t *targets) check(dir string, goals []string) error {
	checked := map[string]bool{} // false while what it needs is checked
	var check func(by, name string) error
	check = func(by, name string) error {
		done, begun := checked[name]
		switch target := t.byName[name]; {
		case done:
			return nil
		case begun:
			return fmt.Errorf("%s needs itself", name)
		case target != nil:
			checked[name] = false
			for _, need := range target.needs {
				if err := check(name, need); err != nil {
					return err
				}
			}
		case !filepath.IsLocal(name):
			return fmt.Errorf("%s needs %q, which is not below the directory of the Buildfile", by, name)
		default:
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() {
				return fmt.Errorf("%s needs %q, which is neither a target nor a file", by, name)
			}
		}
		checked[name] = true
		return nil
	}
	for _, g := range goals {
		if err := check("the command line", g); err != nil {
			return err
		}
	}
	return nil
}
