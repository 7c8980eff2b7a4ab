package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// An event is one line of go test -json: see go doc test2json.
type event struct {
	Action string
	Test   string
	Output string
}

// A report is what tests have printed and which of them have passed.
type report struct {
	text    string            // all of it
	tests   []string          // in the order in which they began
	outputs map[string]string // of each test, without its subtests'
	passed  map[string]bool
}

// reportOf reads go test -json.
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
		}
	}
}

// events has test2json read what a test binary has printed under -test.v=test2json. go test -json does the same, and
// links the binary again each time.
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
