package executor

import (
	"bytes"
	"runtime"
	"strconv"
)

// Stacks returns the stack of each worker's goroutine as it appears in a traceback, by worker ID, or "" for a worker
// without a thread and for an executor of [NewInline]. While a caller of [Executor.Run] has a worker's place, the stack
// is the caller's, or "" if the caller came before the first call of Stacks. The first line tells the goroutine's
// number and what it does. A worker without work is in its executor's code; a task that hangs shows where.
//
// Stacks stops the whole process while it writes the stacks of all goroutines. That takes about a microsecond for each
// frame, so it is for a look now and then, not for a regular report of a process with many goroutines.
func (ex *Executor) Stacks() []string {
	if g := ex.guests; g != nil && !g.shown.Load() {
		g.shown.Store(true)
	}
	workers := ex.workers()
	at := make(map[string]int, len(workers))
	for i, w := range workers {
		if g := w.thread.goroutine.Load(); g != 0 {
			at[strconv.FormatUint(g, 10)] = i
		}
	}
	stacks := make([]string, len(workers))
	if len(at) == 0 {
		return stacks
	}
	for stack := range bytes.SplitSeq(allStacks(), []byte("\n\n")) {
		if i, ok := at[numberOf(stack)]; ok {
			stacks[i] = string(bytes.TrimSuffix(stack, []byte("\n"))) + "\n"
		}
	}
	return stacks
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

// numberOf returns the goroutine's number from its stack as text, or "". The text begins "goroutine 7 [running".
func numberOf(stack []byte) string {
	rest, ok := bytes.CutPrefix(stack, []byte("goroutine "))
	if !ok {
		return ""
	}
	number, _, _ := bytes.Cut(rest, []byte(" "))
	return string(number)
}

// goroutine returns the number of the calling goroutine, or 0. The runtime tells it nowhere else.
func goroutine() uint64 {
	var buf [64]byte
	number, _ := strconv.ParseUint(numberOf(buf[:runtime.Stack(buf[:], false)]), 10, 64)
	return number
}
