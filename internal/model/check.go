package model

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A T is the part of a *testing.T that Check uses.
type T interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Check explores program up to two preemptions and fails the test with the schedule and trace of the first failure. The
// environment variable MAGPIE_MODEL_BOUND sets another number of preemptions, -1 for any number. MAGPIE_MODEL_REPLAY
// takes one schedule instead.
//
// What program asserts must follow from what its threads have done and seen, and not from the moment at which a thread
// looks at a plain variable that another thread changes meanwhile: not every such moment comes. If nothing orders the
// accesses of an xatomic.Plain, that is found at any moment. For other cases there is [CheckStates].
func Check(t T, program func()) {
	t.Helper()
	checkWith(t, Config{}, program)
}

// CheckStates is Check for a program that looks at plain variables or words at any moment, without an operation. It
// takes longer.
func CheckStates(t T, program func()) {
	t.Helper()
	checkWith(t, Config{States: true}, program)
}

func checkWith(t T, cfg Config, program func()) {
	t.Helper()
	cfg.Preemptions = 2
	if s := os.Getenv("MAGPIE_MODEL_BOUND"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < -1 {
			t.Fatalf("MAGPIE_MODEL_BOUND=%q is no number of preemptions: want 0, 1, …, or -1 for any", s)
		}
		cfg.Preemptions = n
	}
	if res, ok := check(t, cfg, program); ok {
		t.Logf("%s: %d schedules, %d states, %d steps, at most %s preemptions",
			t.Name(), res.Executions, res.States, res.Steps, words(cfg.Preemptions))
	}
}

// IsBoundSet reports whether MAGPIE_MODEL_BOUND sets the number of preemptions, as cmd/internal/prove does. Tests that
// leave out some of their programs then leave out none.
func IsBoundSet() bool { return os.Getenv("MAGPIE_MODEL_BOUND") != "" }

// IsDrawn reports whether to check a program that differs little from another one: in a third of the cases, drawn anew
// each time, and always if MAGPIE_TESTS is long or all, or a bound or a schedule is given.
func IsDrawn() bool {
	switch os.Getenv("MAGPIE_TESTS") {
	case "long", "all":
		return true
	}
	return IsBoundSet() || os.Getenv("MAGPIE_MODEL_REPLAY") != "" || rand.IntN(3) == 0
}

// Reached fails the test if n is 0: in no schedule did the program do what it is there to check. One schedule that is
// replayed, and schedules without preemptions, need not do it.
func Reached(t T, n int, what string) {
	t.Helper()
	if n == 0 && os.Getenv("MAGPIE_MODEL_REPLAY") == "" && os.Getenv("MAGPIE_MODEL_BOUND") != "0" {
		t.Fatalf("never: %s", what)
	}
}

// priorityChanges is how often priorities change at random in an execution of CheckRandom. In PCT's terms it is one
// less than the depth of the bugs that CheckRandom finds with a known probability.
const priorityChanges = 3

// CheckRandom runs program in the given number of random executions, by PCT. The program need not be small: it may draw
// its operations with [Choose]. CheckRandom fails like Check.
func CheckRandom(t T, executions int, seed uint64, program func()) {
	t.Helper()
	if res, ok := check(t, Config{Preemptions: priorityChanges, Random: executions, Seed: seed}, program); ok {
		t.Logf("%s: %d random schedules, %d steps", t.Name(), res.Executions, res.Steps)
	}
}

// check returns ok if it has explored, and false if it has only replayed one schedule.
func check(t T, cfg Config, program func()) (res Result, ok bool) {
	t.Helper()
	if cfg.Replay = os.Getenv("MAGPIE_MODEL_REPLAY"); cfg.Replay != "" {
		if _, err := parseSchedule(cfg.Replay); err != nil {
			t.Fatalf("MAGPIE_MODEL_REPLAY: %v; want what a failure printed", err)
		}
	}
	cfg.Progress = func(p Progress) {
		t.Logf("%s: so far %d schedules, %d states, about %.0f %%", t.Name(), p.Executions, p.States, 100*p.Share)
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

// again returns the command that replays a schedule of one test, and of no other test whose name has it as a prefix.
func again(schedule, test string) string {
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^") + "$"
	folder := "the package's folder"
	if dir, err := os.Getwd(); err == nil { // the working directory of a test is its package's folder
		folder = filepath.Base(dir)
	}
	return fmt.Sprintf("again, in %s: MAGPIE_MODEL_REPLAY=%s go test -tags modelcheck -run '%s'",
		folder, schedule, pattern)
}

func words(bound int) string {
	if bound < 0 {
		return "any number of"
	}
	return fmt.Sprint(bound)
}
