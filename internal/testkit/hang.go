package testkit

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/internal/living"
)

// hangs is where hangs are reported. It is standard error because the log of a test is lost if the process is killed.
var hangs io.Writer = os.Stderr

// init sets an alarm a little before that of package testing, which ends the process at the limit of -timeout: what
// package testing tells has the stacks, and does not have the state of the executors.
func init() {
	if limit := limitOf(os.Args); limit > 0 {
		time.AfterFunc(limit-limit/20, func() {
			fmt.Fprintf(hangs, "the limit of %v is near\n%s", limit, state())
		})
	}
}

// limitOf returns the value of -test.timeout among arguments, or 0.
func limitOf(args []string) time.Duration {
	for i, arg := range args {
		name, value, is := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name != "test.timeout" {
			continue
		}
		if !is && i+1 < len(args) {
			value = args[i+1]
		}
		limit, _ := time.ParseDuration(value) // package testing tells of errors
		return limit
	}
	return 0
}

// state returns the names of the tests that run, and the state of every executor that has not been closed.
func state() string {
	var b strings.Builder
	fmt.Fprintf(&b, "running: %s\n", strings.Join(testsIn(stacks()), ", "))
	living.Dump(&b)
	return b.String()
}

func stacks() string {
	text := make([]byte, 1<<20)
	return string(text[:runtime.Stack(text, true)])
}

var testFrame = regexp.MustCompile(`(?m)\.((?:Test|Benchmark|Fuzz|Example)\w*)(?:\.func[\w.]+)?\(.*\)$`)

// testsIn returns the names of the tests in stacks.
func testsIn(stacks string) (names []string) {
	for _, m := range testFrame.FindAllStringSubmatch(stacks, -1) {
		if m[1] != "TestMain" {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
