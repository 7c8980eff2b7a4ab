package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// program is a program whose functions are those of a group.
const program = `package main

import (
	"context"
	"fmt"
	"os"

	"PACKAGE"
)

func main() {
	GROUP
	lengths := make([]int, len(os.Args))
	for i, arg := range os.Args {
		g.Go(func() error {
			lengths[i] = len(arg)
			return ctx.Err()
		})
	}
	fmt.Println(g.Wait(), lengths)
}
`

const ours = "github.com/magpie-go/magpie/executor"

// programs are the forms of that program. most is by how many kB it may be larger than the first, plain and stripped.
var programs = []struct {
	name, imports, group string
	most                 [2]int64
}{
	{"errgroup", "golang.org/x/sync/errgroup", "g, ctx := errgroup.WithContext(context.Background())", [2]int64{}},
	{"Group on Default", ours, "g, ctx := executor.GroupWithContext(context.Background(), nil)", [2]int64{1860, 1200}},
	{"Group on New", ours, `ex, err := executor.New(executor.Config{})
	if err != nil {
		panic(err)
	}
	defer ex.Close()
	g, ctx := executor.GroupWithContext(context.Background(), ex)`, [2]int64{2240, 1460}},
}

// TestPrograms bounds how much larger a program becomes if a Group takes the place of an errgroup. With -v it tells the
// sizes, and with MAGPIE_TESTS=medium how long a build takes without anything in the cache. The bounds leave a
// twentieth above what was measured: a change that makes programs smaller lowers them.
func TestPrograms(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the bounds are for linux/amd64")
	}
	var first [2]int64
	for i, p := range programs {
		dir := t.TempDir()
		source := filepath.Join(dir, "main.go")
		text := strings.NewReplacer("PACKAGE", p.imports, "GROUP", p.group).Replace(program)
		require.NoError(t, os.WriteFile(source, []byte(text), 0o666))
		var size [2]int64
		for k, flags := range []string{"", "-s -w"} {
			to := filepath.Join(dir, "program")
			build(t, nil, "-o", to, "-ldflags", flags, source)
			info, err := os.Stat(to)
			require.NoError(t, err)
			size[k] = info.Size() / 1000
		}
		if i == 0 {
			first = size
		}
		t.Logf("%-16s  %d kB, %d kB stripped: %d and %d more than errgroup", p.name, size[0], size[1],
			size[0]-first[0], size[1]-first[1])
		for k := range size {
			require.LessOrEqual(t, size[k]-first[k], p.most[k], "%s: %v", p.name, size)
		}
		if !testkit.Quick() {
			begin := time.Now()
			used := build(t, []string{"GOCACHE=" + t.TempDir()}, "-o", os.DevNull, source)
			t.Logf("%-16s  built anew in %.1f s, with %.1f s of processor time", p.name,
				time.Since(begin).Seconds(), used.Seconds())
		}
	}
}

// build calls go build, and returns the processor time that this has used.
func build(t *testing.T, env []string, args ...string) time.Duration {
	t.Helper()
	cmd := exec.Command("go", append([]string{"build", "-trimpath"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
