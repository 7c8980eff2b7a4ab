package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		output string
		want   verdict
	}{
		"nothing": {"testing: warning: no tests to run\nPASS\n", verdict{}},
		"passes": {`=== RUN   TestA
=== RUN   TestA/one
--- PASS: TestA (0.00s)
    --- PASS: TestA/one (0.00s)
=== RUN   TestB
    b_test.go:7: proved: 3 things
--- PASS: TestB (0.00s)
=== RUN   TestC
    c_test.go:7: not here
--- SKIP: TestC (0.00s)
PASS
`, verdict{passed: 2, last: "TestC"}},
		"fails": {`=== RUN   TestA
--- PASS: TestA (0.00s)
=== RUN   TestB
    b_test.go:7: so far, so good
    b_test.go:9: item 2 came out 0 times
        and more about it
--- FAIL: TestB (0.00s)
FAIL
`, verdict{passed: 1, failed: "TestB", how: "item 2 came out 0 times", last: "TestB"}},
		"fails in a subtest": {`=== RUN   TestA
=== RUN   TestA/one
=== RUN   TestA/two
    a_test.go:9: no
=== NAME  TestA
    a_test.go:20: a word after it
--- FAIL: TestA (0.00s)
    --- PASS: TestA/one (0.00s)
    --- FAIL: TestA/two (0.00s)
FAIL
`, verdict{failed: "TestA/two", how: "no", last: "TestA"}},
		"in testify's words": {"=== RUN   TestA\n" +
			"    a_test.go:9: \n" +
			"        \tError Trace:\t/src/a_test.go:9\n" +
			"        \tError:      \tNot equal: \n" +
			"        \t            \texpected: 8\n" +
			"        \t            \tactual  : 2048\n" +
			"        \tTest:       \tTestA\n" +
			"        \tMessages:   \tafter the last\n" +
			"--- FAIL: TestA (0.00s)\nFAIL\n",
			verdict{failed: "TestA", how: "Not equal: expected: 8 actual : 2048 after the last", last: "TestA"}},
		"without a word": {"=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\n",
			verdict{failed: "TestA", how: "says nothing", last: "TestA"}},
		"a panic in a test": {`=== RUN   TestA
=== RUN   TestA/one
--- FAIL: TestA (0.00s)
    --- FAIL: TestA/one (0.00s)
panic: no [recovered, repanicked]

goroutine 7 [running]:
`, verdict{failed: "TestA/one", how: "panic: no [recovered, repanicked]", last: "TestA/one"}},
		"a crash of the process": {`=== RUN   TestA
=== RUN   TestB
fatal error: all goroutines are asleep - deadlock!
`, verdict{failed: "TestB", how: "fatal error: all goroutines are asleep - deadlock!", last: "TestB"}},
		"a model program's deadlock": {`=== RUN   TestModelA
    a_model_test.go:9: deadlock: thread 0 waits, thread 1 sleeps
        schedule: z15
        thread 0  store  w0  a/a.go:85
--- FAIL: TestModelA (0.00s)
FAIL
`, verdict{failed: "TestModelA", how: "deadlock: thread 0 waits, thread 1 sleeps", last: "TestModelA"}},
		"no end": {`=== RUN   TestA
--- PASS: TestA (0.00s)
=== RUN   TestB
=== RUN   TestB/one
panic: test timed out after 20s
	running tests:
		TestB/one (20s)

goroutine 7 [running]:
`, verdict{passed: 1, failed: "TestB/one", how: "no end after 20s", hung: true, last: "TestB/one"}},
		"the watchdog of a test": {`=== RUN   TestA
    watch.go:79: hung for 1m0s
        goroutine 7 [running]:
--- FAIL: TestA (60.00s)
FAIL
`, verdict{failed: "TestA", how: "hung for 1m0s", hung: true, last: "TestA"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, cmp.Diff(c.want, read(c.output), cmp.AllowUnexported(verdict{})))
		})
	}
}

// TestEndedFromOutside: a process that its own time limit does not end hangs in its last test, if one began.
func TestEndedFromOutside(t *testing.T) {
	v := read("=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n")
	require.Empty(t, v.failed)
	v.endedFromOutside(time.Minute)
	require.Equal(t, "TestB", v.failed)
	require.Equal(t, "no end after 1m0s, nor by its own time limit", v.how)
	require.True(t, v.hung)

	v = read("before any test\n")
	v.endedFromOutside(time.Minute)
	require.Equal(t, verdict{}, v)
}
