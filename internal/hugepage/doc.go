// Package hugepage asks the kernel to back large arrays with huge pages.
//
// A graph of millions of tasks is walked in an order that no cache foresees, and with 4 KiB pages most steps miss in
// the TLB as well, which in a virtual machine costs more than the cache miss. Where transparent huge pages are on
// request only ("madvise", the default of most distributions), the request has to be made before the memory is first
// touched. It also makes first touches 512 times rarer.
package hugepage

// minBytes is the size below which an array is left alone: huge pages could not cover most of it.
const minBytes = 4 << 20

// Make returns make([]T, n), asked for in huge pages if it is large. It is only a hint: without huge pages it is slower,
// nothing else.
func Make[T any](n int) []T {
	s := make([]T, n)
	advise(s)
	return s
}

// MakeCap is Make for make([]T, 0, n).
func MakeCap[T any](n int) []T {
	return Make[T](n)[:0]
}
