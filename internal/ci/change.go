package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Packages take turns at length. Of those that import what the change touches each has one turn in nearTurns, and of
// the others one in farTurns.
const (
	nearTurns = 3
	farTurns  = 12
)

// A change is what is checked.
type change struct {
	what    string
	turn    uint64   // of checks that take turns: a number made of the last commit's name
	touched []string // packages with files in the change, as ./executor
	code    []string // packages whose code the change touches, or that of what they import: not only their tests
	near    []string // those that import these, or whose tests do
	long    []string // packages whose tests run at length: those touched, and those whose turn it is
	rest    []string // the other packages
	modules []string // nested modules with files in the change, as ./executor/cluster
}

// String says what the change is, for people.
func (c *change) String() string {
	return fmt.Sprintf("the change: %s\ntouched: %s\nat length: %s", c.what, words(c.touched), words(c.long))
}

func words(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, " ")
}

// environ returns the variables that steps use.
func (c *change) environ() []string {
	return []string{
		"TOUCHED=" + strings.Join(c.touched, " "),
		"CODE=" + strings.Join(c.code, " "),
		"NEAR=" + strings.Join(c.near, " "),
		"LONG=" + strings.Join(c.long, " "),
		"REST=" + strings.Join(c.rest, " "),
		"MODULES=" + strings.Join(c.modules, " "),
		"TURN=" + strconv.FormatUint(c.turn, 10),
	}
}

// committed returns the change from after a commit to HEAD. If since is empty it is the last commit that is four hours
// older than HEAD: CI has a clone, which does not say what landed last.
func committed(root, since string) (*change, error) {
	if since == "" {
		when, err := git(root, "log", "-1", "--format=%ct")
		if err != nil {
			return nil, err
		}
		head, err := strconv.ParseInt(when, 10, 64)
		if err != nil {
			return nil, err
		}
		const hours = 4
		since, err = git(root, "rev-list", "-1", fmt.Sprintf("--before=%d", head-hours*3600), "HEAD")
		if err != nil {
			return nil, err
		}
	}
	c := &change{what: "all that there is"}
	head, err := git(root, "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	const digits = 12
	if c.turn, err = strconv.ParseUint(head[:digits], 16, 64); err != nil {
		return nil, err
	}
	list := []string{"ls-files"}
	if since != "" {
		c.what = fmt.Sprintf("what comes after %.10s", since)
		list = []string{"diff", "--name-only", since, "HEAD"}
	}
	files, err := git(root, list...)
	if err != nil {
		return nil, err
	}
	return c, c.list(root, strings.Fields(files))
}

// uncommitted returns the change of the files that are not committed.
func uncommitted(root string) (*change, error) {
	files, err := git(root, "status", "--porcelain", "--untracked-files=all", "--no-renames")
	if err != nil {
		return nil, err
	}
	c := &change{what: "what is not committed"}
	var names []string
	for line := range strings.Lines(files) {
		if fields := strings.Fields(line); len(fields) == 2 {
			names = append(names, fields[1])
		}
	}
	if len(names) == 0 {
		return nil, errors.New("nothing has changed since the last commit")
	}
	return c, c.list(root, names)
}

// list finds the packages of files.
func (c *change) list(root string, files []string) error {
	all, err := packagesOf(root)
	if err != nil {
		return err
	}
	modules, err := git(root, "ls-files", "--", "*/go.mod", ":!*/testdata/*")
	if err != nil {
		return err
	}
	var nested []string
	for _, name := range strings.Fields(modules) {
		nested = append(nested, "./"+path.Dir(name))
	}
	c.sort(all, nested, files)
	return nil
}

// A pkg is a package of the module.
type pkg struct {
	dir     string   // ./executor
	imports []string // of its code
	tests   []string // of its tests
}

// sort finds the packages that files belong to, those whose code differs, those near them, and those whose tests run at
// length. A file in one of the nested modules belongs to that, and to no package above it.
func (c *change) sort(all []pkg, nested, files []string) {
	touched := make(map[string]bool)
	code := make(map[string]bool) // packages whose code has changed, or that of what they import
	for _, name := range files {
		for dir := "./" + path.Dir(name); dir != "."; dir = pathDir(dir) {
			if slices.Contains(nested, dir) {
				if !slices.Contains(c.modules, dir) {
					c.modules = append(c.modules, dir)
				}
				break
			}
			if slices.ContainsFunc(all, func(p pkg) bool { return p.dir == dir }) {
				touched[dir] = true
				isGo := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
				if isGo || strings.HasSuffix(name, ".s") {
					code[dir] = true
				}
				break
			}
		}
	}
	isCode := func(dir string) bool { return code[dir] }
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !code[p.dir] && slices.ContainsFunc(p.imports, isCode) {
				code[p.dir], grown = true, true
			}
		}
	}
	for i, p := range all {
		if code[p.dir] {
			c.code = append(c.code, p.dir)
		}
		hasTurn := func(turns uint64) bool { return (c.turn+uint64(i))%turns == 0 }
		long := hasTurn(farTurns)
		switch {
		case touched[p.dir]:
			c.touched = append(c.touched, p.dir)
			long = true
		case code[p.dir] || slices.ContainsFunc(p.tests, isCode):
			c.near = append(c.near, p.dir)
			long = hasTurn(nearTurns)
		}
		if long {
			c.long = append(c.long, p.dir)
		} else {
			c.rest = append(c.rest, p.dir)
		}
	}
}

// pathDir is path.Dir for a path that begins with ./ and is to keep that.
func pathDir(dir string) string {
	up := path.Dir(dir)
	if up == "." {
		return "."
	}
	return "./" + strings.TrimPrefix(up, "./")
}

// packagesOf lists the packages of the module.
func packagesOf(root string) (all []pkg, err error) {
	const format = `{{.ImportPath}}|{{join .Imports " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}`
	cmd := exec.Command("go", "list", "-f", format, "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, said(cmd, err)
	}
	const module = "github.com/magpie-go/magpie/"
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		p := pkg{dir: "./" + strings.TrimPrefix(fields[0], module)}
		own := func(list string) (dirs []string) {
			for _, name := range strings.Fields(list) {
				if rest, is := strings.CutPrefix(name, module); is {
					dirs = append(dirs, "./"+rest)
				}
			}
			return dirs
		}
		p.imports, p.tests = own(fields[1]), own(fields[2])
		all = append(all, p)
	}
	return all, nil
}

// git runs git in root.
func git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	return strings.TrimRight(string(out), "\n"), said(cmd, err)
}

// said adds to the error of a command what the command wrote to standard error.
func said(cmd *exec.Cmd, err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("%v: %w\n%s", cmd, err, exit.Stderr)
	}
	return err
}
