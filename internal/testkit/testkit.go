// Package testkit has what the tests of several packages share: waits for what may hang, seeds, and amounts of work.
package testkit

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Patience is how long a test waits for something that takes microseconds before it calls it a hang. No verdict depends
// on its length: on a busy machine a test is only slower. It is a minute, or what the environment variable
// MAGPIE_PATIENCE says, which cmd/internal/mutants sets: there tests are to fail.
var Patience = func() time.Duration {
	s := os.Getenv("MAGPIE_PATIENCE")
	if s == "" {
		return time.Minute
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		panic(fmt.Sprintf("MAGPIE_PATIENCE=%q: want a duration such as 5s", s))
	}
	return d
}()

// Within runs f. If f has not returned after d, Within fails the test at once, with the results of dump, the state of
// every executor that has not been closed and all stacks, and leaves f behind. f may end the test with FailNow, as
// require does.
func Within(t testing.TB, d time.Duration, f func(), dump ...func() string) {
	t.Helper()
	done := make(chan bool, 1)
	go func() {
		returned := false
		defer func() { done <- returned }() // in a deferred function because FailNow unwinds this goroutine only
		f()
		returned = true
	}()
	patience := newPatience(d)
	watchdog := time.NewTimer(patience.left)
	defer watchdog.Stop()
	for {
		select {
		case returned := <-done:
			if !returned {
				t.FailNow()
			}
			return
		case <-watchdog.C:
			if !patience.over() {
				watchdog.Reset(patience.left)
				continue
			}
		}
		var told strings.Builder
		for _, tell := range dump {
			fmt.Fprintln(&told, tell())
		}
		told.WriteString(state())
		told.WriteString(stacks())
		// Write to standard error as well: the hung code may go on when the test is given up, and end the process
		// before the test's log is written.
		fmt.Fprintf(hangs, "%s hung for %v\n%s\n", t.Name(), d, &told)
		t.Fatalf("hung for %v\n%s", d, &told)
	}
}

// Until waits for a condition that no event announces, and fails the test at once if it has not come after Patience.
// what says what is waited for. The condition is called on the caller's goroutine, often.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	const spins, pause = 1000, 50 * time.Microsecond
	patience := newPatience(Patience)
	for i := 0; !condition(); i++ {
		switch {
		case i < spins:
			runtime.Gosched()
		case patience.over() && !condition(): // once more: the process may have been stopped meanwhile
			t.Fatalf("still not after %v: %s\n%s%s", Patience, what, state(), stacks())
		default:
			time.Sleep(pause)
		}
	}
}

// Fits measures until the measurement fits, and fails the test if it does not in Patience, with what the last
// measurement found. It is for bounds that other work on the machine may break and that hold on a quiet moment. wrong
// is empty if the measurement fits.
func Fits(t testing.TB, measure func() (wrong string)) {
	t.Helper()
	const least = 5 // a measurement may take long
	patience := newPatience(Patience)
	for i := 1; ; i++ {
		wrong := measure()
		if wrong == "" {
			return
		}
		if patience.over() && i >= least {
			t.Fatalf("%d measurements, the last: %s", i, wrong)
		}
	}
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
