//go:build !modelcheck

package deque

// minCapacity is the smallest ring. Arbitrary; two slots would do.
const minCapacity = 8
