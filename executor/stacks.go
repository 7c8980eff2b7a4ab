package executor

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Stacks returns the stack of each worker's goroutine as it appears in a traceback, by worker index, or "" for a worker
// without a thread and for an executor of [NewInline]. While a caller of [Executor.Run] or of a Wait has a worker's
// place, the stack is the caller's, or perhaps the sleeping worker's if the caller's has more than a hundred frames.
// Stacks stops the whole process, for about a microsecond for each frame of all goroutines.
func (ex *Executor) Stacks() []string {
	ex.mustBeMade()
	return ex.stacks()
}

func (ex *executor) stacks() []string {
	workers := ex.workers()
	own := make(map[string]int, len(workers))   // by the number of the goroutine of the worker's thread
	hosts := make(map[string]int, len(workers)) // by the worker's address
	for i, w := range workers {
		if g := w.thread.goroutine.Load(); g != 0 {
			own[strconv.FormatUint(g, 10)] = i
			hosts[fmt.Sprintf("%p", w)] = i
		}
	}
	stacks := make([]string, len(workers))
	if len(own) == 0 {
		return stacks
	}
	for stack := range bytes.SplitSeq(allStacks(), []byte("\n\n")) {
		i, found := hosts[hostOf(stack)]
		if !found {
			if i, found = own[numberOf(stack)]; !found || stacks[i] != "" {
				continue // or the worker has a guest, and its own goroutine sleeps
			}
		}
		stacks[i] = string(bytes.TrimSuffix(stack, []byte("\n"))) + "\n"
	}
	return stacks
}

// hostOf returns the address of the worker that a goroutine is a guest of, by its stack as text, or "". A guest's stack
// has a line such as "….runGuest(0xc000123208, 0xc00039a050)". Where the guest waits for a future that nobody has
// begun, the line is one of runOne, which a worker's own stack may have too. The runtime appends a question mark to an
// argument that the function no longer needs.
func hostOf(stack []byte) string {
	_, arguments, isGuest := bytes.Cut(stack, []byte("/executor.runGuest("))
	if !isGuest {
		_, arguments, _ = bytes.Cut(stack, []byte("/executor.(*Worker).runOne("))
	}
	return string(arguments[:max(0, bytes.IndexAny(arguments, "?,)"))])
}

// taskIn returns the name of the function that a worker is in, by the worker's stack: the last one that the module has
// called, and that is not of the module itself. Of tasks on top of each other that is the one that runs. It is "" if
// the worker is in none, or in a function of an Observer.
func taskIn(stack string) (task string) {
	const module = "github.com/magpie-go/magpie/"
	called := false // by the module
	for _, line := range slices.Backward(strings.Split(stack, "\n")) {
		end := strings.LastIndexByte(line, '(')
		if end < 0 || line[0] == '\t' || strings.HasPrefix(line, "created by ") {
			continue // a place, or no frame
		}
		name := line[:end]
		short := name[strings.LastIndexByte(name, '/')+1:]
		pkg, _, _ := strings.Cut(short, ".")
		ours, is := strings.CutPrefix(name, module)
		switch {
		case is && strings.HasPrefix(ours, "executor.eventCalls."):
			return ""
		case is && !strings.HasSuffix(pkg, "_test"):
			called = true
		case called && !inLibrary(strings.TrimSuffix(name, short)+pkg):
			task, called = short, false
		}
	}
	return task
}

// inLibrary reports whether the module itself calls functions of a package, or of those below it, on workers: a lock, an
// atomic step, a sleep, or a sort that calls a function. Some have a frame of their own in one build only: under the race
// detector an atomic step is not inlined.
func inLibrary(pkg string) bool {
	for _, library := range []string{
		"context", "golang.org/x/sys", "internal", "math", "runtime", "slices", "sync", "syscall", "time",
	} {
		if below, is := strings.CutPrefix(pkg, library); is && (below == "" || below[0] == '/') {
			return true
		}
	}
	return false
}

// maxStacks bounds the text of all stacks that Stacks reads. Arbitrary: package runtime/pprof gives up there too.
const maxStacks = 64 << 20

// allStacks returns the stacks of all goroutines, or as many as fit.
func allStacks() []byte {
	for size := 1 << 18; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size || size >= maxStacks {
			return buf[:n]
		}
	}
}
