package executor

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
)

// Stacks returns the stack of each worker's goroutine as it appears in a traceback, by worker index, or "" for a worker
// without a thread and for an executor of [NewInline]. While a caller of [Executor.Run] has a worker's place, the stack
// is the caller's. If that has more than a hundred frames it may be the sleeping worker's. Stacks stops the whole
// process, for about a microsecond for each frame of all goroutines. It is for a look now and then.
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
// has a line such as "….runGuest(0xc000123208, 0xc00039a050)". The runtime appends a question mark to an
// argument that the function no longer needs.
func hostOf(stack []byte) string {
	_, arguments, _ := bytes.Cut(stack, []byte("/executor.runGuest("))
	return string(arguments[:max(0, bytes.IndexAny(arguments, "?,)"))])
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
