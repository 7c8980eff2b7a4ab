// Package api compares what a module exports with what is written down of it, for tests.
//
// It takes the place of golang.org/x/exp/cmd/apidiff, which compares two versions: that needs a tag in the clone, and
// tells nothing of what is new. Here each addition is a line in a review.
package api

import (
	"errors"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write next.txt of the exported names anew")

// Check compares what the packages of the module in dir export with the lines of the files in its folder testdata/api:
// each line of a release, in v*.txt, is still there, and next.txt has the others.
func Check(t testing.TB, dir string) {
	t.Helper()
	if runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		t.Skip("the files have what is exported on linux/amd64")
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	now, err := export(dir)
	must(err)
	folder := filepath.Join(dir, "testdata", "api")
	files, err := filepath.Glob(filepath.Join(folder, "v*.txt"))
	must(err)
	released := map[string]string{}
	for _, file := range files {
		lines, err := read(file)
		must(err)
		for _, line := range lines {
			released[line] = filepath.Base(file)
		}
	}
	name := filepath.Join(folder, "next.txt")
	if *update {
		fresh := slices.DeleteFunc(slices.Clone(now), func(line string) bool { return released[line] != "" })
		must(os.WriteFile(name, []byte(strings.Join(append(fresh, ""), "\n")), 0o666))
	}
	next, err := read(name)
	if !errors.Is(err, fs.ErrNotExist) {
		must(err)
	}
	for _, complaint := range compare(released, next, now) {
		t.Error(complaint)
	}
}

// read returns the lines of a file.
func read(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), err
}

// compare returns what is wrong: released has the file of each line of a release, next has the lines since, and now
// those of the code.
func compare(released map[string]string, next, now []string) (wrong []string) {
	const again = "If that is meant, run the test with -update and commit next.txt. CHANGELOG.md says what users notice."
	for _, line := range slices.Sorted(maps.Keys(released)) {
		if !slices.Contains(now, line) {
			wrong = append(wrong, fmt.Sprintf("%s has, and the code has not:\n\t%s\nA release keeps what it has had. A version "+
				"that may break programs takes the line out of that file, and CHANGELOG.md says so.", released[line], line))
		}
	}
	for _, line := range next {
		if !slices.Contains(now, line) {
			wrong = append(wrong, fmt.Sprintf("next.txt has, and the code has not:\n\t%s\n%s", line, again))
		}
	}
	for _, line := range now {
		if released[line] == "" && !slices.Contains(next, line) {
			wrong = append(wrong, fmt.Sprintf("the code exports, and no file has:\n\t%s\n%s", line, again))
		}
	}
	return wrong
}

// export returns the lines of what the module in dir exports: of all packages but commands and internal ones.
func export(dir string) ([]string, error) {
	list := exec.Command("go", "list", "-deps", "-export", "-f",
		`{{.ImportPath}} {{.Export}} {{if .Module}}{{if and .Module.Main (ne .Name "main")}}{{.Dir}}{{end}}{{end}}`, "./...")
	list.Dir, list.Stderr = dir, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", list, err)
	}
	compiled := map[string]string{}
	var public []string
	for line := range strings.Lines(string(out)) {
		path, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		file, source, _ := strings.Cut(rest, " ")
		compiled[path] = file
		if source == "" || strings.Contains(path+"/", "/internal/") {
			continue
		}
		public = append(public, path)
		// The go command runs a test again if what it has looked at has changed.
		files, err := filepath.Glob(filepath.Join(source, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if _, err := os.Stat(file); err != nil {
				return nil, err
			}
		}
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(compiled[path])
	})
	var all []string
	for _, path := range public {
		pkg, err := from.Import(path)
		if err != nil {
			return nil, err
		}
		all = append(all, lines(pkg)...)
	}
	slices.Sort(all)
	return all, nil
}
