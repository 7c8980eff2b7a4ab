package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Environment variables by which tests differ: with the seed of a test and of what it draws, with that of what it draws
// alone, and with what package guests reads.
const (
	seedVariable    = "MAGPIE_SEED"
	drawVariable    = "MAGPIE_DRAW"
	callersVariable = "MAGPIE_CALLERS"
)

// seeds holds the seeds of the tests that run and have asked for one, by their names.
var seeds sync.Map

// Seed returns the seed of a randomized test, and logs it with the command that repeats the test. It is that of the
// innermost test around t that has asked for one before, and else a new one, or the value of the environment variable
// MAGPIE_SEED. So one seed repeats what a test draws and what its subtests do.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, isNew := seedOf(t)
	if isNew {
		t.Logf("again: %s", again(t, fmt.Sprintf("%s=%d", seedVariable, seed)))
	}
	return seed
}

// seedOf returns what Seed does. isNew is whether t has not asked before.
func seedOf(t testing.TB) (seed uint64, isNew bool) {
	t.Helper()
	if seed, ok := seeds.Load(t.Name()); ok {
		return seed.(uint64), false
	}
	seed = uint64(time.Now().UnixNano())
	if given, ok := variable(t, seedVariable); ok {
		seed = given
	} else if outer, ok := seedAround(t.Name()); ok {
		seed = outer
	}
	seeds.Store(t.Name(), seed)
	t.Cleanup(func() { seeds.Delete(t.Name()) }) // with -count a test has another seed each time
	return seed, true
}

// seedAround returns the seed of the innermost test around that of a name.
func seedAround(name string) (seed uint64, ok bool) {
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		if outer, ok := seeds.Load(name[:i]); ok {
			return outer.(uint64), true
		}
	}
	return 0, false
}

// drawSeed returns the seed by which a test draws policies, deques and workloads.
func drawSeed(t testing.TB) uint64 {
	t.Helper()
	if seed, ok := variable(t, drawVariable); ok {
		return seed
	}
	return Seed(t)
}

// Only returns the command that repeats one of the cases of a test, given the seed of that case, with what the test has
// drawn. The case is to be the first of its seed.
func Only(t testing.TB, seed uint64) string {
	t.Helper()
	return "to run only this one: " +
		again(t, fmt.Sprintf("%s=%d %s=%d %s=1", drawVariable, drawSeed(t), seedVariable, seed, countVariable))
}

// variable returns the seed that an environment variable holds, if it is set.
func variable(t testing.TB, name string) (seed uint64, ok bool) {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return 0, false
	}
	seed, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return seed, true
}

// again returns the command that runs a test once more, as it was called and with these environment variables.
func again(t testing.TB, variables string) string {
	words := []string{variables}
	for _, name := range []string{drawVariable, countVariable, effortVariable, callersVariable} {
		if s := os.Getenv(name); s != "" && !strings.Contains(variables, name+"=") {
			words = append(words, name+"="+s)
		}
	}
	if runtime.GOARCH == "386" { // on a machine of 64 bits the tests of CI for 32 need it
		words = append(words, "GOARCH=386")
	}
	module, pkg := place()
	words = append(words, "go")
	if module != "" {
		words = append(words, "-C", module)
	}
	words = append(words, "test")
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if _, ok := limited.Deadline(); !ok {
			words = append(words, "-timeout 0")
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "-race":
				words = append(words, "-race")
			case "-tags":
				words = append(words, "-tags", s.Value)
			}
		}
	}
	return strings.Join(append(words, "-run", "'"+patternOf(t.Name())+"'", pkg), " ")
}

// patternOf returns the expression for -run that matches one test.
func patternOf(test string) string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^") + "$"
}

// place returns the folder of the module of the package under test, seen from the root of the repository, "" for the
// root itself, and the folder of the package, seen from the module. The working directory of a test is that of its
// package.
func place() (module, pkg string) {
	dir, err := os.Getwd()
	if err != nil {
		return "", "in the package's folder"
	}
	own := above(dir, "go.mod")
	if own == "" {
		return "", dir
	}
	if root := above(own, ".git"); root != "" && root != own {
		module, _ = filepath.Rel(root, own)
	}
	pkg, _ = filepath.Rel(own, dir)
	if pkg != "." {
		pkg = "./" + filepath.ToSlash(pkg)
	}
	return filepath.ToSlash(module), pkg
}

// above returns the nearest folder, dir or one above it, that has a file or folder of that name, "" if none has.
func above(dir, name string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}
