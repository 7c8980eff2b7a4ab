package model

import (
	"fmt"
	"os"
	"strconv"
)

// A T is what Check needs of a *testing.T.
type T interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Check explores program up to two preemptions, or as many as the environment variable MAGPIE_MODEL_BOUND says, and
// fails the test with the schedule and trace of the first failure. MAGPIE_MODEL_REPLAY takes one schedule instead.
func Check(t T, program func()) {
	t.Helper()
	cfg := Config{Preemptions: 2}
	if s := os.Getenv("MAGPIE_MODEL_BOUND"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("MAGPIE_MODEL_BOUND=%q is no number of preemptions", s)
		}
		cfg.Preemptions = n
	}
	res := check(t, cfg, program)
	t.Logf("%s: %d schedules, %d states, %d steps, at most %s preemptions", t.Name(), res.Executions, res.States, res.Steps, bound(cfg.Preemptions))
}

// priorityChanges is how often priorities change at random in an execution of CheckRandom: one less than the depth, in
// PCT's terms, of the bugs that it finds with a known probability.
const priorityChanges = 3

// CheckRandom takes so many random executions of program, by PCT, whose bounds need not be small: the program may draw
// with [Choose] what it does. It fails like Check.
func CheckRandom(t T, executions int, seed uint64, program func()) {
	t.Helper()
	res := check(t, Config{Preemptions: priorityChanges, Random: executions, Seed: seed}, program)
	t.Logf("%s: %d random schedules, %d steps", t.Name(), res.Executions, res.Steps)
}

func check(t T, cfg Config, program func()) Result {
	t.Helper()
	cfg.Replay = os.Getenv("MAGPIE_MODEL_REPLAY")
	res := Explore(cfg, program)
	if res.Failure != nil {
		t.Fatalf("%v\nagain: MAGPIE_MODEL_REPLAY=%s go test -tags modelcheck -run '^%s$'", res.Failure, res.Failure.Schedule, t.Name())
	}
	return res
}

func bound(n int) string {
	if n < 0 {
		return "any number of"
	}
	return fmt.Sprint(n)
}
