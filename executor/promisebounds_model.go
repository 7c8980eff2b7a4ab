//go:build modelcheck

package executor

// endsForgotten is not set: the model has no garbage collector.
const endsForgotten = false
