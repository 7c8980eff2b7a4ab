// Typecheck type-checks all packages of a Go module, each after those that it imports, and as many at a time as there
// are workers.
//
//	cd module && typecheck
//
// It is an example, to copy from: a graph with edges that are found at run time, results that tasks take from those
// before them, and errors of which each is told.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("typecheck", flag.ContinueOnError)
	dir := flags.String("C", ".", "the module's `directory`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	patterns := flags.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	packages, err := list(ctx, *dir, patterns)
	if err != nil {
		return err
	}

	began := time.Now()
	c := newChecker(packages)
	g, err := c.graph()
	if err != nil {
		return err
	}
	ex, err := executor.New(executor.Config{Name: "typecheck"})
	if err != nil {
		return err
	}
	defer ex.Close()
	if err := ex.Run(ctx, g); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d packages, %d errors, in %v on %d workers\n",
		g.Len(), len(c.errs), time.Since(began).Round(time.Millisecond), ex.Workers())
	return errors.Join(c.errs...)
}

// A goPackage is what go list tells of a package.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
	ImportMap               map[string]string
	DepOnly                 bool // it is not among those asked for, only imported by them
	Error                   *struct{ Err string }

	check bool // it is checked, not only read as compiled
}

// list returns the packages that match the patterns and all that they import. Packages that do not build are among
// them.
func list(ctx context.Context, dir string, patterns []string) (packages []*goPackage, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-e", "-deps", "-export",
		"-json=ImportPath,Dir,Export,GoFiles,Imports,ImportMap,DepOnly,Error", "--"}, patterns...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	text, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(text); ; {
		p := new(goPackage)
		if err := dec.Decode(p); err == io.EOF {
			break
		} else if err != nil {
			return nil, errors.Join(err, cmd.Wait())
		}
		if p.Error != nil && len(p.GoFiles) == 0 {
			return nil, errors.Join(errors.New(p.Error.Err), cmd.Wait())
		}
		packages = append(packages, p)
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return packages, nil
}

// A checker has the results of the packages' checks.
type checker struct {
	packages []*goPackage
	files    *token.FileSet      // safe for concurrent use
	compiled map[string]imported // what the packages import that is not checked; only read once tasks run

	mu      sync.Mutex // guards what follows
	checked map[string]*types.Package
	errs    []error
}

// An imported is what an importer returns of a package.
type imported struct {
	pkg *types.Package
	err error
}

// newChecker returns a checker of packages, which come in the order of list: each after those that it imports.
func newChecker(packages []*goPackage) *checker {
	c := &checker{
		packages: packages,
		files:    token.NewFileSet(),
		compiled: make(map[string]imported),
		checked:  make(map[string]*types.Package),
	}
	byPath := make(map[string]*goPackage)
	// Importing a package completes others that an earlier one has mentioned, while checks would read them. All are
	// imported before the first check for this reason.
	gc := importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(byPath[path].Export)
	})
	for _, p := range packages {
		byPath[p.ImportPath] = p
		// A package between two that are checked is checked too: compiled, it would have the first one's types twice.
		p.check = !p.DepOnly || slices.ContainsFunc(p.Imports, func(path string) bool {
			return byPath[path] != nil && byPath[path].check
		})
		if !p.check {
			continue
		}
		for _, path := range p.Imports {
			if before := byPath[path]; path != "unsafe" && before != nil && !before.check {
				pkg, err := gc.Import(path)
				c.compiled[path] = imported{pkg, err}
			}
		}
	}
	return c
}

// graph returns the graph of the checks. An import is an edge.
func (c *checker) graph() (*graph.Graph, error) {
	g := graph.New("typecheck")
	tasks := make(map[string]graph.Task)
	for _, p := range c.packages {
		if !p.check {
			continue
		}
		task := g.Task(func(context.Context) error { c.check(p); return nil }).Named(p.ImportPath)
		for _, path := range p.Imports {
			if before, ok := tasks[path]; ok {
				before.Precede(task)
			}
		}
		tasks[p.ImportPath] = task
	}
	return g, g.Validate()
}

// check checks a package. It keeps what is wrong with it, so that those that import it are checked all the same.
func (c *checker) check(p *goPackage) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			c.fail(err)
		}
		if file != nil {
			files = append(files, file)
		}
	}
	cfg := types.Config{Importer: importing{c, p}, Error: c.fail, FakeImportC: true}
	checked, _ := cfg.Check(p.ImportPath, c.files, files, nil) // Error has had the errors
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checked[p.ImportPath] = checked
}

func (c *checker) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, err)
}

// importing imports packages into one.
type importing struct {
	c *checker
	p *goPackage
}

// Import implements types.Importer. A package that is checked here has been checked before, because of the edge.
func (i importing) Import(path string) (*types.Package, error) {
	if mapped, ok := i.p.ImportMap[path]; ok {
		path = mapped
	}
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if compiled, ok := i.c.compiled[path]; ok {
		return compiled.pkg, compiled.err
	}
	i.c.mu.Lock()
	defer i.c.mu.Unlock()
	if checked, ok := i.c.checked[path]; ok {
		return checked, nil
	}
	return nil, fmt.Errorf("%q is not among the packages that go list returned", path)
}
