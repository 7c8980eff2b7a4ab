package assembly

import (
	"go/version"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sizesGo is the version of Go for which the maxima of instructions in TestHotPathSizes hold. The maxima of locked
// instructions hold for every version.
const sizesGo = "go1.26"

// user is a package that forks: the compiler generates Fork and Join in the package that uses them.
const user = `package user

import "github.com/magpie-go/magpie/executor"

func fib(s *executor.Scope, n int) int {
	if n < 2 {
		return n
	}
	f := executor.Fork(s, fib, n-1)
	y := fib(s, n-2)
	return f.Join(s) + y
}

var Fib = fib
`

// inlined matches the functions of that package that the compiler is to inline, and their literals.
var inlined = regexp.MustCompile(`executor\.(Fork\[|Forked\[.*\]\.Join)`)

// TestHotPathSizes bounds the machine code between one item and the next. For each function of the table, size is the
// most instructions that it may have, and locked the most locked ones among them. Inlined code counts, called code
// does not: with -v the test logs the number of calls too. A change that makes a function smaller lowers its maxima;
// one that renames a function renames it in the table.
func TestHotPathSizes(t *testing.T) {
	code := asIs(t)
	sameGo := version.Lang(runtime.Version()) == sizesGo
	if !sameGo {
		t.Logf("the maxima of instructions are for %s: not checked with %s", sizesGo, runtime.Version())
	}
	for _, f := range []struct {
		pkg, name    string // the package that is compiled, and the function in its listing
		size, locked int
	}{
		{"executor", "executor.(*Worker).Push", 90, 0}, // of these, 36 for a deque, and 26 for a near end
		{"executor", "executor.(*Worker).pop", 130, 0}, // of these, 27 for a near end
		{"executor", "executor.runPlain", 76, 0},
		{"internal/user", "internal/user.fib", 126, 0}, // Fork and Join, which are inlined, included
		{"internal/user", "executor.Fork[go.shape.int,go.shape.int]", 64, 0},
		{"internal/user", "executor.Forked[go.shape.int,go.shape.int].Join", 53, 0},
		{"graph", "graph.(*runState).release", 70, 0},
		{"graph", "graph.(*runState).releaseFew", 68, 1},
		{"graph", "graph.execTask", 271, 3}, // with the ways to the task that follows, counted down by locked instructions
	} {
		lines := code[f.pkg][f.name]
		if len(lines) == 0 {
			t.Errorf("package %s has no function %s: if it was renamed, rename it in this table", f.pkg, f.name)
			continue
		}
		size, locked, calls := sizeOf(t, lines)
		t.Logf("%s: %d instructions, %d of them locked, %d calls", f.name, size, locked, calls)
		for _, s := range stepsOf(t, lines) {
			if sameGo && f.name == "internal/user.fib" && s.op == "CALL" && inlined.MatchString(s.args) {
				t.Errorf("%s calls %s, which should be inlined", f.name, s.args)
			}
		}
		if sameGo && size > f.size || locked > f.locked {
			t.Errorf("%s: %d instructions and %d locked ones, at most %d and %d are allowed",
				f.name, size, locked, f.size, f.locked)
		}
	}
}

// sizeOf counts a function's instructions, the locked ones among them, and its calls. It does not count the code at the
// end that grows the stack, nor instructions that do nothing.
func sizeOf(t *testing.T, lines []string) (size, locked, calls int) {
	t.Helper()
	steps := stepsOf(t, lines)
	end := len(steps)
	for i, s := range steps {
		if s.op == "CALL" && strings.HasPrefix(s.args, "runtime.morestack") {
			end = i
		}
	}
	if end < len(steps) { // the function begins with a comparison and a jump to the code that grows the stack
		for _, s := range steps {
			if pc, err := strconv.Atoi(s.args); err == nil && strings.HasPrefix(s.op, "J") {
				for end > 0 && steps[end-1].pc >= pc {
					end--
				}
				break
			}
		}
	}
	for i, s := range steps[:end] {
		if s.isNothing() || s.op == "LOCK" { // LOCK is a prefix of the next instruction
			continue
		}
		size++
		if i > 0 && s.isLocked(steps[i-1]) {
			locked++
		}
		if s.op == "CALL" {
			calls++
		}
	}
	return size, locked, calls
}

func TestSizeOf(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(`
0x0000 00000 (x.go:1)	TEXT	f(SB), ABIInternal, $8-16
0x0000 00000 (x.go:1)	CMPQ	SP, 16(R14)
0x0004 00004 (x.go:1)	JLS	40
0x0006 00006 (x.go:1)	XCHGL	AX, AX
0x0007 00007 (x.go:2)	LOCK
0x0008 00008 (x.go:2)	CMPXCHGQ	CX, (DX)
0x000c 00012 (x.go:3)	XCHGQ	AX, 8(DX)
0x0010 00016 (x.go:3)	XCHGQ	AX, BX
0x0014 00020 (x.go:4)	CALL	g(SB)
0x0018 00024 (<unknown line number>)	NOP
0x0018 00024 (x.go:5)	RET
0x0028 00040 (x.go:5)	NOP
0x0028 00040 (x.go:1)	MOVQ	AX, 8(SP)
0x002c 00044 (x.go:1)	CALL	runtime.morestack_noctxt(SB)
0x0030 00048 (x.go:1)	MOVQ	8(SP), AX
0x0034 00052 (x.go:1)	JMP	0`), "\n")
	for i := range lines {
		lines[i] = "\t" + lines[i]
	}
	size, locked, calls := sizeOf(t, lines)
	require.Equal(t, []int{7, 2, 1}, []int{size, locked, calls})
}
