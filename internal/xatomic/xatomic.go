//go:build !modelcheck && !magpie_chaos

// Package xatomic is the seam through which deque, notifier, executor, graph and park reach memory that threads share.
//
// In a normal build its types are aliases of those in sync/atomic and cost nothing. Under the build tag modelcheck they
// are twins that tell package model before every step. Under magpie_chaos they are twins that now and then dawdle after
// a step, for stress tests. [Slot], [JoinCount], [Span] and [Plain] have plain words that threads hand to each other;
// they are here so that the checker sees those words too.
//
// Go's atomics behave as in one sequentially consistent order, so no code of this module argues about weaker ones. On
// amd64 a Load is a plain move; a Store, an Add and a CompareAndSwap are locked instructions of about 5 ns. The stores
// on a hot path count, not the loads.
package xatomic

import "sync/atomic"

// The types of sync/atomic.
type (
	Bool           = atomic.Bool
	Int32          = atomic.Int32
	Uint32         = atomic.Uint32
	Int64          = atomic.Int64
	Uint64         = atomic.Uint64
	Uintptr        = atomic.Uintptr
	Pointer[T any] = atomic.Pointer[T]
)

// Tell32 and Tell64 are for words that no code decides by: dumps and statistics read them. The model checker leaves
// them out.
type (
	Tell32 = atomic.Uint32
	Tell64 = atomic.Uint64
)
