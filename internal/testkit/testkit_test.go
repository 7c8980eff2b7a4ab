package testkit

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/living"
	"github.com/stretchr/testify/require"
)

// A recorder is a test that notes its failure.
type recorder struct {
	testing.TB
	log    strings.Builder
	failed bool
}

func (r *recorder) Helper()                         {}
func (r *recorder) Name() string                    { return "a test of Within" }
func (r *recorder) Logf(format string, args ...any) { fmt.Fprintf(&r.log, format, args...) }
func (r *recorder) Log(args ...any)                 { fmt.Fprintln(&r.log, args...) }
func (r *recorder) FailNow()                        { r.failed = true; runtime.Goexit() }
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

// dumper is the state of an executor.
type dumper string

func (d dumper) Dump(out io.Writer) error {
	_, err := io.WriteString(out, string(d))
	return err
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

	defer living.Enter(dumper("an executor that lives"))()
	release := make(chan struct{})
	defer close(release)
	var seen strings.Builder
	hangs = &seen
	defer func() { hangs = os.Stderr }()
	r = outcome(func(t testing.TB) {
		Within(t, time.Millisecond, func() { <-release }, func() string { return "the state" })
	})
	require.True(t, r.failed)
	require.Contains(t, seen.String(), "a test of Within hung for 1ms")
	for _, told := range []string{r.log.String(), seen.String()} {
		require.Contains(t, told, "the state")
		require.Contains(t, told, "TestWithin.func", "all stacks are told")
		require.Contains(t, told, "running: TestWithin\n")
		require.Contains(t, told, "an executor that lives")
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

func TestLimitOf(t *testing.T) {
	for _, c := range []struct {
		args []string
		want time.Duration
	}{
		{[]string{"x.test", "-test.timeout=10m0s", "-test.v"}, 10 * time.Minute},
		{[]string{"x.test", "--test.timeout=3s"}, 3 * time.Second},
		{[]string{"x.test", "-test.timeout", "1m"}, time.Minute},
		{[]string{"x.test", "-test.timeout"}, 0},
		{[]string{"x.test", "-test.timeout=0"}, 0},
		{[]string{"x.test", "-test.timeout=soon"}, 0},
		{[]string{"x.test"}, 0},
	} {
		require.Equal(t, c.want, limitOf(c.args), "%q", c.args)
	}
}

func TestSeed(t *testing.T) {
	r := outcome(func(t testing.TB) { Seed(t) })
	require.Regexp(t, `again: MAGPIE_SEED=\d+ go test -run '\^a test of Within\$' \./internal/testkit`, r.log.String())
	t.Setenv("MAGPIE_SEED", "0x2a")
	require.Equal(t, uint64(42), Seed(t))
}
