package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A verdict is the outcome of a run of tests.
type verdict struct {
	passed int    // tests, subtests not counted
	failed string // the test that failed, or that ran when the process ended; empty: none
	how    string // the first line of its message
	hung   bool   // it was ended by a time limit
	last   string // the test to which the end of the output belongs; empty: none began
}

// endedFromOutside is called if the process had to be ended, after the given time: its last test hangs.
func (v *verdict) endedFromOutside(after time.Duration) {
	if v.last != "" {
		v.failed, v.hung = v.last, true
		v.how = fmt.Sprintf("no end after %v, nor by its own time limit", after)
	}
}

var (
	began   = regexp.MustCompile(`^=== (?:RUN|NAME|CONT) +(\S+)`)
	result  = regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP): (\S+)`)
	message = regexp.MustCompile(`^    (?:\S+\.go:\d+: )(.*)`)
	crash   = regexp.MustCompile(`^(panic: |fatal error: |unexpected fault address |SIG[A-Z]+: )`)
	timeout = regexp.MustCompile(`^panic: test timed out after (\S+)`)
)

// read derives the verdict from the output of go test -v. It does not see the exit status.
func read(output string) (v verdict) {
	var (
		current string              // the test to which the output belongs
		said    map[string][]string // lines by test
		crashed bool
	)
	said = make(map[string][]string)
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
		if m := began.FindStringSubmatch(line); m != nil {
			current = m[1]
			continue
		}
		if m := result.FindStringSubmatch(line); m != nil {
			switch {
			case m[1] == "PASS" && !strings.Contains(m[2], "/"):
				v.passed++
			case m[1] == "FAIL" && (v.failed == "" || strings.HasPrefix(m[2], v.failed+"/")):
				v.failed = m[2] // a subtest comes after its test
			}
			continue
		}
		if !crashed && current != "" && crash.MatchString(line) {
			crashed = true
			v.how = line
			v.hung = timeout.MatchString(line)
			if v.hung {
				v.how = "no end after " + timeout.FindStringSubmatch(line)[1]
			}
			if v.failed == "" {
				v.failed = current
			}
		}
		said[current] = append(said[current], line)
	}
	v.last = current
	if v.failed != "" && !crashed {
		v.how = firstLine(said[v.failed])
		v.hung = strings.HasPrefix(v.how, "hung for ") // package testkit's watchdog
	}
	return v
}

// firstLine returns the first line of a failed test's last message: earlier messages are logs.
func firstLine(lines []string) string {
	how, at := "says nothing", -1
	for i, line := range lines {
		if m := message.FindStringSubmatch(line); m != nil {
			how, at = m[1], i
		}
	}
	if how != "" {
		return how
	}
	// A message of testify: fields on lines of their own, each with lines that continue it.
	var fields []string
	inside := false
	for _, line := range lines[at+1:] {
		name, value, isField := strings.Cut(strings.TrimSpace(line), ":")
		isField = isField && strings.HasPrefix(line, "        \t"+name+":")
		switch {
		case isField:
			inside = name == "Error" || name == "Messages"
			if inside {
				fields = append(fields, strings.TrimSpace(value))
			}
		case !strings.HasPrefix(line, "        "), strings.TrimSpace(line) == "",
			strings.HasPrefix(strings.TrimSpace(line), "Diff:"):
			inside = false // the message has ended, or the rest is too long for a line
		case inside:
			fields = append(fields, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(fields, " ")
}
