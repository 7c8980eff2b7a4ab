// Package hugepage asks the kernel to back large arrays with huge pages.
//
// A graph of millions of tasks is walked in an order that no cache foresees. With 4 KiB pages most steps miss in the
// TLB as well, and in a virtual machine a TLB miss costs more than the cache miss. Where transparent huge pages are
// given on request only ("madvise", the default of most distributions), the request must come before the first touch of
// the memory. Huge pages also make first touches 512 times rarer.
package hugepage

// minBytes is the size below which an array is left alone: huge pages could not cover most of it.
const minBytes = 4 << 20

// Make returns make([]T, n) and asks the kernel for huge pages if the array is large. The request is a hint: a kernel
// that refuses it makes the program slower, nothing else.
func Make[T any](n int) []T {
	s := make([]T, n)
	advise(s)
	return s
}

// MakeCap is Make for make([]T, 0, n).
func MakeCap[T any](n int) []T {
	return Make[T](n)[:0]
}
