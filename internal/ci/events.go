package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// An event is one line of go test -json: see go doc test2json.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
	Elapsed    float64
}

// An eventLog reads the output of a step: the events of go test -json, and lines of anything else. A test that has
// begun and not ended is known by its events, whatever became of its process.
type eventLog struct {
	part  []byte // of a line
	plain strings.Builder
	tests []*outcome // in the order in which they began; a package is one too
	byKey map[[2]string]*outcome
}

// An outcome is what is known of a test or, if test is empty, of a package.
type outcome struct {
	pkg, test string
	action    string // "" while it runs
	elapsed   float64
	output    strings.Builder
}

// Write takes output of the step.
func (l *eventLog) Write(p []byte) (int, error) {
	l.part = append(l.part, p...)
	for {
		i := bytes.IndexByte(l.part, '\n')
		if i < 0 {
			return len(p), nil
		}
		l.line(l.part[:i+1])
		l.part = l.part[i+1:]
	}
}

// end takes what stands after the last line's end.
func (l *eventLog) end() {
	if len(l.part) > 0 {
		l.line(append(l.part, '\n'))
	}
	l.part = nil
}

func (l *eventLog) line(line []byte) {
	var e event
	if !bytes.HasPrefix(line, []byte(`{"`)) || json.Unmarshal(line, &e) != nil || e.Action == "" {
		l.plain.Write(line)
		return
	}
	if e.Package == "" { // build-output
		l.plain.WriteString(e.Output)
		return
	}
	key := [2]string{e.Package, e.Test}
	o := l.byKey[key]
	if o == nil || o.action != "" && (e.Action == "run" || e.Action == "start") { // a second command tests it again
		if l.byKey == nil {
			l.byKey = make(map[[2]string]*outcome)
		}
		o = &outcome{pkg: e.Package, test: e.Test}
		l.byKey[key] = o
		l.tests = append(l.tests, o)
	}
	switch e.Action {
	case "output":
		o.output.WriteString(e.Output)
	case "pass", "fail", "skip":
		o.action, o.elapsed = e.Action, e.Elapsed
		if e.Action == "pass" {
			o.output = strings.Builder{} // nobody asks
		}
	}
}

// isTop reports whether the outcome is that of a test that is no subtest.
func (o *outcome) isTop() bool { return o.test != "" && !strings.Contains(o.test, "/") }

// counts returns how many tests have passed, and how many have not: those that have failed or not ended, and packages
// that have failed without such a test.
func (l *eventLog) counts() (passed, failed int) {
	guilty := make(map[string]bool)
	for _, o := range l.tests {
		switch {
		case o.isTop() && o.action == "pass":
			passed++
		case o.isTop() && (o.action == "fail" || o.action == ""):
			failed++
			guilty[o.pkg] = true
		}
	}
	for _, o := range l.tests {
		if o.test == "" && o.action == "fail" && !guilty[o.pkg] {
			failed++
		}
	}
	return passed, failed
}

// summary returns what a step that has passed has to say: its plain lines, and the packages that took longest.
func (l *eventLog) summary() string {
	var packages []*outcome
	for _, o := range l.tests {
		if o.test == "" {
			packages = append(packages, o)
		}
	}
	text := tail(l.plain.String(), 40)
	if len(packages) == 0 {
		return text
	}
	passed, _ := l.counts()
	slices.SortStableFunc(packages, func(a, b *outcome) int { return int(1000 * (b.elapsed - a.elapsed)) })
	text += fmt.Sprintf("%d tests of %d packages have passed; the longest:", passed, len(packages))
	for _, p := range packages[:min(6, len(packages))] {
		text += fmt.Sprintf(" %s %.1f s", short(p.pkg), p.elapsed)
	}
	return text + "\n"
}

func short(pkg string) string { return strings.TrimPrefix(pkg, "github.com/magpie-go/magpie/") }

// most is how many lines of one test are told.
const most = 400

// againLine is the command that repeats a test, where the test logs it.
var againLine = regexp.MustCompile(`again: (.*MAGPIE_SEED=.*)`)

// failures returns the output of what has failed or not ended, and the commands that repeat it.
func (l *eventLog) failures() string {
	var b strings.Builder
	told := make(map[string]bool) // packages
	for _, o := range l.tests {
		if o.test == "" || o.action != "fail" && o.action != "" {
			continue
		}
		told[o.pkg] = true
		what := "--- FAIL"
		if o.action == "" {
			what = "--- DID NOT END"
		}
		fmt.Fprintf(&b, "%s: %s %s\n%s", what, short(o.pkg), o.test, tail(o.output.String(), most))
		if o.isTop() {
			fmt.Fprintf(&b, "    again: %s\n", again(o))
		}
	}
	for _, o := range l.tests {
		if o.test == "" && o.action != "pass" && o.action != "skip" && (o.action == "fail" || told[o.pkg]) {
			fmt.Fprintf(&b, "FAIL %s\n%s", short(o.pkg), tail(o.output.String(), most))
		}
	}
	b.WriteString(tail(l.plain.String(), most))
	return b.String()
}

// again returns the command that repeats a test. The flags that the step gave to one without a seed are in .ci/steps.
func again(o *outcome) string {
	if said := againLine.FindStringSubmatch(o.output.String()); said != nil {
		return said[1]
	}
	module, pkg := "", short(o.pkg)
	for dir := pkg; dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil { // one inside the project's
			module, pkg = "-C "+dir+" ", strings.TrimPrefix(strings.TrimPrefix(pkg, dir), "/")
			break
		}
	}
	return fmt.Sprintf("go %stest -run '^%s$' ./%s", module, o.test, pkg)
}

// tail returns the last lines of a text, and says how many it leaves out.
func tail(text string, n int) string {
	lines := strings.SplitAfter(strings.TrimRight(text, "\n"), "\n")
	if text == "" {
		return ""
	}
	left := len(lines) - n
	if left <= 0 {
		return strings.Join(lines, "") + "\n"
	}
	return fmt.Sprintf("(%d lines before)\n%s\n", left, strings.Join(lines[left:], ""))
}
