package testkit

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A recorder is a test that notes its failure.
type recorder struct {
	testing.TB
	log    strings.Builder
	failed bool
}

func (r *recorder) Helper()         {}
func (r *recorder) Log(args ...any) { fmt.Fprintln(&r.log, args...) }
func (r *recorder) FailNow()        { r.failed = true; runtime.Goexit() }
func (r *recorder) Fatalf(format string, args ...any) {
	fmt.Fprintf(&r.log, format, args...)
	r.FailNow()
}

// outcome runs f as a test of its own.
func outcome(f func(t testing.TB)) *recorder {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r
}

func TestWithin(t *testing.T) {
	ran := false
	r := outcome(func(t testing.TB) { Within(t, Patience, func() { ran = true }) })
	require.True(t, ran)
	require.False(t, r.failed)

	after := false
	r = outcome(func(t testing.TB) {
		Within(t, Patience, func() { t.FailNow() })
		after = true
	})
	require.True(t, r.failed, "a failure inside f must end the test")
	require.False(t, after, "a failure inside f must end the test at once")

	release := make(chan struct{})
	defer close(release)
	var seen strings.Builder
	hangs = &seen
	defer func() { hangs = os.Stderr }()
	r = outcome(func(t testing.TB) {
		Within(t, time.Millisecond, func() { <-release }, func() string { return "the state" })
	})
	require.True(t, r.failed)
	for _, told := range []string{r.log.String(), seen.String()} {
		require.Contains(t, told, "the state")
		require.Contains(t, told, "TestWithin", "all stacks are told")
	}
}

func TestUntil(t *testing.T) {
	calls := 0
	r := outcome(func(t testing.TB) { Until(t, "three calls", func() bool { calls++; return calls == 3 }) })
	require.False(t, r.failed)
	require.Equal(t, 3, calls)
}

func TestFits(t *testing.T) {
	measured := 0
	r := outcome(func(t testing.TB) {
		Fits(t, func() string {
			if measured++; measured < 20 {
				return "too much"
			}
			return ""
		})
	})
	require.False(t, r.failed, "a measurement that fits later is enough")
	require.Equal(t, 20, measured)
}

func TestSeed(t *testing.T) {
	t.Setenv("MAGPIE_SEED", "0x2a")
	require.Equal(t, uint64(42), Seed(t))
}
