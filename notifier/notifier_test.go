package notifier_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/notifier"
	"github.com/stretchr/testify/require"
)

func within(t *testing.T, n *notifier.Notifier, f func()) {
	t.Helper()
	testkit.Within(t, testkit.Patience, f, n.String)
}

// until waits until a condition is true, which another thread makes true.
func until(condition func() bool) {
	for !condition() {
		runtime.Gosched()
	}
}

func TestNew(t *testing.T) {
	require.Equal(t, 1<<14-2, notifier.MaxWaiters)
	for _, waiters := range []int{-1, notifier.MaxWaiters + 1} {
		require.PanicsWithValue(t, fmt.Sprintf("notifier: %d waiters, want 0 to 16382", waiters),
			func() { notifier.New(waiters) })
	}
	none := notifier.New(0)
	require.Zero(t, none.Notify(1))
	require.Zero(t, none.NotifyAll())
	require.False(t, none.Waiting())
}

// At the limit every field of the word is as full as it can be, and none overflows into the next.
func TestMaxWaiters(t *testing.T) {
	const most = notifier.MaxWaiters
	n := notifier.New(most)
	within(t, n, func() {
		for round := range 2 {
			n.StartEpochs(1<<notifier.EpochBits - 1)
			for w := range most {
				n.Prepare(w)
			}
			require.NoError(t, n.Check())
			require.Equal(t, notifier.Fields{Pre: most}, n.Fields())
			if round == 0 {
				require.Equal(t, most, n.NotifyAll())
			} else {
				require.Equal(t, most, n.Notify(most+1))
			}
			require.NoError(t, n.Check())
			require.Equal(t, notifier.Fields{Pre: most, Signals: most}, n.Fields())
			for w := range most {
				n.Commit(w)
			}
			require.Equal(t, notifier.Fields{}, n.Fields())

			for w := range most {
				n.Prepare(w)
			}
			for w := range most {
				require.True(t, n.CommitAwake(w))
			}
			require.NoError(t, n.Check())
			require.Len(t, n.Fields().Stack, most)
			require.Equal(t, most-1, n.Fields().Stack[0])
			require.Equal(t, most, n.NotifyAll())
			for w := range most {
				n.Rise(w)
			}
			require.Equal(t, notifier.Fields{}, n.Fields())
		}
	})
}

