package xatomic

import (
	"sync/atomic"
	"unsafe"
)

// A Span is a set of consecutive indices. Its owner takes them from the front, one by one, while other threads may take
// the upper half. It is one word, with the next index in the lower half and the limit in the upper half.
type Span struct {
	_ [0]atomic.Uint64 // aligns the word on 32-bit systems
	v uint64
}

// Set makes the span lo, …, hi-1. lo and hi are at most 1<<31. No other thread knows the span.
func (s *Span) Set(lo, hi uint32) {
	write(unsafe.Pointer(&s.v))
	s.v = uint64(hi)<<32 | uint64(lo)
}

// Claim takes the first index. Every call moves the lower half on by one, failed calls past the limit: there must be
// fewer than 1<<31 failed calls. Any thread.
func (s *Span) Claim() (i uint32, ok bool) {
	before(update, unsafe.Pointer(&s.v))
	v := atomic.AddUint64(&s.v, 1)
	after(update, unsafe.Pointer(&s.v))
	i = uint32(v) - 1
	return i, i < uint32(v>>32)
}

// ClaimAlone is Claim without a locked instruction, for when no other thread exists that knows the span.
func (s *Span) ClaimAlone() (i uint32, ok bool) {
	write(unsafe.Pointer(&s.v))
	i = uint32(s.v)
	s.v++
	return i, i < uint32(s.v>>32)
}

// Halve takes the upper half, which is the larger one if the number is odd. Any thread.
func (s *Span) Halve() (lo, hi uint32, ok bool) {
	for {
		v := s.load()
		lo, hi = uint32(v), uint32(v>>32)
		if lo >= hi {
			return 0, 0, false
		}
		mid := lo + (hi-lo)/2
		before(update, unsafe.Pointer(&s.v))
		if atomic.CompareAndSwapUint64(&s.v, v, uint64(mid)<<32|uint64(lo)) {
			after(update, unsafe.Pointer(&s.v))
			return mid, hi, true
		}
		after(load, unsafe.Pointer(&s.v))
	}
}

// IsEmpty reports whether nothing was left at the moment of the call. An empty span stays empty. Any thread.
func (s *Span) IsEmpty() bool {
	v := s.load()
	return uint32(v) >= uint32(v>>32)
}

func (s *Span) load() uint64 {
	before(load, unsafe.Pointer(&s.v))
	v := atomic.LoadUint64(&s.v)
	after(load, unsafe.Pointer(&s.v))
	return v
}
