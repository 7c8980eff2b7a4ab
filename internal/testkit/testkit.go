// Package testkit has what the tests of several packages share: a watchdog for code that may hang, and seeds.
package testkit

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// Patience is how long a test waits for something that takes microseconds before it calls it a hang. No verdict depends
// on its length: a busy machine only makes a test slow.
const Patience = 60 * time.Second

// Within runs f and fails the test at once, with what dump tells and all stacks, if f has not returned after d. A hung f
// is left behind. f may end the test with FailNow, as require does.
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
		// At once, and not through t: what hangs may go on when the test is given up, and end the process.
		for _, tell := range dump {
			fmt.Fprintf(os.Stderr, "%s hangs: %s\n", t.Name(), tell())
		}
		stacks := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "%s\n", stacks[:runtime.Stack(stacks, true)])
		t.Fatalf("hung for %v: see standard error", d)
	}
}

// Seed returns the seed of a randomized test and logs it: a new one every time, or that of the environment variable
// MAGPIE_SEED, to repeat a failure.
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

// Scale is n, less under the race detector, which makes code about ten times slower.
func Scale(n int) int {
	if Race {
		return max(1, n/10)
	}
	return n
}
