//go:build modelcheck

package lane

// The smallest numbers with which every path is still taken.
const (
	dequeCapacity = 2
	queueCapacity = 4
	maxBatch      = 2
)
