package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A rival is one of the libraries that are measured, Magpie among them.
type rival struct {
	name    string
	command []string // the driver
	benches []string
	missing string // why there is no driver
}

func (p *rival) does(bench string) bool { return slices.Contains(p.benches, bench) }

// measure calls the driver and returns the nanoseconds of a repetition.
func (p *rival) measure(ctx context.Context, bench string, workers, n int, seconds float64) (float64, error) {
	args := slices.Concat(p.command[1:], []string{bench, strconv.Itoa(workers), strconv.Itoa(n), fmt.Sprint(seconds)})
	cmd := exec.CommandContext(ctx, p.command[0], args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	ns, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		return 0, fmt.Errorf("the driver says %q: %w", out, err)
	}
	return ns, nil
}

// A compiled is a driver that has to be compiled.
type compiled struct {
	name    string
	benches []string
	needs   string // the compiler
	hint    string // what may be missing besides
	compile func(ctx context.Context, dir, binary string) *exec.Cmd
}

// What the drivers do, by kind.
var (
	recursions = []string{"fib", "queens", "fat", "thin"}
	fanOut     = []string{"fan"}
	graphs     = []string{"dag", "chain", "btree"}
	sortings   = []string{"sort", "sort-floats", "sort-strings", "sort-few", "sort-sorted", "sort-reversed"}
	calls      = []string{"run", "rare"}
)

var compileds = []compiled{
	{"rayon", slices.Concat(recursions, fanOut, graphs, sortings, calls), "cargo", "the registry of crates",
		cargo("rayon")},
	{"chili", recursions, "cargo", "the registry of crates", cargo("chili")},
	{"onetbb", slices.Concat(recursions, fanOut, graphs, sortings, calls), "g++", "the package libtbb-dev",
		func(ctx context.Context, dir, binary string) *exec.Cmd {
			return exec.CommandContext(ctx, "g++", "-O3", "-march=native", "-std=c++20", "-o", binary,
				filepath.Join(dir, "onetbb.cpp"), "-ltbb")
		}},
	{"openmp", slices.Concat(recursions, fanOut, graphs, calls), "g++", "the compiler's OpenMP",
		func(ctx context.Context, dir, binary string) *exec.Cmd {
			return exec.CommandContext(ctx, "g++", "-O3", "-march=native", "-std=c++20", "-fopenmp", "-o", binary,
				filepath.Join(dir, "openmp.cpp"))
		}},
	{"lace", slices.Concat(recursions, fanOut, calls), "g++",
		"lace.pc, which pkg-config finds in $PKG_CONFIG_PATH",
		func(ctx context.Context, dir, binary string) *exec.Cmd {
			script := `found=$(pkg-config --cflags --libs lace 2>&1) || { echo "$found"; exit 1; }
				g++ -O3 -march=native -std=c++20 -o "$2" "$1" $found`
			return exec.CommandContext(ctx, "sh", "-c", script, "sh", filepath.Join(dir, "lace.cpp"), binary)
		}},
}

// cargo compiles one of the drivers in Rust.
func cargo(name string) func(ctx context.Context, dir, binary string) *exec.Cmd {
	return func(ctx context.Context, dir, binary string) *exec.Cmd {
		script := `cargo build --quiet --release --bin "$1" && cp "target/release/$1" "$2"`
		cmd := exec.CommandContext(ctx, "sh", "-c", script, "sh", name, binary)
		cmd.Dir = filepath.Join(dir, "rust")
		cmd.Env = append(os.Environ(), "CARGO_TARGET_DIR=target", "RUSTFLAGS=-C target-cpu=native")
		return cmd
	}
}

//go:embed drivers
var sources embed.FS

// rivalNames returns the names of all rivals.
func rivalNames() (all []string) {
	for _, g := range goRivals {
		if g.rival != "magpie" && !slices.Contains(all, g.rival) {
			all = append(all, g.rival)
		}
	}
	for _, c := range compileds {
		all = append(all, c.name)
	}
	for _, r := range loopRivals {
		if r.name != "magpie" && !slices.Contains(all, r.name) {
			all = append(all, r.name)
		}
	}
	return all
}

// everyone returns magpie and its rivals with these names, or all of them. drop removes the drivers that were compiled.
func everyone(ctx context.Context, names []string, t *teller) (all []rival, drop func(), err error) {
	if len(names) == 0 {
		names = rivalNames()
	}
	drop = func() {}
	self, err := os.Executable()
	if err != nil {
		return nil, drop, err
	}
	for _, g := range goRivals {
		if g.rival != "magpie" && !slices.Contains(names, g.rival) {
			continue
		}
		i := slices.IndexFunc(all, func(p rival) bool { return p.name == g.rival })
		if i < 0 {
			i = len(all)
			all = append(all, rival{name: g.rival, command: []string{self, "drive", g.rival}})
		}
		all[i].benches = append(all[i].benches, g.bench)
	}
	dir, err := os.MkdirTemp("", "rivals")
	if err != nil {
		return nil, drop, err
	}
	drop = func() { os.RemoveAll(dir) }
	drivers, err := fs.Sub(sources, "drivers")
	if err == nil {
		err = os.CopyFS(dir, drivers)
	}
	for _, c := range compileds {
		if err != nil {
			return nil, drop, err
		}
		if !slices.Contains(names, c.name) {
			continue
		}
		t.tell("compiling", c.name)
		all = append(all, c.build(ctx, dir))
		err = ctx.Err()
	}
	t.done()
	return all, drop, err
}

// build compiles the driver. If it cannot, the rival says why.
func (c *compiled) build(ctx context.Context, dir string) rival {
	p := rival{name: c.name, benches: c.benches}
	if _, err := exec.LookPath(c.needs); err != nil {
		p.missing = "not here: " + c.needs + " is not installed"
		return p
	}
	binary := filepath.Join(dir, c.name+".driver")
	if said, err := c.compile(ctx, dir, binary).CombinedOutput(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
		p.missing = fmt.Sprintf("not here: the driver does not compile, which needs %s: %s", c.hint, first)
		return p
	}
	p.command = []string{binary}
	return p
}
