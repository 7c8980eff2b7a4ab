package assembly

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// probe makes the compiler generate every kind of deque, for integers.
const probe = `package deque

import _ "sync/atomic" // or the compiler would not inline atomics

var probe = queues[int]()
`

var probedDeques map[string][]string

// probed returns the code of all kinds of deque, built once for all tests.
func probed(t *testing.T) map[string][]string {
	t.Helper()
	if probedDeques == nil {
		temp := t.TempDir()
		file := filepath.Join(temp, "probe.go")
		require.NoError(t, os.WriteFile(file, []byte(probe), 0o666))
		target, err := filepath.Abs("../../deque/probe.go")
		require.NoError(t, err)
		probedDeques = listing(t, overlayOf(t, temp, map[string]string{target: file}), "deque")["deque"]
	}
	return probedDeques
}

// TestLockedInstructions checks the cost of the owner's pushes and pops. The table has, for each function, the paths
// from its beginning to a return: each is the sequence of locked instructions and calls on it. The page
// deque/protocol/queue.md says for each kind which it needs.
func TestLockedInstructions(t *testing.T) {
	code := probed(t)
	costs := map[string][]string{
		"Deque.Push":    {"XCHG", "grow XCHG"},
		"Deque.Pop":     {"", "CMPXCHG", "XCHG", "XCHG CMPXCHG XCHG", "XCHG XCHG"},
		"abp.Push":      {"", "XCHG"},
		"abp.Pop":       {"", "XCHG", "XCHG XCHG CMPXCHG", "XCHG XCHG CMPXCHG XCHG", "XCHG XCHG XCHG"},
		"bwos.Push":     {"", "pushAbove"},
		"bwos.Pop":      {"", "retreat"},
		"bwosFIFO.Push": {"", "pushBehind"},
		"bwosFIFO.Pop":  {"", "follow"},
		"padWS.Push":    {"", "answer", "pushAbove"},
		"Near.Pop":      {""},
		"Near.Push":     {""},
		"padWS.Pop":     {"", "answer", "retreat", "retreat answer"},
		"adws.Push":     {"", "answer"},
		"adws.Pop":      {"", "answer", "takeBack"},
		"pdqr.Push":     {"", "tell"},
		"pdqr.Pop":      {"", "takeBack", "tell"},
		"pdqs.Push":     {"", "ring"},
		"pdqs.Pop":      {"", "ring"},
	}
	for f, want := range costs {
		kind, method, _ := strings.Cut(f, ".")
		lines := code["deque.(*"+kind+"[go.shape.int])."+method]
		require.NotEmpty(t, lines, f)
		require.Equal(t, want, ways(t, lines), f)
	}
	method := regexp.MustCompile(`^deque\.\(\*(\w+)\[go\.shape\.int\]\)\.(Push|Pop)$`)
	for f := range code {
		// A chaseLev is a Deque. The cost of locked is its mutex.
		if m := method.FindStringSubmatch(f); m != nil && m[1] != "chaseLev" && m[1] != "locked" {
			require.Contains(t, costs, m[1]+"."+m[2], "a kind that the table lacks")
		}
	}
}

// TestOneCall checks that a method called through an interface contains its code. Otherwise it would pass a dictionary
// on to the generic code, in another call.
func TestOneCall(t *testing.T) {
	code := probed(t)
	for _, f := range []string{
		"chaseLev.Poll", "abp.Poll", "abp.Push", "bwos.Poll", "bwosFIFO.Poll", "padWS.Poll", "pdqs.Poll",
	} {
		kind, method, _ := strings.Cut(f, ".")
		lines := code["deque.(*"+kind+"[int])."+method]
		require.NotEmpty(t, lines, f)
		require.Contains(t, ways(t, lines), "", f)
	}
}

var operands = regexp.MustCompile(`^\t0x[0-9a-f]+ (\d+) \([^)]*\)\t([^\t]+)(?:\t(.*))?$`)

// A step is one line of a listing.
type step struct {
	pc       int
	op, args string
}

func stepsOf(t *testing.T, lines []string) (steps []step) {
	t.Helper()
	for _, line := range lines {
		m := operands.FindStringSubmatch(line)
		require.NotNil(t, m, line)
		pc, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		steps = append(steps, step{pc, m[2], m[3]})
	}
	return steps
}

// isLocked reports whether s is a locked instruction, given the line before it. An exchange with memory is locked
// without a prefix.
func (s step) isLocked(before step) bool {
	return before.op == "LOCK" || strings.HasPrefix(s.op, "XCHG") && strings.Contains(s.args, "(")
}

// isNothing reports whether s does nothing. The compiler inserts such instructions for alignment and to mark inlined
// calls.
func (s step) isNothing() bool {
	return s.op == "TEXT" || strings.HasPrefix(s.op, "NOP") || s.op == "XCHGL" && s.args == "AX, AX"
}

// ways returns the different sequences of locked instructions and calls on the paths through a function, sorted.
func ways(t *testing.T, lines []string) []string {
	t.Helper()
	steps := stepsOf(t, lines)
	at := map[int]int{} // the step at each address
	for i, s := range steps {
		if _, ok := at[s.pc]; !ok {
			at[s.pc] = i
		}
	}
	type state struct {
		i    int
		seen string
	}
	ends, been := map[string]bool{}, map[state]bool{}
	var walk func(s state)
	walk = func(s state) {
		for !been[s] {
			been[s] = true
			require.Less(t, s.i, len(steps), "the function has no end")
			require.Less(t, len(s.seen), 100, "locked instructions in a loop")
			op, args := steps[s.i].op, steps[s.i].args
			locked := s.i > 0 && steps[s.i].isLocked(steps[s.i-1])
			target, err := strconv.Atoi(args)
			add := func(what string) { s.seen = strings.TrimPrefix(s.seen+" "+what, " ") }
			switch {
			case locked:
				add(strings.TrimRight(op, "BWLQ"))
			case op == "RET":
				ends[s.seen] = true
				return
			case op == "UNDEF" || op == "CALL" && strings.Contains(strings.ToLower(args), "panic"):
				return
			case op == "CALL" && !strings.HasPrefix(args, "runtime."):
				call := args[strings.LastIndexByte(args, '.')+1 : strings.LastIndexByte(args, '(')]
				if !strings.HasSuffix(s.seen, call) {
					add(call) // in a loop only once
				}
			case op == "JMP" && err == nil:
				s.i = at[target]
				continue
			case strings.HasPrefix(op, "J"):
				require.NoError(t, err, "a jump to %s", args)
				walk(state{at[target], s.seen})
			}
			s.i++
		}
	}
	walk(state{})
	return slices.Sorted(maps.Keys(ends))
}
