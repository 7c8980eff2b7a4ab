package notifier_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/notifier"
)

// FuzzOps runs a tape of bytes against a model in which waiters have names.
func FuzzOps(f *testing.F) {
	prepare := func(w byte) byte { return w << 3 }
	commit := func(w byte) byte { return w<<3 | 2 }
	cancel := func(w byte) byte { return w<<3 | 4 }
	notify := func(n byte) byte { return n<<3 | 5 }
	const all = 7
	// epochs is the number of commits of a waiter before its epoch wraps
	add := func(epochs byte, ops ...byte) { f.Add(append([]byte{epochs}, ops...)) }
	// last to sleep, first to rise
	add(200, prepare(0), commit(0), prepare(1), commit(1), notify(1), notify(2), notify(1))
	// a signal before the Commit
	add(200, prepare(0), notify(1), commit(0), prepare(0), commit(0))
	add(200, prepare(0), commit(0), prepare(1), notify(1), cancel(1)) // Cancel forwards
	// Cancel leaves the signal
	add(200, prepare(0), prepare(1), notify(1), cancel(0), commit(1))
	// all, awake and asleep
	add(200, prepare(0), commit(0), prepare(1), prepare(2), all, commit(1), prepare(3), cancel(2))
	// a newcomer leaves all's signal
	add(200, prepare(0), all, prepare(1), commit(1), commit(0), commit(1))
	// more than there are
	add(200, prepare(0), prepare(1), commit(0), notify(3), commit(1), notify(0), prepare(2), all)
	add(1, prepare(4), commit(4), notify(1), prepare(4), commit(4), notify(1), prepare(4), commit(4)) // epochs wrap
	f.Fuzz(func(t *testing.T, tape []byte) {
		if len(tape) == 0 || len(tape) > 1000 {
			return
		}
		const waiters = 5
		type phase int
		const (
			away phase = iota
			prepared
			asleep
		)
		n := notifier.New(waiters)
		n.StartEpochs(1<<notifier.EpochBits - uint64(tape[0]))
		var (
			at           [waiters]phase
			owed         [waiters]bool // prepared before a NotifyAll, and not returned since
			pre, signals int
			stack        []int // top last
		)
		notify := func(count int) (woken int) {
			for ; woken < count; woken++ {
				switch {
				case pre > signals:
					signals++
				case len(stack) > 0:
					w := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					n.Rise(w)
					at[w] = away
				default:
					return woken
				}
			}
			return woken
		}
		owing := func() (count int) {
			for _, o := range owed {
				if o {
					count++
				}
			}
			return count
		}
		testkit.Within(t, testkit.Patience, func() {
			for i, b := range tape[1:] {
				w := int(b>>3) % waiters
				var got, want any
				switch op := b & 7; {
				case op <= 1 && at[w] == away:
					n.Prepare(w)
					at[w] = prepared
					pre++
				case op <= 3 && at[w] == prepared:
					// A signal of NotifyAll is left to the waiters for which it was meant.
					if !owed[w] && signals > 0 && signals <= owing() {
						continue
					}
					got, want = n.CommitAwake(w), signals == 0
					pre--
					if signals > 0 {
						signals--
						at[w] = away
					} else {
						stack = append(stack, w)
						at[w] = asleep
					}
					owed[w] = false
				case op == 4 && at[w] == prepared:
					got = n.Cancel(w)
					mine := pre == signals
					pre--
					if mine {
						signals--
					}
					want = mine && notify(1) == 0
					at[w] = away
					owed[w] = false
				case op == 5 || op == 6:
					count := int(b>>3) % 4
					got = n.Notify(count)
					want = notify(count)
				case op == 7:
					got = n.NotifyAll()
					want = notify(waiters)
					for w := range owed {
						owed[w] = at[w] == prepared
					}
				}
				if got != want {
					t.Fatalf("step %d (%#x): got %v, want %v; %v", i, b, got, want, n)
				}
				if err := n.Check(); err != nil {
					t.Fatalf("step %d (%#x): %v", i, b, err)
				}
				fields := n.Fields()
				slices.Reverse(fields.Stack)
				if fields.Pre != pre || fields.Signals != signals || !slices.Equal(fields.Stack, stack) {
					t.Fatalf("step %d (%#x): %v, want pre=%d signals=%d stack=%v", i, b, n, pre, signals, stack)
				}
			}
		}, func() string { return fmt.Sprint(n, at) })
	})
}
