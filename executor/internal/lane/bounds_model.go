//go:build modelcheck

package lane

// The smallest numbers with which everything still happens.
const (
	dequeCapacity = 2
	queueCapacity = 4
	maxBatch      = 2
)