// TestTransitions runs tapes. Prepare "p0", Commit that returns "c0", Commit that goes to sleep "s0", Cancel that
// returns false "x0" and true "X0", Notify(1) with its result "n=1", Notify(2) "m=2", NotifyAll "a=3", and waiters that
// must have been woken "w0". The word is compared at "|": pre-waiters, signals, and the stack from its top.
func TestTransitions(t *testing.T) {
	tests := []struct{ name, tape string }{
		{"nobody there", "n=0 m=0 a=0 |0,0"},
		{"prepare", "p0 |1,0 p1 |2,0"},
		{"cancel without notification", "p0 x0 |0,0"},
		{"sleep, wake", "p0 s0 |0,0,0 n=1 |0,0 w0"},
		{"sleepers are woken last in, first out",
			"p0 p1 p2 s1 s0 s2 |0,0,2,0,1 n=1 w2 |0,0,0,1 n=1 w0 n=1 w1 |0,0 n=0"},
		{"notify before commit", "p0 n=1 |1,1 c0 |0,0"},
		{"a second notification finds nobody", "p0 n=1 n=0 |1,1 c0 n=0"},
		{"pre-waiters come before sleepers", "p0 s0 p1 n=1 |1,1,0 c1 |0,0,0 n=1 w0"},
		{"pre-waiters have their signals, so the sleeper", "p0 s0 p1 n=1 n=1 w0 |1,1 n=0 c1 |0,0"},
		{"notify several", "p0 p1 s0 p2 |2,0,0 m=2 |2,2,0 m=1 w0 |2,2 c1 c2"},
		{"notify several, fewer there", "p0 s0 m=1 w0 |0,0"},
		{"any pre-waiter may take the signal", "p0 p1 n=1 c1 |1,0 s0 |0,0,0 n=1 w0"},
		{"cancel leaves the signal to the other", "p0 p1 n=1 x0 |1,1 c1 |0,0"},
		{"cancel leaves the signals to the others", "p0 p1 p2 m=2 x1 |2,2 c0 c2 |0,0"},
		{"cancel takes its own and gives it to a sleeper", "p0 s0 p1 n=1 |1,1,0 x1 w0 |0,0"},
		{"cancel takes its own and has nobody to give it to", "p0 n=1 X0 |0,0"},
		{"cancel with everybody notified", "p0 p1 a=2 X0 |1,1 X1 |0,0"},
		{"cancel gives it to the sleeper on top only", "p0 p1 s0 s1 p2 n=1 x2 w1 |0,0,0 n=1 w0"},
		{"notify all: pre-waiters", "p0 p1 a=2 |2,2 c0 c1 |0,0"},
		{"notify all: sleepers", "p0 p1 p2 s0 s1 s2 a=3 w0 w1 w2 |0,0"},
		{"notify all: a mix", "p0 p1 p2 p3 s2 s0 |2,0,0,2 a=4 w0 w2 |2,2 c1 c3 |0,0"},
		{"notify all: some have a signal already", "p0 p1 s0 p2 n=1 |2,1,0 a=2 w0 |2,2 c1 c2 |0,0"},
		{"notify all twice", "p0 p1 s0 a=2 a=0 w0 |1,1 c1"},
		{"commit onto the stack keeps pre-waiters", "p0 p1 p2 s1 |2,0,1 n=1 |2,1,1 c0 |1,0,1 s2 |0,0,2,1 a=2 w1 w2"},
		{"again and again", "p0 s0 n=1 w0 p0 s0 n=1 w0 p0 n=1 c0 p0 s0 a=1 w0 |0,0"},
	}
	for _, test := range tests {
		// The epochs wrap at the second and at the first sleep of each waiter.
		for _, epoch := range []uint64{0, 1<<notifier.EpochBits - 2, 1<<notifier.EpochBits - 1} {
			t.Run(fmt.Sprintf("%s from epoch %#x", test.name, epoch), func(t *testing.T) {
				n := notifier.New(4)
				n.StartEpochs(epoch)
				within(t, n, func() {
					for i, op := range strings.Fields(test.tape) {
						at := fmt.Sprintf("step %d, %s", i, op)
						w := int(op[1] - '0')
						switch op[0] {
						case 'p':
							n.Prepare(w)
						case 'c':
							require.False(t, n.CommitAwake(w), at)
						case 's':
							require.True(t, n.CommitAwake(w), at)
						case 'x', 'X':
							require.Equal(t, op[0] == 'X', n.Cancel(w), at)
						case 'n':
							require.Equal(t, op[2:], fmt.Sprint(n.Notify(1)), at)
						case 'm':
							require.Equal(t, op[2:], fmt.Sprint(n.Notify(2)), at)
						case 'a':
							require.Equal(t, op[2:], fmt.Sprint(n.NotifyAll()), at)
						case 'w':
							n.Rise(w)
						case '|':
							f := n.Fields()
							got := fmt.Sprintf("|%d,%d", f.Pre, f.Signals)
							for _, w := range f.Stack {
								got += fmt.Sprintf(",%d", w)
							}
							require.Equal(t, op, got, at)
							require.Equal(t, f.Pre > f.Signals || len(f.Stack) > 0, n.Waiting(), at)
							require.Equal(t, f.Pre == 0 && len(f.Stack) == 0, n.Idle(), at)
						}
						require.NoError(t, n.Check(), at)
					}
				})
			})
		}
	}
}

func TestNotifyNobody(t *testing.T) {
	n := notifier.New(1)
	n.Prepare(0)
	require.Zero(t, n.Notify(0))
	require.Zero(t, n.Notify(-1))
	require.Equal(t, notifier.Fields{Pre: 1}, n.Fields())
}

func TestString(t *testing.T) {
	n := notifier.New(3)
	require.Equal(t, "stack=none pre=0 signals=0 epoch=0", n.String())
	n.StartEpochs(7)
	n.Prepare(0)
	n.Prepare(1)
	n.Prepare(2)
	require.True(t, n.CommitAwake(1))
	n.Notify(1)
	require.Equal(t, "stack=1 pre=2 signals=1 epoch=7", n.String())
}

