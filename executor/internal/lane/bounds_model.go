//go:build modelcheck

package lane

// The smallest numbers with which every path is still taken.
const (
	dequeCapacity = 2
	queueCapacity = 4
	smallBlock    = 1
	maxBatch      = 2
)
