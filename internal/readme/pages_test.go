package readme

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pages are documents whose Go blocks are run. In them the Go code of others has the language golang.
var pages = []string{"executor/MIGRATING.md", "executor/RECIPES.md"}

// surroundings are what the blocks of pages use besides the executor ex, the context ctx and a test t. The executor of
// o is ex.
const surroundings = `package main

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

var (
	_ = time.Second

	o       parallel.Options
	numbers = []float64{3, 1, 4, 1, 5, 9, 2, 6}
	urls    = []string{"pica", "corvus", "garrulus"}
	tree    = &node{1, &node{2, nil, nil}, &node{3, nil, nil}}
	input   = "pica\ncorvus\n"
	out     io.Writer = io.Discard
	squares [100]int
	total   atomic.Int64
	tries   int
)

type node struct {
	value       int
	left, right *node
}

func load(context.Context) error                            { return nil }
func clean(context.Context) error                           { return nil }
func count(context.Context) error                           { return nil }
func report(context.Context) error                          { return nil }
func fetch(_ context.Context, url string) (string, error)   { return strings.ToUpper(url), nil }
func parse(s string) (int, error)                           { return len(s), nil }
func store(s string) error                                  { return nil }
func work(i int)                                            { total.Add(1) }

var job = executor.NewJob("job", func(*executor.Scope) error { return nil })

type testing struct{ *executor.Executor }

func (testing) Fatal(args ...any) { panic(args) }
`

// block makes a source file of the Go code of a block: functions and types, or statements with ctx, ex and t.
func block(i int, code string) string {
	called := fmt.Sprintf("\n\nfunc block%d(ctx context.Context, ex *executor.Executor, t testing) error {", i)
	if regexp.MustCompile(`^(func|type) `).MatchString(code) {
		code += called + " return nil }\n"
	} else {
		code = called + "\n" + code + "\n\treturn nil\n}\n"
	}
	head := "package main\n\nimport (\n"
	statements := regexp.MustCompile(`//.*`).ReplaceAllString(code, "")
	for _, p := range []string{
		"bufio", "bytes", "cmp", "context", "errors", "expvar", "fmt", "io", "iter", "maps", "net/http",
		"net/http/httptest", "os", "runtime", "slices", "strings", "sync", "sync/atomic", "time", magpie,
		magpie + "/deque", magpie + "/executor",
		magpie + "/executor/httpdebug", magpie + "/executor/metrics", magpie + "/executor/observe",
		magpie + "/executor/host", magpie + "/executor/parallel", magpie + "/executor/pipeline", magpie + "/executor/pool",
		magpie + "/executor/watch", magpie + "/graph",
	} {
		if regexp.MustCompile(`\b` + path.Base(p) + `\.[A-Z]`).MatchString(statements) {
			head += fmt.Sprintf("\t%q\n", p)
		}
	}
	return head + ")\n" + code
}

// printed returns what a block says that it prints: the comments at the ends of lines that print.
func printed(code string) (lines []string) {
	for _, m := range regexp.MustCompile(`(?m)^.*fmt\.Print.*?\) +// (.*)$`).FindAllStringSubmatch(code, -1) {
		lines = append(lines, strings.Split(m[1], ", then ")...)
	}
	return lines
}

// overlay says to the go command that the folder of this package has these files and no other Go files. The folder is
// always the same, so that the command finds what it has built before.
func overlay(t *testing.T, files map[string]string) (name string) {
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	replace := make(map[string]string)
	own, err := filepath.Glob(filepath.Join(here, "*.go"))
	require.NoError(t, err)
	for _, path := range own {
		replace[path] = ""
	}
	temp := t.TempDir()
	for name, text := range files {
		replace[filepath.Join(here, name)] = filepath.Join(temp, name)
		require.NoError(t, os.WriteFile(filepath.Join(temp, name), []byte(text), 0o666))
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	name = filepath.Join(temp, "overlay.json")
	require.NoError(t, os.WriteFile(name, text, 0o666))
	return name
}

// TestPages runs the Go blocks of each page, one after the other, in a program that requires this module, as a user's
// would. Each prints what its comments say, and none fails.
func TestPages(t *testing.T) {
	for _, page := range pages {
		t.Run(path.Base(page), func(t *testing.T) {
			t.Parallel()
			all := blocks(read(t, page), "go")
			require.NotEmpty(t, all)

			files := module(t)
			files["surroundings.go"] = surroundings
			calls := ""
			for i, code := range all {
				files[fmt.Sprintf("block%d.go", i)] = block(i, code)
				calls += fmt.Sprintf("\tcall(%d, block%d)\n", i, i)
			}
			files["main.go"] = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/magpie-go/magpie/executor"
)

func call(i int, block func(context.Context, *executor.Executor, testing) error) {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		panic(err)
	}
	o.Executor = ex
	fmt.Println("block", i)
	if err := block(context.Background(), ex, testing{}); err != nil {
		fmt.Printf("block %d: %+v\n", i, err)
		os.Exit(1)
	}
	if err := ex.Close(); err != nil {
		panic(err)
	}
}

func main() {
` + calls + "}\n"
			overlay := overlay(t, files)
			goCommand(t, "", "vet", "-overlay", overlay, ".")
			out := goCommand(t, "", "run", "-overlay", overlay, ".")
			parts := regexp.MustCompile(`(?m)^block \d+\n`).Split(out, -1)[1:]
			require.Len(t, parts, len(all))
			for i, code := range all {
				if want := printed(code); want != nil {
					require.Equal(t, want, strings.Split(strings.TrimSuffix(parts[i], "\n"), "\n"), "%s", code)
				}
			}
		})
	}
}
