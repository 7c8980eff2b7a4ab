// Package testkit has what the tests of several packages share: a watchdog for code that may hang, seeds, and amounts
// of work.
package testkit

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Patience is how long a test waits for something that takes microseconds before it calls it a hang. No verdict depends
// on its length: on a busy machine a test is only slower.
const Patience = 60 * time.Second

// hangs is where Within reports a hang.
var hangs io.Writer = os.Stderr

// Within runs f. If f has not returned after d, Within fails the test at once, with the results of dump and all stacks,
// and leaves f behind. f may end the test with FailNow, as require does.
func Within(t testing.TB, d time.Duration, f func(), dump ...func() string) {
	t.Helper()
	done := make(chan bool, 1)
	go func() {
		returned := false
		defer func() { done <- returned }() // in a deferred function because FailNow unwinds this goroutine only
		f()
		returned = true
	}()
	watchdog := time.NewTimer(d)
	defer watchdog.Stop()
	select {
	case returned := <-done:
		if !returned {
			t.FailNow()
		}
	case <-watchdog.C:
		var told strings.Builder
		for _, tell := range dump {
			fmt.Fprintln(&told, tell())
		}
		stacks := make([]byte, 1<<20)
		told.Write(stacks[:runtime.Stack(stacks, true)])
		// Write to standard error as well: the hung code may go on when the test is given up, and end the process
		// before the test's log is written.
		fmt.Fprintf(hangs, "hung for %v\n%s\n", d, &told)
		t.Fatalf("hung for %v\n%s", d, &told)
	}
}

// Seed returns the seed of a randomized test and logs it. It is a new one every time, or the value of the environment
// variable MAGPIE_SEED, which repeats a failure.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("MAGPIE_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 0, 64); err != nil {
			t.Fatalf("MAGPIE_SEED: %v", err)
		}
	}
	t.Logf("MAGPIE_SEED=%d", seed)
	return seed
}

// Scale returns n, or a tenth of it with -short and under the race detector, which makes code about ten times slower.
func Scale(n int) int {
	if Race || flag.Parsed() && testing.Short() {
		return max(1, n/10)
	}
	return n
}

// Usable returns the values for which missing returns nil: a test leaves out what the system does not have.
func Usable[T any](all []T, missing func(T) error) (usable []T) {
	for _, v := range all {
		if missing(v) == nil {
			usable = append(usable, v)
		}
	}
	return usable
}

// Thorough returns the first two of all and two of the others, or what Some returns with -short and under the race
// detector. With MAGPIE_ALL=1 it returns all.
func Thorough[T any](t testing.TB, all []T) []T {
	t.Helper()
	switch {
	case os.Getenv("MAGPIE_ALL") == "1":
		return all
	case Race || testing.Short():
		return Some(t, all)
	}
	return draw(t, all, 2)
}

// Some returns the first two of all and one of the others.
func Some[T any](t testing.TB, all []T) []T {
	t.Helper()
	return draw(t, all, 1)
}

// draw returns the first two of all and some of the others, which the seed draws.
func draw[T any](t testing.TB, all []T, others int) []T {
	t.Helper()
	const first = 2
	if len(all) <= first+others {
		return all
	}
	rng := rand.New(rand.NewPCG(Seed(t), 11))
	drawn := slices.Clone(all)
	rest := drawn[first:]
	rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return drawn[:first+others]
}
