package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// version is a fingerprint of all that a layer's result depends on: its tests, what of the module they are compiled with,
// and go.mod, which names the rest. Comments do not count.
func (y *layer) version(root string) (string, error) {
	h := sha256.New()
	own, err := packagesOf(root, y.tags, false, y.packages)
	if err != nil {
		return "", err
	}
	all, err := packagesOf(root, y.tags, true, y.packages)
	if err != nil {
		return "", err
	}
	for _, dir := range all {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return "", err
		}
		for _, name := range files { // in order: Glob sorts
			if strings.HasSuffix(name, "_test.go") && !(slices.Contains(own, dir) && y.hasTest(name)) {
				continue
			}
			if err := digest(h, name); err != nil {
				return "", err
			}
		}
	}
	for _, pattern := range append([]string{"go.mod"}, y.files...) {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return "", err
		}
		if len(files) == 0 {
			return "", fmt.Errorf("layer %s: no files match %s", y.name, pattern)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "\n%s\n%s", filepath.Base(name), text)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12], nil
}

// packagesOf lists the folders of packages, and if deps is set of all packages of the module that they and their tests
// are compiled with, in order.
func packagesOf(root, tags string, deps bool, packages []string) ([]string, error) {
	args := []string{"list", "-tags", tags, "-f", "{{if .Module}}{{if .Module.Main}}{{.Dir}}{{end}}{{end}}"}
	if deps {
		args = append(args, "-deps", "-test")
	}
	cmd := exec.Command("go", append(args, packages...)...)
	cmd.Dir = root
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd, err, said.String())
	}
	dirs := strings.Fields(string(out))
	slices.Sort(dirs)
	return slices.Compact(dirs), nil
}

// hasTest reports whether a test file of the layer's packages matters to it: model programs have files of their own.
func (y *layer) hasTest(name string) bool {
	return y.allTests || strings.HasSuffix(name, "_model_test.go") == (y.tags == "modelcheck")
}

func digest(h io.Writer, name string) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "\n%s\n", filepath.Base(name))
	return printer.Fprint(h, files, file)
}
