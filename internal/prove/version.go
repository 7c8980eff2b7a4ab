package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// product has the folders of the code that every layer tests.
var product = []string{
	"deque", "notifier", "executor", "graph",
	"internal/hugepage", "internal/model", "internal/osthread", "internal/pad", "internal/park", "internal/plan", "internal/procs",
	"internal/xatomic", "internal/xsync",
}

// version is a fingerprint of the product's code and of the layer's tests. Comments do not count.
func (y *layer) version(root string) (string, error) {
	h := sha256.New()
	dirs := slices.Clone(product)
	for _, p := range y.packages {
		if dir := strings.TrimPrefix(p, "./"); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			return "", err
		}
		if len(files) == 0 {
			return "", fmt.Errorf("no Go files in %s", filepath.Join(root, dir))
		}
		for _, name := range files { // in order: Glob sorts
			if strings.HasSuffix(name, "_test.go") && !(slices.Contains(y.packages, "./"+dir) && y.hasTest(name)) {
				continue
			}
			if err := digest(h, name); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12], nil
}

// hasTest reports whether a test file of the layer's packages matters to it: model programs have files of their own.
func (y *layer) hasTest(name string) bool {
	return strings.HasSuffix(name, "_model_test.go") == (y.tags == "modelcheck")
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