// Commit does sleep, and does wake, on threads of their own.
func TestSleepAndWake(t *testing.T) {
	const waiters = 4
	n := notifier.New(waiters)
	n.StartEpochs(1<<notifier.EpochBits - 3)
	within(t, n, func() {
		for round := range 10 {
			woken := make(chan int, waiters)
			for w := range waiters {
				go func() {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
					n.Prepare(w)
					n.Commit(w)
					woken <- w
				}()
			}
			until(func() bool { f := n.Fields(); return f.Pre == 0 && len(f.Stack) == waiters })
			if round%2 == 0 {
				for _, want := range n.Fields().Stack {
					require.Empty(t, woken)
					require.Equal(t, 1, n.Notify(1))
					require.Equal(t, want, <-woken)
				}
			} else {
				require.Equal(t, waiters, n.NotifyAll())
				for range waiters {
					<-woken
				}
			}
			require.Zero(t, n.Notify(1))
		}
	})
}

// A thread has read waiter 0's next in order to pop it. The pop must not succeed if waiter 0 has left and come back on
// top of another waiter meanwhile. The epoch makes the words differ, also where it wraps.
func TestEpochTellsCommitsApart(t *testing.T) {
	for _, epoch := range []uint64{0, 1<<notifier.EpochBits - 1, 1<<notifier.EpochBits - 2} {
		n := notifier.New(2)
		n.StartEpochs(epoch)
		within(t, n, func() {
			words := map[string]bool{}
			for range 5 {
				n.Prepare(0)
				require.True(t, n.CommitAwake(0))
				require.False(t, words[n.String()], "the same word again: %v", n)
				words[n.String()] = true
				n.Notify(1)
				n.Rise(0)
			}
		})
	}
}

// A pop restores the stack and epoch bits from before the commit that it undoes, all bits of the epoch of the sleeper
// below included.
func TestPopRestoresTheWordBelow(t *testing.T) {
	for _, epoch := range []uint64{0, 1, 1<<notifier.EpochBits - 1, 1 << (notifier.EpochBits - 1), 0x2aaaaa, 0x155555} {
		n := notifier.New(2)
		n.StartEpochs(epoch)
		within(t, n, func() {
			n.Prepare(0)
			require.True(t, n.CommitAwake(0))
			below := n.String()
			require.Contains(t, below, fmt.Sprintf("stack=0 pre=0 signals=0 epoch=%d", epoch))
			n.Prepare(1)
			require.True(t, n.CommitAwake(1))
			require.Contains(t, n.String(), fmt.Sprintf("stack=1 pre=0 signals=0 epoch=%d", epoch))
			require.Equal(t, 1, n.Notify(1))
			n.Rise(1)
			require.Equal(t, below, n.String())
		})
	}
}

// A waiter's calls in a wrong order panic with a message, and leave the word as it was.
func TestMisuse(t *testing.T) {
	const (
		twice   = "notifier: waiter 0 prepares again without a Commit or Cancel of the first time"
		without = "notifier: Commit or Cancel of waiter 0, which has not prepared"
	)
	for _, test := range []struct {
		tape  string // as in TestTransitions
		value any    // nil: the index is out of range
	}{
		{"c0", without},
		{"x0", without},
		{"p1 c0", without}, // signals and waiters there are another's
		{"p1 n c0", without},
		{"p1 x0", without},
		{"p0 p0", twice},
		{"p0 n c0 c0", without},
		{"p0 n c0 x0", without},
		{"p0 x0 x0", without},
		{"p0 x0 c0", without},
		{"p2", nil},
		{"c2", nil},
		{"x2", nil},
	} {
		t.Run(test.tape, func(t *testing.T) {
			n := notifier.New(2)
			ops := strings.Fields(test.tape)
			do := func(op string) {
				w := int(op[len(op)-1] - '0')
				switch op[0] {
				case 'p':
					n.Prepare(w)
				case 'c':
					n.Commit(w)
				case 'x':
					n.Cancel(w)
				case 'n':
					n.Notify(1)
				}
			}
			within(t, n, func() {
				for _, op := range ops[:len(ops)-1] {
					do(op)
				}
				before := n.Fields()
				if last := ops[len(ops)-1]; test.value != nil {
					require.PanicsWithValue(t, test.value, func() { do(last) })
				} else {
					require.Panics(t, func() { do(last) })
				}
				require.Equal(t, before, n.Fields())
				require.NoError(t, n.Check())
			})
		})
	}
	n := notifier.New(2)
	n.Prepare(0)
	require.Zero(t, n.Notify(0))
	require.Zero(t, n.Notify(-1))
	require.Equal(t, notifier.Fields{Pre: 1}, n.Fields())
}
