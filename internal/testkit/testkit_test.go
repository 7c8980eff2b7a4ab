package testkit

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/living"
	"github.com/stretchr/testify/require"
)

// A recorder is a test that notes its failure.
type recorder struct {
	testing.TB
	log      strings.Builder
	failed   bool
	cleanups []func()
}

func (r *recorder) Helper()                         {}
func (r *recorder) Cleanup(f func())                { r.cleanups = append(r.cleanups, f) }
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
		defer func() {
			for _, clean := range slices.Backward(r.cleanups) {
				clean()
			}
		}()
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
	require.Regexp(t, `again: MAGPIE_SEED=\d+ .*go test .*-run '\^a test of Within\$' \./internal/testkit`, r.log.String())
	require.Equal(t, Seed(t), Seed(t))
	var inner uint64
	t.Run("subtest", func(t *testing.T) { inner = Seed(t) })
	require.Equal(t, Seed(t), inner)
	t.Run("given", func(t *testing.T) {
		t.Setenv(seedVariable, "0x2a")
		require.Equal(t, uint64(42), Seed(t))
	})
}

// TestSeedIsNew: a test that is run again, as with -count, has another seed.
func TestSeedIsNew(t *testing.T) {
	t.Setenv(seedVariable, "")
	var seeds []uint64
	for range 2 {
		outcome(func(t testing.TB) { seeds = append(seeds, Seed(t)) })
	}
	require.NotEqual(t, seeds[0], seeds[1])
}

// TestOnly: a case that is repeated alone meets what the test had drawn, although its seed is another one.
func TestOnly(t *testing.T) {
	t.Setenv(seedVariable, "")
	t.Setenv(drawVariable, "")
	values := make([]int, 100)
	for i := range values {
		values[i] = i
	}
	seed := Seed(t)
	drawn := Draw(t, values, 0, 8)
	command := Only(t, seed+1)
	require.Regexp(t, fmt.Sprintf("^to run only this one: MAGPIE_DRAW=%d MAGPIE_SEED=%d MAGPIE_COUNT=1 .*go test .*-run "+
		`'\^TestOnly\$' ./internal/testkit$`, seed, seed+1), command)
	t.Run("", func(t *testing.T) {
		for _, s := range strings.Fields(command) {
			if name, value, ok := strings.Cut(s, "="); ok {
				t.Setenv(name, value)
			}
		}
		require.Equal(t, seed+1, Seed(t))
		require.Equal(t, 1, Count(t, 1000))
		require.Equal(t, drawn, Draw(t, values, 0, 8))
	})
}
