package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A lab builds and runs tests of the module at root.
type lab struct {
	root string
	temp string // for binaries and changed files
}

// boundVariable sets how many preemptions model programs explore.
const boundVariable = "MAGPIE_MODEL_BOUND"

// A build is a test binary, or the error that prevented it.
type build struct {
	path string
	err  error
}

// build makes the test binary of a package. overlay may be nil. It maps files to the files that the build reads in
// their place, or to "" for files that the build leaves out.
func (l *lab) build(ctx context.Context, k killers, overlay map[string]string) build {
	path, err := l.compile(ctx, k, overlay)
	return build{path, err}
}

func (l *lab) compile(ctx context.Context, k killers, overlay map[string]string) (binary string, err error) {
	dir, err := os.MkdirTemp(l.temp, "build")
	if err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "test.exe")
	// Without debug information it links sooner. Vet would take longer than a small build, and kill no mutant.
	args := []string{"test", "-c", "-ldflags=-w", "-vet=off", "-o", binary}
	if k.tags != "" {
		args = append(args, "-tags", k.tags)
	}
	if overlay != nil {
		text, err := json.Marshal(map[string]any{"Replace": overlay})
		if err != nil {
			return "", err
		}
		name := filepath.Join(dir, "overlay.json")
		if err := os.WriteFile(name, text, 0o666); err != nil {
			return "", err
		}
		args = append(args, "-overlay", name)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = filepath.Join(l.root, filepath.FromSlash(k.pkg)) // it may be in a nested module
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	if _, err := os.Stat(binary); err != nil {
		return "", fmt.Errorf("package %s has no tests", k.pkg)
	}
	return binary, nil
}

// buildMutant builds the killers with the mutant applied.
func (l *lab) buildMutant(ctx context.Context, m *mutant) build {
	text, err := m.mutate(l.root)
	if err != nil {
		return build{err: err}
	}
	changed := filepath.Join(l.temp, m.name+".go")
	if err := os.WriteFile(changed, []byte(text), 0o666); err != nil {
		return build{err: err}
	}
	overlay, err := l.unneeded(m.killers)
	if err != nil {
		return build{err: err}
	}
	overlay[filepath.Join(l.root, filepath.FromSlash(m.file))] = changed
	b := l.build(ctx, m.killers, overlay)
	if b.err != nil {
		b.err = fmt.Errorf("%s does not build: %w", m.name, b.err)
	}
	return b
}

// grace is how long a test process may take to end itself and to print all stacks after its time limit.
const grace = 5 * time.Second

// test runs the killers in binary up to the first that fails. A test that waits for half of the time limit hangs. The
// verdict names no test if all pass. If the process fails and no test has failed, test returns an error.
func (l *lab) test(ctx context.Context, binary string, k killers, limit time.Duration) (t trial) {
	inTime, cancel := context.WithTimeout(ctx, limit+grace)
	defer cancel()
	cmd := exec.CommandContext(inTime, binary, "-test.v", "-test.failfast", "-test.paniconexit0",
		"-test.run="+k.run, "-test.timeout="+limit.String())
	cmd.Dir = filepath.Join(l.root, filepath.FromSlash(k.pkg))
	cmd.WaitDelay = time.Second // a process that it has started may hold its output open
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MAGPIE_") { // counts and replays are for tests called by hand
			cmd.Env = append(cmd.Env, v)
		}
	}
	// A test that repeats less finds less, and one that has more patience than there is time does not fail.
	cmd.Env = append(cmd.Env, "MAGPIE_TESTS=long", "MAGPIE_PATIENCE="+(limit/2).String())
	if k.bound != "" {
		cmd.Env = append(cmd.Env, boundVariable+"="+k.bound)
	}
	start := time.Now()
	out, err := cmd.CombinedOutput()
	t.took = time.Since(start)
	if ctx.Err() != nil {
		t.err = ctx.Err()
		return t
	}
	t.output = string(out)
	t.verdict = read(t.output)
	if err != nil && inTime.Err() != nil && t.failed == "" {
		t.endedFromOutside(limit + grace)
	}
	switch {
	case err == nil && t.passed == 0:
		t.err = fmt.Errorf("%v: no test ran", k)
	case err == nil && t.failed != "":
		t.err = fmt.Errorf("%v: %s failed and the process did not\n%s", k, t.failed, tail(t.output))
	case err != nil && t.failed == "":
		t.err = fmt.Errorf("%v: %w, and no test failed\n%s", k, err, tail(t.output))
	}
	return t
}

// tail returns the last lines of a long output.
func tail(output string) string {
	const most = 40
	lines := strings.SplitAfter(output, "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "")
}
