package testkit

import (
	"os"
	"strconv"
	"testing"
)

// Count is how much of its work a test does: quick, or what the environment variable MAGPIE_COUNT says, for the long
// command.
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

// Proved logs how much a test has done, in the words that the long command adds up.
func Proved(t testing.TB, n int, what string) {
	t.Helper()
	t.Logf("proved: %d %s", n, what)
}
