package testkit

import (
	"os"
	"strconv"
	"testing"
)

// Count returns how much of its work a test does: Scale(quick), or the value of the environment variable MAGPIE_COUNT,
// which the long command (internal/prove) sets.
func Count(t testing.TB, quick int) int {
	t.Helper()
	s := os.Getenv("MAGPIE_COUNT")
	if s == "" {
		return Scale(quick)
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("MAGPIE_COUNT=%q is not a positive number", s)
	}
	return n
}

// Proved logs how much a test has done, in the form that the long command adds up.
func Proved(t testing.TB, n int, what string) {
	t.Helper()
	t.Logf("proved: %d %s", n, what)
}
