//go:build modelcheck

package share

// The smallest numbers with which every path is still taken.
const (
	swapAfter = 1
	patience  = 1
)
