package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
)

// An event is one line of go test -json: see go doc test2json.
type event struct {
	Action string
	Test   string
	Output string
}

// A report is the output of tests, with the names of those that have passed.
type report struct {
	text    string            // the whole output
	tests   []string          // in the order in which they began
	outputs map[string]string // by test, without that of its subtests
	passed  map[string]bool
	skipped []string
}

// reportOf reads the output of go test -json.
func reportOf(stream io.Reader) (*report, error) {
	r := &report{outputs: map[string]string{}, passed: map[string]bool{}}
	var text strings.Builder
	for lines := json.NewDecoder(stream); ; {
		var e event
		switch err := lines.Decode(&e); {
		case errors.Is(err, io.EOF):
			r.text = text.String()
			return r, nil
		case err != nil:
			return nil, fmt.Errorf("the events of a test: %w", err)
		}
		switch e.Action {
		case "run":
			r.tests = append(r.tests, e.Test)
		case "output":
			text.WriteString(e.Output)
			r.outputs[e.Test] += e.Output
		case "pass":
			r.passed[e.Test] = true
		case "skip":
			if e.Test != "" { // a package whose tests are all skipped passes
				r.skipped = append(r.skipped, e.Test)
			}
		}
	}
}

// loggedLine matches a line that a test logs.
var loggedLine = regexp.MustCompile(`(?m)^ +\w+_test\.go:\d+: (.+)$`)

// isSkipped reports whether all that was run was skipped, and why.
func (r *report) isSkipped() (why string, yes bool) {
	if len(r.tests) == 0 || len(r.skipped) < len(r.tests) {
		return "", false
	}
	if said := loggedLine.FindAllStringSubmatch(r.outputs[r.skipped[0]], -1); len(said) > 0 {
		why = said[len(said)-1][1]
	}
	return why, true
}

// events converts, with test2json, the output of a test binary under -test.v=test2json. go test -json does the same,
// but links the binary again each time.
func (l *lab) events(ctx context.Context, pkg, printed string) (*report, error) {
	cmd := exec.CommandContext(ctx, "go", "tool", "test2json", "-p", pkg)
	cmd.Dir = l.root
	cmd.Stdin = strings.NewReader(printed)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd, err, said.String())
	}
	return reportOf(&out)
}
