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
	cfg := Config{Preemptions: 2, Replay: os.Getenv("MAGPIE_MODEL_REPLAY")}
	if s := os.Getenv("MAGPIE_MODEL_BOUND"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("MAGPIE_MODEL_BOUND=%q is no number of preemptions", s)
		}
		cfg.Preemptions = n
	}
	res := Explore(cfg, program)
	t.Logf("%s: %d schedules, %d states, %d steps, at most %s preemptions", t.Name(), res.Executions, res.States, res.Steps, bound(cfg.Preemptions))
	if res.Failure != nil {
		t.Fatalf("%v\nagain: MAGPIE_MODEL_REPLAY=%s go test -tags modelcheck -run '^%s$'", res.Failure, res.Failure.Schedule, t.Name())
	}
}

func bound(n int) string {
	if n < 0 {
		return "any number of"
	}
	return fmt.Sprint(n)
}
