package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheirTests: the tests that errgroup and conc have of their groups pass on Group, where a package of their name is
// made of it. They are read from the modules that this one requires.
func TestTheirTests(t *testing.T) {
	for name, c := range map[string]struct {
		module, tests string // of the module, and the file in it
		path          string // that the tests import, unless they are in the package
		shim          string
	}{
		"errgroup": {"golang.org/x/sync", "errgroup/errgroup_test.go", "golang.org/x/sync/errgroup", `
package errgroup

import (
	"context"

	"github.com/magpie-go/magpie/executor"
)

type Group = executor.Group

func WithContext(ctx context.Context) (*Group, context.Context) { return executor.GroupWithContext(ctx, nil) }
`},
		"conc": {"github.com/sourcegraph/conc", "waitgroup_test.go", "", `
package conc

import (
	"errors"

	"github.com/magpie-go/magpie/executor"
	"github.com/sourcegraph/conc/panics"
)

type WaitGroup struct{ g executor.Group }

func NewWaitGroup() *WaitGroup { return new(WaitGroup) }

func (w *WaitGroup) Go(f func()) { w.g.Go(func() error { f(); return nil }) }

func (w *WaitGroup) Wait() {
	if r := w.WaitAndRecover(); r != nil {
		panic(r.Value)
	}
}

func (w *WaitGroup) WaitAndRecover() *panics.Recovered {
	var p *executor.PanicError
	if !errors.As(w.g.Wait(), &p) {
		return nil
	}
	r := panics.NewRecovered(1, p.Value)
	return &r
}
`},
		"pool": {"github.com/sourcegraph/conc", "pool/pool_test.go", "", `
package pool

import "github.com/magpie-go/magpie/executor"

type Pool struct {
	g     executor.Group
	limit int
	begun bool
}

func New() *Pool { return new(Pool) }

func (p *Pool) WithMaxGoroutines(n int) *Pool {
	if n < 1 || p.begun {
		panic("a limit below one, or too late")
	}
	p.limit = n
	p.g.SetLimit(n)
	return p
}

func (p *Pool) MaxGoroutines() int { return p.limit }

func (p *Pool) Go(f func()) {
	p.begun = true
	p.g.Go(func() error { f(); return nil })
}

func (p *Pool) Wait() {
	if err := p.g.Wait(); err != nil {
		panic(err)
	}
}
`},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", c.module).Output()
			require.NoError(t, err)
			require.NotEmpty(t, dir, "go mod download has not been run")
			tests, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), filepath.FromSlash(c.tests)))
			require.NoError(t, err)
			here, err := filepath.Abs("../../..")
			require.NoError(t, err)
			mod, err := os.ReadFile("go.mod")
			require.NoError(t, err)
			sum, err := os.ReadFile("go.sum")
			require.NoError(t, err)

			root := t.TempDir()
			write := func(file, text string) {
				file = filepath.Join(root, filepath.FromSlash(file))
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
				require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
			}
			own := strings.Replace(string(mod), "module github.com/magpie-go/magpie/cmd/internal/rivals", "module theirs", 1)
			require.NotEqual(t, string(mod), own)
			write("go.mod", strings.Replace(own, "=> ../../..", "=> "+here, 1))
			write("go.sum", string(sum))
			write(name+"/"+name+".go", strings.TrimSpace(c.shim)+"\n")
			adopted := string(tests)
			if c.path != "" {
				require.Contains(t, adopted, strconv.Quote(c.path))
				adopted = strings.Replace(adopted, strconv.Quote(c.path), strconv.Quote("theirs/"+name), 1)
			}
			write(name+"/their_test.go", adopted)

			test := exec.Command("go", "test", "-mod=mod", "-count=1", "-v", "-timeout", "5m", "./"+name)
			test.Dir = root
			test.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
			out, err := test.CombinedOutput()
			require.NoError(t, err, "%s", out)
			passed := strings.Count(string(out), "--- PASS: ")
			require.Greater(t, passed, 5, "%s", out)
			t.Logf("%d tests of %s pass", passed, c.module)
		})
	}
}
