//go:build modelcheck

package executor

// The smallest numbers with which every path is still taken: the fewer operations, the fewer interleavings.
const (
	politeLosses     = 1
	pollInterval     = 2
	flushInterval    = 4
	spareIdle        = 0 // the model knows no time
	injectorCapacity = 2
)
