package model

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A T is what Check needs of a *testing.T.
type T interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Check explores program up to two preemptions, or as many as the environment variable MAGPIE_MODEL_BOUND says, -1 for any
// number, and fails the test with the schedule and trace of the first failure. MAGPIE_MODEL_REPLAY takes one schedule
// instead.
func Check(t T, program func()) {
	t.Helper()
	cfg := Config{Preemptions: 2}
	if s := os.Getenv("MAGPIE_MODEL_BOUND"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < -1 {
			t.Fatalf("MAGPIE_MODEL_BOUND=%q is no number of preemptions: want 0, 1, …, or -1 for any", s)
		}
		cfg.Preemptions = n
	}
	if res, ok := check(t, cfg, program); ok {
		t.Logf("%s: %d schedules, %d states, %d steps, at most %s preemptions", t.Name(), res.Executions, res.States, res.Steps, words(cfg.Preemptions))
	}
}

// priorityChanges is how often priorities change at random in an execution of CheckRandom: one less than the depth, in
// PCT's terms, of the bugs that it finds with a known probability.
const priorityChanges = 3

// CheckRandom takes so many random executions of program, by PCT, whose bounds need not be small: the program may draw
// with [Choose] what it does. It fails like Check.
func CheckRandom(t T, executions int, seed uint64, program func()) {
	t.Helper()
	if res, ok := check(t, Config{Preemptions: priorityChanges, Random: executions, Seed: seed}, program); ok {
		t.Logf("%s: %d random schedules, %d steps", t.Name(), res.Executions, res.Steps)
	}
}

// check reports whether there was an exploration, and not only one schedule.
func check(t T, cfg Config, program func()) (res Result, ok bool) {
	t.Helper()
	if cfg.Replay = os.Getenv("MAGPIE_MODEL_REPLAY"); cfg.Replay != "" {
		if _, err := parseSchedule(cfg.Replay); err != nil {
			t.Fatalf("MAGPIE_MODEL_REPLAY: %v; want what a failure printed", err)
		}
	}
	res = Explore(cfg, program)
	if res.Failure != nil {
		t.Fatalf("%v\n%s", res.Failure, again(res.Failure.Schedule, t.Name()))
	}
	if cfg.Replay != "" {
		t.Logf("%s: took one schedule again, without a failure", t.Name())
		return res, false
	}
	return res, true
}

// again is the command that takes a schedule again, of one test and no other whose name begins like it.
func again(schedule, test string) string {
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^") + "$"
	folder := "the package's folder"
	if dir, err := os.Getwd(); err == nil { // go test runs a test there
		folder = filepath.Base(dir)
	}
	return fmt.Sprintf("again, in %s: MAGPIE_MODEL_REPLAY=%s go test -tags modelcheck -run '%s'", folder, schedule, pattern)
}

func words(bound int) string {
	if bound < 0 {
		return "any number of"
	}
	return fmt.Sprint(bound)
}
