//go:build !modelcheck

package executor

// endsForgotten says that the garbage collector ends promises that nothing refers to.
const endsForgotten = true
