package testkit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// An effort is how much of their work tests do. No effort leaves out a scenario: a smaller one repeats it less often,
// and draws some of the policies, deques and workloads for it.
type effort int

const (
	quick  effort = iota // a twentieth of the repetitions
	medium               // a fifth
	long                 // all repetitions
	all                  // and all of what is drawn
)

// Environment variables with an effort and with a number of cases.
const (
	effortVariable = "MAGPIE_TESTS"
	countVariable  = "MAGPIE_COUNT"
)

// chosen is the effort that the environment variable MAGPIE_TESTS names.
var chosen = func() effort {
	switch s := os.Getenv(effortVariable); s {
	case "", "quick":
		return quick
	case "medium":
		return medium
	case "long":
		return long
	case "all":
		return all
	default:
		panic(fmt.Sprintf("MAGPIE_TESTS=%q: want quick, the default, medium, long, or all", s))
	}
}()

// Quick reports whether a test is to take as little time as it can: unless MAGPIE_TESTS says otherwise, and under the
// race detector, which makes code about ten times slower.
func Quick() bool { return chosen == quick || Race }

// All reports whether a test tries everything that tests draw from.
func All() bool { return chosen == all }

// Scale returns n, or the share of it that the effort has. Under the race detector that is a tenth, or a thirtieth if
// quick. It is 2 at least, as some tests do one thing in each second round, unless n is 1 or less.
func Scale(n int) int {
	least := max(1, min(n, 2))
	switch {
	case chosen == quick && Race:
		n /= 30
	case chosen == quick:
		n /= 20
	case Race:
		n /= 10
	case chosen == medium:
		n /= 5
	}
	return max(least, n)
}

// Count returns how much of its work a test does: Scale(n), or the value of the environment variable MAGPIE_COUNT,
// which the command cmd/internal/prove sets.
func Count(t testing.TB, n int) int {
	t.Helper()
	s := os.Getenv(countVariable)
	if s == "" {
		return Scale(n)
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("MAGPIE_COUNT=%q is not a positive number", s)
	}
	return n
}

// Proved logs how much a test has done, in the form that cmd/internal/prove adds up.
func Proved(t testing.TB, n int, what string) {
	t.Helper()
	t.Logf("proved: %d %s", n, what)
}

// Thorough returns what Some returns if Quick, and otherwise the first two of values and two of the others.
func Thorough[T any](t testing.TB, values []T) []T {
	t.Helper()
	if Quick() && !All() {
		return Some(t, values)
	}
	return Draw(t, values, 2, 2)
}

// Some returns the first of values and one of the others if Quick, and otherwise the first two and one of the others.
func Some[T any](t testing.TB, values []T) []T {
	t.Helper()
	if Quick() {
		return Draw(t, values, 1, 1)
	}
	return Draw(t, values, 2, 1)
}

// Part returns a tenth of values if Quick, at least one, and otherwise all of them.
func Part[T any](t testing.TB, values []T) []T {
	t.Helper()
	if !Quick() {
		return values
	}
	return Draw(t, values, 0, (len(values)+9)/10)
}

// Draw returns the first of values and some of the others, which the seed draws, or all values if All.
func Draw[T any](t testing.TB, values []T, first, others int) []T {
	t.Helper()
	if All() || len(values) <= first+others {
		return values
	}
	return DrawBy(Drawer(t), values, first, others)
}

// Drawer returns the source of what a test draws. Each begins anew: two draws from lists of one length, each with a
// Drawer of its own, as Draw has, take the same places.
func Drawer(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(drawSeed(t), 11))
}

// DrawBy is Draw for a test that draws more than once, with one Drawer.
func DrawBy[T any](rng *rand.Rand, values []T, first, others int) []T {
	if All() || len(values) <= first+others {
		return values
	}
	drawn := slices.Clone(values)
	rest := drawn[first:]
	rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return drawn[:first+others]
}
