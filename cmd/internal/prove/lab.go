package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// A lab runs tests of the module at root.
type lab struct {
	root string
	dir  string // the folder of the records
	temp string
	out  io.Writer // for tell
	jobs int       // the number of parts at a time

	commit func() string // returns the commit of the tree, or "" if it has none

	mu       sync.Mutex        // guards binaries
	binaries map[string]string // built test binaries
	telling  sync.Mutex
}

// run runs a command in the module and returns its output. If the command fails, the error has the output.
func (l *lab) run(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	out, err := l.exec(ctx, dir, env, name, args...)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", l.failed(dir, env, name, args, err, out)
	}
	return out, nil
}

// failed returns the error of a command, with the way to repeat it and its output.
func (l *lab) failed(dir string, env []string, name string, args []string, err error, out string) error {
	said := fmt.Sprintf("%s %s %s", strings.Join(env, " "), name, strings.Join(args, " "))
	return fmt.Errorf("%s\nin %s: %w\n%s", strings.TrimSpace(said), filepath.Join(l.root, dir), err, out)
}

// exec runs a command in a folder of the module and returns its output.
func (l *lab) exec(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = filepath.Join(l.root, dir)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MAGPIE_") { // a replay would pass for an exploration
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, "MAGPIE_TESTS=long"), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	out := transcript{lab: l}
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// A transcript keeps the output of a command, and passes on the lines in which a long exploration says how far it is.
type transcript struct {
	bytes.Buffer
	lab   *lab
	begun int // where the last line begins, which may not be complete
}

// farLine matches the line that model.Check logs once a minute.
var farLine = regexp.MustCompile(`\S+: so far \d+ schedules, .*$`)

func (t *transcript) Write(p []byte) (int, error) {
	n, err := t.Buffer.Write(p)
	for {
		rest := t.Bytes()[t.begun:]
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return n, err
		}
		if line := farLine.Find(rest[:end]); line != nil {
			t.lab.tell("%s\n", line)
		}
		t.begun += end + 1
	}
}

// test runs tests of a package, in its folder.
func (l *lab) test(ctx context.Context, pkg, tags, pattern string, env ...string) (*report, error) {
	binary, err := l.build(ctx, pkg, tags)
	if err != nil {
		return nil, err
	}
	args := []string{"-test.run", pattern, "-test.v=test2json", "-test.timeout", "0"}
	out, failure := l.exec(ctx, pkg, env, binary, args...)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r, err := l.events(ctx, pkg, out)
	switch {
	case failure != nil && err != nil:
		return nil, l.failed(pkg, env, binary, args, failure, out)
	case failure != nil:
		return nil, l.failed(pkg, env, binary, args, failure, r.text)
	case err != nil:
		return nil, err
	case len(r.tests) == 0 || len(r.passed) == 0 && len(r.skipped) == 0:
		return nil, fmt.Errorf("%s: no test matches %s", pkg, pattern)
	}
	return r, nil
}

// build makes a package's test binary, once. It builds in the package's folder, which may be in a nested module.
func (l *lab) build(ctx context.Context, pkg, tags string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := pkg + " " + tags
	if binary := l.binaries[key]; binary != "" {
		return binary, nil
	}
	binary := filepath.Join(l.temp, fmt.Sprintf("%d.test", len(l.binaries)))
	if _, err := l.run(ctx, pkg, nil, "go", "test", "-c", "-tags", tags, "-o", binary, "."); err != nil {
		return "", err
	}
	l.binaries[key] = binary
	return binary, nil
}

// timed runs f and adds its time to the record.
func (l *lab) timed(r *record, f func() error) error {
	start := time.Now()
	err := f()
	r.Latest = now()
	r.Seconds += time.Since(start).Seconds()
	return err
}

// tell prints for people. Parts that run at a time may call it.
func (l *lab) tell(format string, args ...any) {
	l.telling.Lock()
	defer l.telling.Unlock()
	fmt.Fprintf(l.out, format, args...)
}

// progress prints how far a layer has come.
func (l *lab) progress(y *layer, r *record) {
	if y.goal == 0 {
		p := r.Results[len(r.Results)-1]
		l.tell("%s: %d of %d: %s, %d in %v\n",
			y.name, len(r.Results), r.Parts, p.Name, p.Done, seconds(p.Seconds))
		return
	}
	left := ""
	if r.Done < y.goal {
		left = fmt.Sprintf(", about %v to go", seconds(r.Seconds/float64(r.Done)*float64(y.goal-r.Done)))
	}
	l.tell("%s: %d of %d in %v%s\n", y.name, r.Done, y.goal, seconds(r.Seconds), left)
}

func seconds(s float64) time.Duration {
	d := time.Duration(s * float64(time.Second))
	if d > 10*time.Second {
		return d.Round(time.Second)
	}
	return d.Round(10 * time.Millisecond)
}

// commitOf returns the last commit that has changed anything but records. It returns "" if the tree has changes that
// are not committed, or is in no repository. Records do not count as changes.
func commitOf(root string) string {
	rest := []string{"--", ".", ":!testdata/proof"}
	changes, err := git(root, append([]string{"status", "--porcelain"}, rest...)...)
	if err != nil || changes != "" {
		return ""
	}
	// The trees of that commit and of HEAD are the same but for the records.
	last, err := git(root, append([]string{"rev-list", "-1", "--abbrev-commit", "--abbrev=10", "HEAD"}, rest...)...)
	if err != nil {
		return ""
	}
	return last
}

// git runs git in root.
func git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}
